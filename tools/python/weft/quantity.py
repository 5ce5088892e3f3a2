# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Quantities with units, as in Weft's files; numbers in base units; and their means."""
import decimal
import functools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from .error import Error

NAN = math.nan
LIMIT = 2**64 - 1
VALUES_MAX = 10000
Parse = Callable[[str], Any]  # ValueError: what was expected instead of the text
K = TypeVar("K")
T = TypeVar("T")
EXACT = decimal.Context(prec=60)  # 2**64 by any unit, all of which are powers of 10 or of 1024
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Kind:
    """A kind of quantity: its unit in results, and its units as multiples of the smallest one."""

    unit: str
    units: dict[str, int]  # the largest one first
    expected: str = ""
    per_number: int = 1  # smallest units in one of the results' unit


KINDS = (
    Kind("bps", {"Gbps": 10**9, "Mbps": 10**6, "kbps": 1000, "bps": 1}),
    Kind(
        "ns",
        {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 1000, "ps": 1},
        "a time with its unit, such as 30ns (ps, ns, us, ms, s)",
        1000,
    ),
    Kind(
        "bytes",
        {"TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "KiB": 1024, "B": 1},
        "a size with its unit, such as 128KiB (B, KiB, MiB, GiB, TiB)",
    ),
    Kind(
        "share",
        {"%": 10000},
        "a percentage, such as 75% (at most four digits after the point)",
        10**6,
    ),
)
_, TIME, SIZE, SHARE = KINDS


def parse_kind(kind: Kind, text: str) -> int | None:
    """Returns the quantity as a whole number of the kind's smallest unit, or None."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([^0-9.].*)", text, re.S)
    if found is None or found[2] not in kind.units:
        return None
    value = Fraction(found[1]) * kind.units[found[2]]
    return int(value) if value.denominator == 1 and value < LIMIT else None


class Number(NamedTuple):
    """A value in the unit of results: bit/s, ns, bytes, or a share from 0 to 1; "": no unit."""

    unit: str
    value: float


def number_of(text: str) -> Number | None:
    """Returns the number that a text denotes in a run file, or None.

    >>> number_of("10%"), number_of("1.5us"), number_of("4KiB").value
    (Number(unit='share', value=0.1), Number(unit='ns', value=1500.0), 4096.0)
    >>> number_of("-2"), number_of("up"), number_of("inf"), number_of("0.1ps")
    (Number(unit='', value=-2.0), None, None, None)
    """
    for kind in KINDS:
        whole = parse_kind(kind, text)
        if whole is not None:
            return Number(kind.unit, whole / kind.per_number)
    value = float(text) if PLAIN.fullmatch(text) else math.inf
    return Number("", value) if math.isfinite(value) else None


def format_kind(kind: Kind, value: int) -> str:
    """Returns the shortest text of a quantity, whose number is at least 1 if a unit permits it.

    >>> format_kind(TIME, 400000000000)
    '400ms'
    """
    numbers = ((unit, EXACT.divide(value, factor)) for unit, factor in kind.units.items())
    texts = [f"{number.normalize(EXACT):f}{unit}" for unit, number in numbers]
    return min(texts, key=lambda text: (text.startswith("0."), len(text)))


def number(low: int, high: int, unit: str = "") -> Parse:
    def parse(text: str) -> int:
        if not re.fullmatch("[0-9]{1,20}", text) or not low <= int(text) <= high:
            raise ValueError(f"a whole number from {low} to {high}{unit}")
        return int(text)

    return parse


def quantity(kind: Kind, low: int = 0, high: int = LIMIT - 1) -> Parse:
    def parse(text: str) -> int:
        value = parse_kind(kind, text)
        if value is None:
            raise ValueError(kind.expected)
        if not low <= value <= high:
            raise ValueError(f"a value from {format_kind(kind, low)} to {format_kind(kind, high)}")
        return value

    return parse


def choice(*known: str, **others: Any) -> Parse:
    """Returns one of several words; 'others' have special meanings."""
    values = {**dict(zip(known, known)), **others}

    def parse(text: str) -> Any:
        if text not in values:
            raise ValueError("one of " * (len(known) > 1) + ", ".join(known))
        return values[text]

    return parse


def span(low: str | int, high: str | int, step: str | int) -> list[str]:
    """Returns the values from 'low' to at most 'high', as with --vary KEY=LO:HI:STEP.

    >>> span("10%", "40%", "10%"), span(1, 5, 2)
    (['10%', '20%', '30%', '40%'], ['1', '3', '5'])
    """
    words = [str(low), str(high), str(step)]
    for kind in (None, *KINDS):
        numbers = [int(word) for word in words if re.fullmatch("[0-9]{1,20}", word)]
        if kind is not None:
            numbers = [at for at in (parse_kind(kind, word) for word in words) if at is not None]
        if len(numbers) < len(words) or max(numbers) > LIMIT:
            continue
        first, last, by = numbers
        if by == 0 or first > last:
            raise Error(f"'{':'.join(words)}': expected LO <= HI and a STEP above 0")
        if (last - first) // by >= VALUES_MAX:
            raise Error(f"more than {VALUES_MAX} values")
        counted = range(first, last + 1, by)
        return [str(at) if kind is None else format_kind(kind, at) for at in counted]
    raise not_a_span(":".join(words))


def not_a_span(text: str) -> Error:
    return Error(
        f"'{text}': expected LO:HI:STEP, three numbers with the same kind of unit, or without units, such as 10%:100%:10%"
    )


def at(document: Any, path: str) -> Any:
    """Returns the value at a path of a result, such as "latency_ns.total.mean", or None."""
    for key in path.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    return document


def figure(document: Any, path: str, missing: float = NAN) -> float:
    """Returns the number at a path of a result, or 'missing' if there is none."""
    value = at(document, path)
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if known else missing


def three(value: float) -> str:
    """Formats a number with three significant digits, larger ones without decimals.

    >>> three(0.2), three(99.97), three(1234.5)
    ('0.200', '100', '1234')
    """
    return f"{value:.0f}" if abs(value) >= 999.5 else f"{value:#.3g}".rstrip(".")


# Names, seconds, and the lowest number of seconds for which the unit is used.
TIMES = (("h", 3600, 5400), ("min", 60, 90), ("s", 1, 1), ("ms", 1e-3, 1e-3), ("us", 1e-6, 1e-6))


def time_text(seconds: float) -> str:
    """Formats a time for users.

    >>> time_text(7200), time_text(90), time_text(3), time_text(2e-7)
    ('2.00 h', '1.50 min', '3.00 s', '200 ns')
    """
    known = ((name, size) for name, size, least in TIMES if seconds >= least)
    unit, size = next(known, ("ns", 1e-9))
    return f"{three(seconds / size)} {unit}"


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Groups items with the same key, in the order of their first items."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


class Interval(NamedTuple):
    """A mean and the half width of its 95 % confidence interval, NaN for a single value."""

    mean: float
    half: float = math.nan

    @property
    def ends(self) -> tuple[float, float]:
        half = 0 if math.isnan(self.half) else self.half
        return self.mean - half, self.mean + half


@functools.lru_cache(maxsize=None)
def student_95(degrees: int) -> float:
    """Returns the two-sided 95 % quantile of Student's t distribution.

    >>> round(student_95(1), 3), round(student_95(4), 3)
    (12.706, 2.776)
    """
    from scipy.special import betaincinv  # stdtrit() is only exact to 10 digits

    return math.sqrt(degrees * (1 / betaincinv(degrees / 2, 0.5, 0.05) - 1))


def mean_of(values: Sequence[float]) -> Interval:
    """Returns the mean of independent values, such as one per seed, ignoring NaN.

    >>> mean, half = mean_of([1, 2, 3])
    >>> mean, round(half, 6), mean_of([5]), mean_of([])
    (2.0, 2.484138, Interval(mean=5.0, half=nan), Interval(mean=nan, half=nan))
    """
    known = [value for value in values if not math.isnan(value)]
    count = len(known)
    if count == 0:
        return Interval(math.nan)
    mean = sum(value / count for value in known)
    squares = sum((value - mean) ** 2 for value in known)
    if count == 1 or squares == 0:
        return Interval(mean, math.nan if count == 1 else 0.0)
    return Interval(mean, student_95(count - 1) * math.sqrt(squares / (count - 1) / count))
