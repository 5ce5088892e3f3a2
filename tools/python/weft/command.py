# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The commands of 'weft' that are written in Python, and what they share.

A command is a module with its USAGE and main(), which gets the arguments after the command's name
and returns an exit code. It raises Error for anything that the user has to know.
"""
import getopt
import importlib
import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from .error import Error, Exit, missing, os_error, printable
from .quantity import Parse

COMMANDS = {
    "demo": ".demo",
    "plot": ".plot.command",
    "reproduce": ".reproducing.command",
    "sweep": ".sweeping.command",
}


def note(name: str, text: str) -> None:
    print(f"weft {name}: {printable(text)}", file=sys.stderr)


def print_json(document: Any) -> None:
    print(json.dumps(document, indent=2, ensure_ascii=False), flush=True)


def options(
    usage: str, words: list[str], readers: Mapping[str, Parse]
) -> tuple[dict[str, Any], list[str]]:
    """Returns the values of a command's options, and its other arguments. The usage text lists the
    options; the value of an option follows after one space. Values that are None are omitted."""
    listed = re.findall(r"^  --(\S+)( \S)?", usage, re.M)
    known = {name + "=" * bool(value) for name, value in listed}
    try:
        found, rest = getopt.gnu_getopt(words, "o:", [*known])
    except getopt.GetoptError as error:
        raise Error(f"{error}; 'weft {usage.split()[2]} --help' lists the options") from None
    values: dict[str, Any] = {}
    for option, text in found:
        name = option.lstrip("-")
        try:
            value = True if name in known else readers.get(name, str)(text)
        except ValueError as error:
            raise Error(f"{option} {text}: expected {error}") from None
        if value is not None:
            values[name.replace("-", "_")] = value
    return values, rest


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
    try:
        return _run(name, arguments)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except ModuleNotFoundError as error:
        fault = missing((error.name or "weft").partition(".")[0])
    except OSError as error:
        fault = os_error(error)
    except Error as error:
        fault = error
    note(name, str(fault))
    return fault.code


def main(words: list[str]) -> int:
    """Runs NAME ARGUMENT... of 'weft'. A full disk or a closed standard output is an error."""
    code = run(words[0], words[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing remains to be flushed at exit
        if code in (Exit.DONE, Exit.BAD_ANSWER):
            note(words[0], f"standard output: cannot be written: {error.strerror}")
            return Exit.NOT_ABLE
    return code
