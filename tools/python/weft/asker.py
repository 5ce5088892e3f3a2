# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The program 'weft': runs its commands from scripts, and queries its C parsers over a pipe ('weft
answer' answers each line of JSON with another)."""
import html
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

from .error import Error, Exit, printable

Overrides = list[tuple[str, list[str]]]  # option, such as --set, and its KEY=VALUE


def program() -> str:
    """The executable 'weft': $WEFT, the one in a build of this tree, or the one in PATH."""
    top = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
    built = [os.path.join(top, folder, "tools/weft/weft") for folder in ("build", "build-debug")]
    own = [os.environ.get("WEFT"), *(path for path in built if os.access(path, os.X_OK))]
    found = next(filter(None, own), None) or shutil.which("weft")
    if found is None:
        raise Error("cannot find the 'weft' program; install the weft package", Exit.NOT_ABLE)
    return found


class Refused(Error):
    """An Error of the C parser. 'changed': a result was edited after its run."""

    def __init__(self, text: str, code: int, changed: bool) -> None:
        super().__init__(text, code)
        self.changed = changed


class Asker:
    """A process of 'weft answer', which ends with its owner."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [program(), "answer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
            process_group=0,  # Ctrl-C does not reach it
        )

    def __enter__(self) -> "Asker":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, what: str, **request: Any) -> dict[str, Any]:
        """Returns the answer. Raises an Error with the message of the C parser, if it has one."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(json.dumps({"ask": what, **request}, ensure_ascii=False) + "\n")
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Error(f"{program()} ended without an answer", Exit.NOT_ABLE)
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"], answer["code"], answer["changed"])
        return answer

    def run(self, file: str, overrides: Overrides, whole: bool = False) -> dict[str, Any]:
        """Returns what the parser finds in a run file after the overrides."""
        return self.ask("run", file=file, overrides=overrides, whole=whole)

    def result(self, file: str, seal: bool = False) -> dict[str, Any]:
        """Checks a result, adds its sum if 'seal', and returns its document. A sum detects results
        that were edited after weft-fabric wrote them."""
        sealed = self.ask("result", file=file, seal=seal)["sum"]
        with open(file, encoding="utf-8") as text:
            document: dict[str, Any] = json.load(text)
        if not sealed and not seal:
            document.pop("sum", None)
        return document

    def whole_result(
        self, file: str, cut_short: bool = False, seal: bool = False
    ) -> dict[str, Any] | None:
        """Returns the result of a run that completed, or that ended in a deadlock unless it was
        'cut_short'; None if there is none."""
        result = self.result(file)
        deadlock = result["checks"].get("deadlock") is True
        if result.get("incomplete") is True and (cut_short or not deadlock):
            return None
        if seal:
            self.ask("result", file=file, seal=True)
        return result


def load_result(path: str) -> dict[str, Any]:
    """Loads a result. Raises an Error if it is of another version, impossible or was changed."""
    with Asker() as asker:
        return asker.result(path)


def options_of(words: dict[str, str | int | bool]) -> list[str]:
    """Returns the command-line options for these keyword arguments.

    >>> options_of({"seed": 4, "tables": True, "binary": False})
    ['--seed=4', '--tables']
    """
    said = {name.replace("_", "-"): value for name, value in words.items() if value is not False}
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in said.items()]


def call(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs 'weft' with these arguments. After an interrupt, lets it clean up before raising."""
    try:
        process = subprocess.Popen(
            [program(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            process_group=0,  # Ctrl-C reaches it only through this process
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
    text = done.stderr.strip()
    for count in (2, 1):
        text = text.removeprefix(f"weft {' '.join(done.args[:count])}: ")
    code = done.returncode
    known = Exit.DONE < code <= Exit.NOT_ABLE
    return Error(printable(text) or f"ended with {code}", code if known else Exit.NOT_ABLE)


def must(words: Sequence[str]) -> str:
    done = call(words)
    if done.returncode != Exit.DONE:
        raise failure(done)
    return done.stdout


class Shown:
    """An object with a few values, which notebooks show as a table."""

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
