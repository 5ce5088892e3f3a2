# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The C parsers, asked over a pipe: 'weft answer' takes a line of JSON and answers with one."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

from .error import Error, Exit

Overrides = list[tuple[str, list[str]]]  # option, such as --set, and its KEY=VALUE


def program() -> str:
    """The executable 'weft': $WEFT, the one of a build of this tree, or the one in PATH."""
    own = os.environ.get("WEFT")
    if own:
        return own
    top = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
    for folder in ("build", "build-debug"):
        path = os.path.join(top, folder, "tools/weft/weft")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("weft")
    if found is None:
        raise Error("there is no program 'weft'; it is in the package weft", Exit.NOT_ABLE)
    return found


class Asker:
    """A process of 'weft answer'; it ends with its owner."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [program(), "answer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
            process_group=0,  # Ctrl-C does not end it
        )

    def close(self) -> None:
        """Ends the process."""
        if self._process.stdin is not None and self._process.stdout is not None:
            self._process.stdin.close()
            self._process.stdout.close()
        self._process.wait()

    def __enter__(self) -> Asker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, what: str, **request: Any) -> dict[str, Any]:
        """The answer. Error with the message of the C parser, if it has one."""
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
        """What the parser finds in a run file after the overrides."""
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


def load_result(path: str) -> dict[str, Any]:
    """The result of a run in a file. Error if the file is not one of this version, has impossible
    values or was changed."""
    with Asker() as asker:
        return asker.result(path)


class Refused(Error):
    """An Error of the C parser. 'changed': a result was edited after its run."""

    def __init__(self, text: str, code: int, changed: bool) -> None:
        super().__init__(text, code)
        self.changed = changed
