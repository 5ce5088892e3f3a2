# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Named settings of several keys each (--cases), as the values of the key 'case'."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..error import Error
from ..yaml_nodes import Reader, compose
from .plan import normal_key

CASES_KEY = "case"
CASES_MAX = 1000
SETS_MAX = 16


@dataclass
class Case:
    """A name and its KEY=VALUE."""

    name: str
    sets: list[str]


class _Reader(Reader):
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
        self.form(node, "cases/1")
        pairs = self.map(node)
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
    return _Reader(path).root(compose(path))


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
