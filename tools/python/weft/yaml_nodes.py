# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""YAML files as nodes with their places, for errors that name line and column."""
from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Optional

from .error import Error, os_error

KINDS = {"scalar": "a value", "sequence": "a list [...]", "mapping": "a map {key: value}"}
Pairs = dict[str, tuple[Any, Any]]  # the nodes of keys and values


class Reader:
    """Reads the nodes of a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def refuse(self, node: Any, text: str) -> Error:
        """The error at a node's place."""
        mark = node.start_mark
        return Error(f"{self.path}:{mark.line + 1}:{mark.column + 1}: {text}")

    def expect(self, node: Any, kind: str, key: Optional[str] = None) -> Any:
        """The value of a node of this kind."""
        if node.id == kind:
            return node.value
        what = f"expected {KINDS[kind]}, found {KINDS[node.id]}"
        raise self.refuse(node, f"'{key}': {what}" if key is not None else what)

    def map(self, node: Any, key: Optional[str] = None) -> Pairs:
        """The nodes of keys and values."""
        pairs: Pairs = {}
        for name, value in self.expect(node, "mapping", key):
            if name.id != "scalar":
                raise self.refuse(name, "a key must be a text")
            if name.value in pairs:
                raise self.refuse(name, f"duplicate key '{name.value}'")
            pairs[name.value] = (name, value)
        return pairs

    def only(self, pairs: Pairs, keys: Iterable[str], words: str = "") -> None:
        """Error at a key that is not one of these; 'words' lists them."""
        known = list(keys)
        for key, (name, _) in pairs.items():
            if key in known:
                continue
            near = difflib.get_close_matches(key, known, 1)
            nearest = f", nearest is {near[0]}" if near else ""
            expected = (
                f", expected {words}" if words else f"{nearest}; known are: {', '.join(known)}"
            )
            raise self.refuse(name, f"unknown key '{key[:60]}'{expected}")

    def form(self, node: Any, *forms: str) -> str:
        """What kind of file it is: the value of 'weft'."""
        pairs = self.map(node)
        if "weft" not in pairs:
            raise self.refuse(
                node, f"'weft: {forms[0]}' is missing, expected to name the kind of file"
            )
        weft = pairs["weft"][1]
        if weft.id != "scalar" or weft.value not in forms:
            found = weft.value if weft.id == "scalar" else "…"
            raise self.refuse(weft, f"expected 'weft: {forms[0]}', found '{found}'")
        return str(weft.value)


def compose(path: str) -> Any:
    """The root node of a file."""
    import yaml

    try:
        with open(path, encoding="utf-8-sig") as text:
            node = yaml.compose(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except OSError as error:
        raise os_error(error, path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error)
        raise Error(f"{path}{place}: not valid YAML: {problem}") from error
    if node is None:
        raise Error(f"{path}: nothing is in it")
    return node
