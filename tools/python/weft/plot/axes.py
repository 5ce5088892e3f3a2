# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Names, units and ranges of axes. All points and all intervals are inside the frame."""
from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

from ..quantity import Interval
from .curves import Curves, Point
from .sheet import Sheet

ROOM = 1.06  # length of an axis relative to the highest value
LOG_FROM = 15.0  # ratio of values from which their axis is logarithmic
LOG_SPARSE = 1e3  # ratio from which only powers of ten have a number

Of = Callable[[Point], Interval]
x_of: Of = attrgetter("x")
y_of: Of = attrgetter("y")
y2_of: Of = attrgetter("y2")


class Unit(NamedTuple):
    """A unit of time."""

    name: str
    ns: float


def unit_for(ns: float) -> Unit:
    """The unit that leaves few digits before the point.

    >>> unit_for(1999), unit_for(2000), unit_for(3e9).name
    (Unit(name='ns', ns=1), Unit(name='µs', ns=1000.0), 's')
    """
    units = (Unit("s", 1e9), Unit("ms", 1e6), Unit("µs", 1e3))
    return next((unit for unit in units if ns >= 2 * unit.ns), Unit("ns", 1))


class Range(NamedTuple):
    """The lowest mean and end of an interval above 0, or infinity, and the highest, or 0."""

    low: float
    low_end: float
    high: float
    end: float

    @property
    def log(self) -> bool:
        """Whether values are so far apart that their axis is logarithmic."""
        return self.high > LOG_FROM * self.low

    @property
    def floor(self) -> float:
        """The start of a logarithmic axis, which has no 0: long intervals end there."""
        return 0.7 * max(min(self.low, self.low_end), self.low / 3)

    @property
    def unit(self) -> Unit:
        return unit_for(self.high / 10 if self.log else self.high)


def range_of(curves: Curves, *of: Of) -> Range:
    points = [point for curve in curves.curves for point in curve.points]
    known = [value(p) for p in points for value in of if not math.isnan(value(p).mean)]
    return Range(
        min((value.mean for value in known if value.mean > 0), default=math.inf),
        min((value.low for value in known if value.low > 0), default=math.inf),
        max((value.mean for value in known), default=0),
        max((value.high for value in known), default=0),
    )


def set_range(sheet: Sheet, axis: str, high: float, ax: str = "ax") -> None:
    """From 0, with room above the highest value."""
    sheet.call(f"{ax}.set_{axis}lim", 0, float(f"{max(high * ROOM, 1e-3):.9g}"))


def set_log(sheet: Sheet, axis: str, low: float, high: float) -> None:
    """A logarithmic axis with a number at 1, 2, 5, 10 and so on, or at powers of ten."""
    low, high = float(f"{low:.9g}"), float(f"{high:.9g}")
    sheet.call(f"ax.set_{axis}scale", "log")
    sheet.call(f"ax.set_{axis}lim", low, high)
    steps = (1, 2, 5) if high <= LOG_SPARSE * low else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    places = [float(f"{step}e{power}") for power in powers for step in steps]
    places = [place for place in places if low <= place <= high]
    sheet.call(f"ax.set_{axis}ticks", places, [number_text(place) for place in places])


def number_text(value: float) -> str:
    """A number of an axis.

    >>> number_text(0.5), number_text(20.0), number_text(2e6)
    ('0.5', '20', '2,000,000')
    """
    return f"{value:,.0f}" if value >= 10000 else f"{value:g}"


def set_name(sheet: Sheet, axis: str, text: str, narrow: str = "", ax: str = "ax") -> None:
    """The name of an axis; 'narrow' is the name on narrow pages, if it is another."""
    sheet.call(f"{ax}.set_{axis}label", narrow if narrow and sheet.page.narrow else text)


def set_title(sheet: Sheet, title: str, network: str) -> None:
    """The user's, or the kind's with the network below it, which a narrow page leaves to the
    caption."""
    text = sheet.page.title
    if text is None and not sheet.page.narrow:
        text = "\n".join(filter(None, (title, network)))
    if text:
        sheet.call("ax.set_title", text, loc="left", pad=10)
