# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Commands of 'weft', called from scripts, and how their objects show themselves."""
from __future__ import annotations

import html
import signal
import subprocess
from collections.abc import Collection, Sequence

from .asker import program
from .error import Error, Exit, printable


class Shown:
    """An object with a few figures, which notebooks show as a table."""

    def _figures(self) -> dict[str, str]:
        raise NotImplementedError

    def __repr__(self) -> str:
        figures = ", ".join(f"{key} {text}" for key, text in self._figures().items())
        return f"{type(self).__name__}({figures})"

    def _repr_html_(self) -> str:
        cells = (
            f"<tr><th>{html.escape(key)}</th><td>{html.escape(text)}</td></tr>"
            for key, text in self._figures().items()
        )
        return f"<table>{''.join(cells)}</table>"


def options(words: dict[str, str | int | bool]) -> list[str]:
    """The options of a command.

    >>> options({"seed": 4, "tables": True, "binary": False})
    ['--seed=4', '--tables']
    """
    said = {name.replace("_", "-"): value for name, value in words.items() if value is not False}
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in said.items()]


def call(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs 'weft' with these words. An interrupt lets it clean up before it is raised."""
    try:
        process = subprocess.Popen(
            [program(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            process_group=0,  # Ctrl-C of the terminal reaches it through this process only
        )
    except OSError as error:
        raise Error(f"cannot start {program()}: {error.strerror}", Exit.NOT_ABLE) from error
    with process:
        try:
            out, err = process.communicate()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def failure(done: subprocess.CompletedProcess[str]) -> Error:
    """The Error with the message of a command, without its name."""
    text = done.stderr.strip()
    for count in (2, 1):
        text = text.removeprefix(f"weft {' '.join(done.args[:count])}: ")
    code = done.returncode
    known = Exit.DONE < code <= Exit.NOT_ABLE
    return Error(printable(text) or f"ended with {code}", code if known else Exit.NOT_ABLE)


def must(words: Sequence[str], codes: Collection[int] = (Exit.DONE,)) -> str:
    """The output of a command; Error unless it ends with one of the codes."""
    done = call(words)
    if done.returncode not in codes:
        raise failure(done)
    return done.stdout
