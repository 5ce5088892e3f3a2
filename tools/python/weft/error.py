# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Errors of the package and the exit codes of its commands."""
import contextlib
import enum
import errno
import importlib.util
import re
from collections.abc import Iterator


class Exit(enum.IntEnum):
    DONE = 0
    BAD_ANSWER = 1  # the work was done, and its answer is bad
    BAD_REQUEST = 2
    NOT_ABLE = 3  # not possible on this machine
    INTERRUPTED = 130


class Error(Exception):
    """A wrong request or a failed command, with the command's message and exit code."""

    def __init__(self, text: str, code: int = Exit.BAD_REQUEST) -> None:
        super().__init__(text)
        self.code = code


BAD_REQUESTS = ("EINVAL", "ENOENT", "ERANGE", "EISDIR", "ENOTDIR", "ENAMETOOLONG")


def os_error(error: OSError, path: str | None = None) -> Error:
    """Returns the Error for a failed system call; 'path' replaces the error's own path."""
    name = path if path is not None else error.filename
    text = f"{name}: {error.strerror}" if name is not None else str(error.strerror or error)
    bad = errno.errorcode.get(error.errno or 0) in BAD_REQUESTS
    return Error(text, Exit.BAD_REQUEST if bad else Exit.NOT_ABLE)


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Converts an OSError to an Error about this path."""
    try:
        yield
    except OSError as error:
        raise os_error(error, path) from error


def missing(*modules: str) -> Error:
    """Returns the Error about Python modules that are not installed.

    >>> print(missing("scipy", "yaml"))
    missing Python modules: scipy, yaml; to install: apt install python3-scipy python3-yaml
    """
    packages = " ".join(f"python3-{name}" for name in modules)
    text = f"missing Python modules: {', '.join(modules)}; to install: apt install {packages}"
    return Error(text, Exit.NOT_ABLE)


def need(*modules: str) -> None:
    """Raises an Error for modules that will be missed later: call before work that takes long."""
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    if absent:
        raise missing(*absent)


def printable(text: str) -> str:
    r"""Escapes control characters, so that untrusted text cannot control a terminal.

    >>> print(printable("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", lambda at: f"\\x{ord(at[0]):02x}", text)
