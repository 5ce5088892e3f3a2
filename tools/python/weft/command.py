# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The commands of 'weft' that are written in Python, and what they share.

A command is a function that gets the arguments after its name and returns an exit code. It raises
Error for anything that the user has to know; the message starts with "weft NAME: ".
"""
from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from .error import Error, Exit, os_error, printable

# name: (module, function). A command imports only what it needs.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": (".demo", "main"),
    "plot": (".plot.command", "plot"),
    "reproduce": (".reproducing.command", "main"),
    "sweep": (".sweeping.command", "main"),
}


def note(name: str, text: str) -> None:
    """Prints a message of a command on standard error."""
    print(f"weft {name}: {printable(text)}", file=sys.stderr)


def wants_help(arguments: Sequence[str]) -> bool:
    """Whether the arguments ask for help, as 'weft' passes -h and 'weft help' on."""
    return "--help" in arguments


def run(name: str, arguments: list[str]) -> int:
    """Runs a command and prints its error, if there is one. Returns its exit code."""
    module, function = COMMANDS[name]
    try:
        code = getattr(importlib.import_module(module, __package__), function)(arguments)
    except Error as error:
        note(name, str(error))
        return error.code
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except ModuleNotFoundError as error:
        note(
            name,
            f"the Python module {error.name} is missing; 'apt install python3-weft' installs all that it needs",
        )
        return Exit.NOT_ABLE
    except OSError as error:
        fault = os_error(error)
        note(name, str(fault))
        return fault.code
    return int(code)


def finish(name: str, code: int) -> int:
    """Writes standard output out: a full disk or a closed output is an error."""
    try:
        sys.stdout.flush()
        return code
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing is left to flush at the end
        if code not in (Exit.DONE, Exit.BAD_ANSWER):
            return code
        note(name, f"standard output: cannot be written: {error.strerror}")
        return Exit.NOT_ABLE


def main(words: list[str]) -> int:
    """'weft NAME ARGUMENT...' without the first word."""
    return finish(words[0], run(words[0], words[1:]))
