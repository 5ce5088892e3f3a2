# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Files that appear complete or not at all, JSON documents, and YAML whose errors name line and
column."""
import contextlib
import difflib
import json
import os
import stat
import tempfile
from collections.abc import Iterable
from typing import Any

from .error import Error, naming, os_error


def refuse_same(output: str, source: str) -> None:
    with contextlib.suppress(OSError):
        if os.path.isfile(output) and os.path.samefile(output, source):
            raise Error(f"{output}: is also the input {source}; choose a different output file")


def remove(*paths: str) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def make_folder(path: str, option: str = "") -> None:
    """Creates a folder unless it exists. 'option', such as "-o ", starts the error."""
    with naming(option + path), contextlib.suppress(FileExistsError):
        os.mkdir(path)


def write_text(path: str, text: str, ours: bool = False) -> None:
    write_file(path, text.encode("utf-8", "surrogateescape"), ours)


def write_file(path: str, data: bytes, ours: bool = False) -> None:
    """Replaces a file. A file that is not writable, has several hard links or is not regular is
    written in place, unless it is 'ours': then its other links keep the old contents."""
    with naming(path):
        fresh = _open_fresh(path, ours)
        out = open(fresh or path, "wb")
    try:
        with out:
            out.write(data)
        if fresh is not None:
            os.replace(fresh, os.path.realpath(path))
    except BaseException as error:
        if fresh is not None:
            os.unlink(fresh)
        if not isinstance(error, OSError):
            raise
        fault = os_error(error, path)
        raise Error(f"{path}: cannot be written: {error.strerror}", fault.code) from None


def _open_fresh(path: str, ours: bool) -> str | None:
    """Returns an empty file next to the one to write, with its mode; None: write in place."""
    try:
        about = os.stat(path)
    except FileNotFoundError:
        if os.path.lexists(path) or not path:
            return None
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    else:
        mode = stat.S_IMODE(about.st_mode)
        if not stat.S_ISREG(about.st_mode):
            return None
        if not ours and (about.st_nlink != 1 or not os.access(path, os.W_OK)):
            return None
    folder, name = os.path.split(os.path.realpath(path))
    try:
        descriptor, fresh = tempfile.mkstemp(prefix=f".{name[:200]}.", dir=folder)
    except PermissionError:
        return None
    os.fchmod(descriptor, mode)
    os.close(descriptor)
    return fresh


def read_json(path: str, what: str, form: str) -> dict[str, Any]:
    """Reads a JSON document of a form such as "sweep/1"; errors have 'what' after the place."""
    try:
        with naming(path), open(path, encoding="utf-8", errors="surrogateescape") as text:
            found = json.load(text)
    except json.JSONDecodeError as error:
        raise Error(f"{path}:{error.lineno}:{error.colno}: {what}: {error.msg}") from None
    except RecursionError:
        raise Error(f"{path}: {what}: nested too deeply") from None
    if not isinstance(found, dict) or found.get("weft") != form:
        raise Error(f"{path}: {what} (expected weft: {form})")
    return found


NODES = {"scalar": "a value", "sequence": "a list [...]", "mapping": "a map {key: value}"}
Pairs = dict[str, tuple[Any, Any]]  # nodes of the keys and values


class Reader:
    """Reads a YAML file from the nodes below its 'root'."""

    def __init__(self, path: str) -> None:
        import yaml

        self.path = path
        try:
            with naming(path), open(path, encoding="utf-8-sig") as text:
                loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
                self.root: Any = yaml.compose(text, Loader=loader)
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            mark = getattr(error, "problem_mark", None)
            place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
            problem = getattr(error, "problem", None) or str(error)
            raise Error(f"{path}{place}: not valid YAML: {problem}") from error
        if self.root is None:
            raise Error(f"{path}: expected a value, found nothing")

    def refuse(self, node: Any, text: str) -> Error:
        mark = node.start_mark
        return Error(f"{self.path}:{mark.line + 1}:{mark.column + 1}: {text}")

    def expect(self, node: Any, kind: str, key: str | None = None) -> Any:
        if node.id == kind:
            return node.value
        what = f"expected {NODES[kind]}, found {NODES[node.id]}"
        raise self.refuse(node, f"'{key}': {what}" if key is not None else what)

    def map(self, node: Any, key: str | None = None) -> Pairs:
        pairs: Pairs = {}
        for name, value in self.expect(node, "mapping", key):
            if name.id != "scalar":
                raise self.refuse(name, "a key must be a string")
            if name.value in pairs:
                raise self.refuse(name, f"duplicate key '{name.value}'")
            pairs[name.value] = (name, value)
        return pairs

    def only(self, pairs: Pairs, keys: Iterable[str]) -> None:
        known = list(keys)
        for key in (key for key in pairs if key not in known):
            near = difflib.get_close_matches(key, known, 1)
            nearest = f", nearest is {near[0]}" if near else ""
            text = f"unknown key '{key[:60]}'{nearest}; known keys: {', '.join(known)}"
            raise self.refuse(pairs[key][0], text)

    def needs(self, node: Any, pairs: Pairs, keys: Iterable[str]) -> None:
        for key in keys:
            if key not in pairs:
                raise self.refuse(node, f"key '{key}' is missing")

    def form(self, *forms: str) -> str:
        """Returns the kind of file: the value of 'weft'."""
        _, weft = self.map(self.root).get("weft", (None, self.root))
        if weft.id != "scalar" or weft.value not in forms:
            found = f"'{weft.value}'" if weft.id == "scalar" else "none"
            raise self.refuse(weft, f"expected 'weft: {forms[0]}', found {found}")
        return str(weft.value)
