# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Files that appear complete or not at all, and JSON documents."""
from __future__ import annotations

import json
import os
import stat
import tempfile
from typing import Any

from .error import Error, os_error


def refuse_same(output: str, source: str) -> None:
    """Error if the file to write is one that is read."""
    try:
        same = os.path.isfile(output) and os.path.samefile(output, source)
    except OSError:
        return
    if same:
        raise Error(f"{output}: is read as {source}, expected another file to write to")


def read_json(path: str, what: str) -> Any:
    """A JSON document; the error has 'what' after the place."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as text:
            return json.load(text)
    except OSError as error:
        raise os_error(error, path) from None
    except json.JSONDecodeError as error:
        raise Error(f"{path}:{error.lineno}:{error.colno}: {what}: {error.msg}") from None
    except RecursionError:
        raise Error(f"{path}: {what}: nested too deeply") from None


def remove(path: str) -> None:
    """Removes a file, if it is there."""
    try:
        os.unlink(path)
    except OSError:
        pass


def write_file(path: str, data: bytes) -> None:
    """Writes a file in place of the one there. A file that is not writable, has several names or is
    not regular is written in place."""
    try:
        fresh = _open_fresh(path)
        out = open(fresh, "wb") if fresh is not None else open(path, "wb")
    except OSError as error:
        raise os_error(error, path) from None
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


def _open_fresh(path: str) -> str | None:
    """An empty file beside the one to write, with its mode; None if it is written in place."""
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
        if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1 or not os.access(path, os.W_OK):
            return None
    folder, name = os.path.split(os.path.realpath(path))
    try:
        descriptor, fresh = tempfile.mkstemp(prefix=f".{name[:200]}.", dir=folder)
    except PermissionError:
        return None
    os.fchmod(descriptor, mode)
    os.close(descriptor)
    return fresh
