# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Quantities with their unit as files of Weft have them, and as numbers in base units."""
from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from .error import Error

LIMIT = 2**64 - 1
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Kind:
    """A kind of quantity: the unit of results, and its units as whole numbers of the smallest one."""

    unit: str
    units: tuple[tuple[str, int], ...]  # the largest one first
    per_number: int  # smallest units in one of the results' unit


KINDS = (
    Kind("bps", (("Gbps", 10**9), ("Mbps", 10**6), ("kbps", 1000), ("bps", 1)), 1),
    Kind("ns", (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 1000), ("ps", 1)), 1000),
    Kind("bytes", (("MiB", 1048576), ("KiB", 1024), ("B", 1)), 1),
    Kind("share", (("%", 10000),), 10**6),
)


def parse_kind(kind: Kind, text: str) -> int | None:
    """The quantity as a whole number of the kind's smallest unit; None: it is not one."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([^0-9.].*)", text, re.S)
    factor = dict(kind.units).get(found[2]) if found else None
    if found is None or factor is None:
        return None
    value = Fraction(found[1]) * factor
    return int(value) if value.denominator == 1 and value < LIMIT else None


def parse(text: str) -> tuple[Kind, int] | None:
    """Kind and whole number of its smallest unit; None: not a quantity."""
    for kind in KINDS:
        value = parse_kind(kind, text)
        if value is not None:
            return kind, value
    return None


class Number(NamedTuple):
    """A value in the unit of results: bit/s, ns, bytes, or a share from 0 to 1; "" for no unit."""

    unit: str
    value: float


def number_of(text: str) -> Number | None:
    """The number that a text means; None if it is not one of a run file.

    >>> number_of("10%")
    Number(unit='share', value=0.1)
    >>> number_of("1.5us"), number_of("4KiB").value, number_of("-2")
    (Number(unit='ns', value=1500.0), 4096.0, Number(unit='', value=-2.0))
    >>> number_of("up"), number_of("inf"), number_of("0.1ps")
    (None, None, None)
    """
    found = parse(text)
    if found is not None:
        return Number(found[0].unit, found[1] / found[0].per_number)
    value = float(text) if PLAIN.fullmatch(text) else math.inf
    return Number("", value) if math.isfinite(value) else None


def _in_unit(value: int, unit: str, factor: int) -> str | None:
    digits, rest = "", value % factor
    while rest != 0 and len(digits) < 24:
        digits += str(rest * 10 // factor)
        rest = rest * 10 % factor
    text = f"{value // factor}.{digits}" if digits else str(value // factor)
    return text + unit if rest == 0 else None


def format_kind(kind: Kind, value: int) -> str:
    """The shortest text of a quantity, at least 1 of its unit if there is such a unit.

    >>> format_kind(KINDS[1], 400000000000)
    '400ms'
    """
    texts = [_in_unit(value, unit, factor) for unit, factor in kind.units]
    return min((t for t in texts if t is not None), key=lambda t: (t.startswith("0."), len(t)))


def span(low: str | int, high: str | int, step: str | int) -> list[str]:
    """The values from 'low' to at most 'high', as --vary KEY=LO:HI:STEP counts them.

    >>> span("10%", "40%", "10%")
    ['10%', '20%', '30%', '40%']
    >>> span(1, 5, 2)
    ['1', '3', '5']
    """
    words = [str(low), str(high), str(step)]
    for kind in (None, *KINDS):
        values = [_whole(kind, word) for word in words]
        found = [value for value in values if value is not None]
        if len(found) == len(words):
            return _count(kind, found, ":".join(words))
    raise not_a_span(":".join(words))


def not_a_span(text: str) -> Error:
    """The error about a text that should be one."""
    return Error(
        f"'{text}': expected LO:HI:STEP, three numbers with the same kind of unit or none, "
        "such as 10%:100%:10%"
    )


VALUES_MAX = 10000


def _whole(kind: Kind | None, text: str) -> int | None:
    if kind is not None:
        return parse_kind(kind, text)
    return int(text) if re.fullmatch(r"[0-9]{1,20}", text) and int(text) <= LIMIT else None


def _count(kind: Kind | None, numbers: list[int], words: str) -> list[str]:
    low, high, step = numbers
    if step == 0 or low > high:
        raise Error(f"'{words}': counts up from LO to HI by a STEP above 0")
    if (high - low) // step >= VALUES_MAX:
        raise Error(f"more than {VALUES_MAX} values")
    values: Iterable[int] = range(low, high + 1, step)
    return [str(value) if kind is None else format_kind(kind, value) for value in values]
