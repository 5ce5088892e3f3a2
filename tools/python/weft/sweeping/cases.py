# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Named settings of several keys each (--cases), as the values of the key 'case'."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..error import Error, os_error
from .plan import normal_key

CASES_KEY = "case"
CASES_MAX = 1000
SETS_MAX = 16
KINDS = {"scalar": "a value", "sequence": "a list [...]", "mapping": "a map {key: value}"}


@dataclass
class Case:
    """A name and its KEY=VALUE."""

    name: str
    sets: list[str]


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path

    def refuse(self, node: Any, text: str) -> Error:
        mark = node.start_mark
        return Error(f"{self.path}:{mark.line + 1}:{mark.column + 1}: {text}")

    def expect(self, node: Any, kind: str, key: str | None = None) -> Any:
        if node.id == kind:
            return node.value
        what = f"expected {KINDS[kind]}, found {KINDS[node.id]}"
        raise self.refuse(node, f"'{key}': {what}" if key is not None else what)

    def map(self, node: Any, key: str | None = None) -> dict[str, tuple[Any, Any]]:
        """The nodes of keys and values."""
        pairs: dict[str, tuple[Any, Any]] = {}
        for name, value in self.expect(node, "mapping", key):
            if name.id != "scalar":
                raise self.refuse(name, "a key must be a text")
            if name.value in pairs:
                raise self.refuse(name, f"duplicate key '{name.value}'")
            pairs[name.value] = (name, value)
        return pairs

    def only(self, pairs: dict[str, tuple[Any, Any]], keys: tuple[str, ...], words: str) -> None:
        for key, (name, _) in pairs.items():
            if key not in keys:
                raise self.refuse(name, f"unknown key '{key[:60]}', expected {words}")

    def case(self, node: Any, known: list[Case]) -> Case:
        pairs = self.map(node)
        self.only(pairs, ("name", "set"), "name or set")
        for key in ("name", "set"):
            if key not in pairs:
                raise self.refuse(node, f"'{key}' is missing: expected {{name: …, set: …}}")
        value = pairs["name"][1]
        name = str(self.expect(value, "scalar", "name"))
        if not name:
            raise self.refuse(value, "expected a name that is not empty")
        if any(case.name == name for case in known):
            raise self.refuse(value, f"'{name[:100]}' is the name of two cases")
        return Case(name, self.sets(pairs["set"][1]))

    def sets(self, node: Any) -> list[str]:
        sets: list[str] = []
        for key, (name, value) in self.map(node, "set").items():
            text = self.expect(value, "scalar", key)
            if len(sets) == SETS_MAX:
                raise self.refuse(name, f"expected at most {SETS_MAX} keys of a case")
            if key == "seed":
                raise self.refuse(name, "expected --seeds LO:HI for seeds")
            sets.append(f"{key}={text}")
        return sets

    def root(self, node: Any) -> list[Case]:
        pairs = self.map(node)
        if "weft" not in pairs:
            raise self.refuse(
                node, "'weft: cases/1' is missing, it tells what kind of file this is"
            )
        weft = pairs["weft"][1]
        if weft.id != "scalar" or weft.value != "cases/1":
            found = weft.value if weft.id == "scalar" else "…"
            raise self.refuse(weft, f"expected 'weft: cases/1', found '{found}'")
        self.only(pairs, ("weft", "cases"), "cases")
        if "cases" not in pairs:
            raise self.refuse(node, "'cases' is missing: expected a list")
        listed = pairs["cases"][1]
        nodes = self.expect(listed, "sequence", "cases")
        if not 1 <= len(nodes) <= CASES_MAX:
            raise self.refuse(listed, f"expected 1 to {CASES_MAX} cases")
        cases: list[Case] = []
        for one in nodes:
            cases.append(self.case(one, cases))
        return cases


def load(path: str) -> list[Case]:
    """The cases of a file (docs/reference/sweep-folder.md)."""
    import yaml

    try:
        with open(path, encoding="utf-8-sig") as text:
            node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise os_error(error, path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error)
        raise Error(f"{path}{place}: not valid YAML: {problem}") from error
    if node is None:
        raise Error(f"{path}: nothing is in it")
    return _Reader(path).root(node)


def of(cases: Mapping[str, Sequence[str]]) -> list[Case]:
    """Cases from names and their KEY=VALUE, within the limits of a file.

    >>> of({"small": ["switch.buffer=4KiB", "seed=1"]})
    Traceback (most recent call last):
    weft.error.Error: cases small: expected seeds=range(LO, HI) for seeds
    """
    if not 1 <= len(cases) <= CASES_MAX:
        raise Error(f"cases: expected 1 to {CASES_MAX} cases")
    for name, sets in cases.items():
        if not name:
            raise Error("cases: expected a name that is not empty")
        if len(sets) > SETS_MAX:
            raise Error(f"cases {name}: expected at most {SETS_MAX} keys of a case")
        if any(text.partition("=")[0] == "seed" for text in sets):
            raise Error(f"cases {name}: expected seeds=range(LO, HI) for seeds")
    return [Case(name, list(sets)) for name, sets in cases.items()]


def check_key(cases: list[Case], key: str) -> None:
    """A key has one value at a point."""
    for case in cases:
        if any(normal_key(text.partition("=")[0]) == key for text in case.sets):
            raise Error(f"--vary {key}: the case '{case.name}' also sets that key")
