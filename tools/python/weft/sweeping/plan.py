# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The points of a sweep: every combination of the values of all --vary, each with every seed."""
from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass, field

from ..error import Error
from ..quantity import VALUES_MAX, not_a_span, number_of, span

KEYS_MAX = 8
POINTS_MAX = 100000
NAME_MAX = 143  # bytes of a point's file without its end
LABEL_MAX = 255
OPTION = re.compile("[^,:=\\[{\"']*=")


@dataclass
class Vary:
    """A key of the run file ("traffic.0.load") and its values, as text for --set."""

    key: str
    values: list[str]

    @functools.cached_property
    def unit(self) -> str | None:
        """The kind of unit that all values have; "" without one; None: not all are numbers.

        >>> Vary("k", ["1", "2"]).unit, Vary("k", ["1%", "2%"]).unit, Vary("k", ["1", "2%"]).unit
        ('', 'share', None)
        """
        kinds = {number and number.unit for number in map(number_of, self.values)}
        return kinds.pop() if len(kinds) == 1 else None


def normal_key(text: str) -> str:
    """One name for one key.

    >>> normal_key("traffic[0].load")
    'traffic.0.load'
    """
    return text.replace("[", ".").replace("]", "")


def split_values(text: str) -> list[str]:
    """The values between commas outside brackets, quotes and generators.

    >>> split_values('rlft:ports=4,stages=2,[1,2],"a,b"')
    ['rlft:ports=4,stages=2', '[1,2]', '"a,b"']
    """
    values, start, depth, quote = [], 0, 0, ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= depth > 0
        # A comma inside a generator's text, "rlft:ports=4,stages=2", is followed by an option.
        elif letter == "," and depth == 0 and not OPTION.match(text, at + 1):
            values.append(text[start:at])
            start = at + 1
    return [*values, text[start:]]


def parse_vary(text: str) -> Vary:
    """KEY=A,B,C, where an element may be LO:HI:STEP."""
    name, equals, rest = text.partition("=")
    if not equals or not name:
        raise Error(f"--vary {text}: expected KEY=A,B,C or KEY=LO:HI:STEP")
    key, values = normal_key(name), []
    for element in split_values(rest):
        if not element:
            raise Error(f"--vary {key}: an empty value")
        # Numbers with a colon are a range: no value of a run file has that form.
        words = element.split(":") if re.match("[0-9].*:", element, re.S) else []
        try:
            if words and len(words) != 3:
                raise not_a_span(element)
            values += span(*words) if words else [element]
        except Error as error:
            raise Error(f"--vary {key}: {error}") from error
    check_values(key, values)
    return Vary(key, values)


def check_values(key: str, values: list[str]) -> None:
    if len(values) > VALUES_MAX:
        raise Error(f"--vary {key}: more than {VALUES_MAX} values")
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise Error(f"--vary {key}: duplicate value '{value}'")
        seen.add(value)


def parse_seeds(text: str) -> tuple[int, int]:
    """First seed and number of seeds of LO:HI, or of one number.

    >>> parse_seeds("3:5"), parse_seeds("7")
    ((3, 3), (7, 1))
    """
    words = text.split(":", 1)
    if not all(re.fullmatch(r"[0-9]{1,20}", w) and int(w) < 2**64 for w in words):
        raise Error(f"--seeds {text}: expected LO:HI, such as 1:10")
    first, last = int(words[0]), int(words[-1])
    if not 0 <= last - first < VALUES_MAX:
        raise Error(f"--seeds {text}: expected 1 to {VALUES_MAX} seeds, counted up")
    return first, last - first + 1


@dataclass
class Plan:
    """Seeds change fastest, then the last key; points of one combination are consecutive."""

    vary: list[Vary] = field(default_factory=list)
    first_seed: int = 0
    seeds: int = 0  # 0: the one of the run file
    points: int = 0

    def add(self, vary: Vary) -> None:
        if len(self.vary) == KEYS_MAX:
            raise Error(f"--vary: at most {KEYS_MAX} keys")
        if any(other.key == vary.key for other in self.vary):
            raise Error(
                f"--vary {vary.key}: that key is varied already; put all its values into one --vary"
            )
        self.vary.append(vary)

    def finish(self) -> None:
        """Counts the points, once everything has been added."""
        keys = [vary.key for vary in self.vary]
        if "seed" in keys:
            raise Error("--vary seed: expected --seeds LO:HI")
        self.points = self.repeats * math.prod(len(vary.values) for vary in self.vary)
        if self.points > POINTS_MAX:
            raise Error(f"{self.points} points: expected at most {POINTS_MAX}")
        self._names = short_keys(keys)

    @property
    def repeats(self) -> int:
        """The number of consecutive points that differ only in their seed."""
        return max(self.seeds, 1)

    def values(self, point: int) -> list[str]:
        index, values = point // self.repeats, []
        for vary in reversed(self.vary):
            index, at = divmod(index, len(vary.values))
            values.append(vary.values[at])
        return values[::-1]

    def seed(self, point: int) -> int | None:
        """None: the one of the run file."""
        return self.first_seed + point % self.repeats if self.seeds > 0 else None

    def _words(self, point: int) -> list[str]:
        words = [f"{name}={value}" for name, value in zip(self._names, self.values(point))]
        return words + ([f"seed={self.seed(point)}"] if self.seeds > 0 else [])

    def label(self, point: int) -> str:
        """For people: "load=10%, seed=1"."""
        return _cut(", ".join(self._words(point)), LABEL_MAX) or "the run file as it is"

    def name(self, point: int) -> str:
        """Name of a point's file without its end: "07_load=10%_seed=1"; plain characters only."""
        start = f"{point:0{len(str(self.points - 1))}}_"
        rest = _cut("_".join(self._words(point)), NAME_MAX - len(start)) or "run"
        return start + re.sub(
            rb"[^a-zA-Z0-9._%+=-]", b"-", rest.encode("utf-8", "surrogateescape")
        ).decode("ascii")


def short_keys(keys: list[str]) -> list[str]:
    """The last part of each key, or all of it if another one ends in the same."""
    ends = [key.rpartition(".")[2] for key in keys]
    return [end if ends.count(end) == 1 else key for key, end in zip(keys, ends)]


def _cut(text: str, most: int) -> str:
    return text.encode("utf-8", "surrogateescape")[:most].decode("utf-8", "surrogateescape")
