# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The commands of 'weft' that are written in Python, and what they share.

A command is a module with its USAGE and main(), which gets the arguments after the command's name
and returns an exit code. It raises Error for anything that the user has to know.
"""
from __future__ import annotations

import getopt
import importlib
import os
import re
import sys
from collections.abc import Iterable

from .error import Error, Exit, os_error, printable

COMMANDS = {
    "demo": ".demo",
    "plot": ".plot.command",
    "reproduce": ".reproducing.command",
    "sweep": ".sweeping.command",
}


def note(name: str, text: str) -> None:
    print(f"weft {name}: {printable(text)}", file=sys.stderr)


def options(
    name: str, words: list[str], known: Iterable[str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """The options of a command without dashes, and the other words. A known option that takes a
    value ends in "="."""
    try:
        found, rest = getopt.gnu_getopt(words, "o:", list(known))
    except getopt.GetoptError as error:
        raise Error(f"{error}; 'weft {name} --help' lists the options") from None
    return [(option.lstrip("-"), value) for option, value in found], rest


def number(option: str, text: str, low: int, high: int, expected: str = "") -> int:
    """The value of an option that takes a whole number."""
    if re.fullmatch("[0-9]{1,20}", text) and low <= int(text) <= high:
        return int(text)
    raise Error(f"--{option} {text}: expected {expected or f'{low} to {high}'}")


def _run(name: str, arguments: list[str]) -> int:
    module = importlib.import_module(COMMANDS[name], __package__)
    if "--help" in arguments:
        print(module.USAGE, end="")
        return Exit.DONE
    if not arguments and name != "demo":
        print(module.USAGE, end="", file=sys.stderr)
        return Exit.BAD_REQUEST
    return int(module.main(arguments))


def run(name: str, arguments: list[str]) -> int:
    """Runs a command and prints its error, if there is one. Returns its exit code."""
    try:
        return _run(name, arguments)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except ModuleNotFoundError as error:
        more = "'apt install python3-weft' installs all that it needs"
        fault = Error(f"the Python module {error.name} is missing; {more}", Exit.NOT_ABLE)
    except OSError as error:
        fault = os_error(error)
    except Error as error:
        fault = error
    note(name, str(fault))
    return fault.code


def main(words: list[str]) -> int:
    """'weft NAME ARGUMENT...' without the first word. A full disk or a closed standard output is an
    error."""
    code = run(words[0], words[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing is left to flush at the end
        if code in (Exit.DONE, Exit.BAD_ANSWER):
            note(words[0], f"standard output: cannot be written: {error.strerror}")
            return Exit.NOT_ABLE
    return code
