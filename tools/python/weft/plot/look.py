# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The style of axes and curves. All points and intervals are inside the frame. Curves differ in
colour (the palette of Okabe and Ito, which colour-blind readers can distinguish), dash and mark, so
that they also differ in black-and-white print."""
import math
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from ..quantity import Interval
from .curves import Curves, Point
from .sheet import Recorded, Series, Sheet

ROOM = 1.06  # length of an axis relative to the highest value
LOG_FROM = 15.0  # ratio of values above which their axis is logarithmic
LOG_SPARSE = 1e3  # ratio above which only powers of ten are labelled
BANDS_MAX = 4  # maximum number of curves with distinguishable confidence bands
MARKS_SPREAD = 8  # number of marks on a curve of many points

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Dashes in line widths, for the first curve, the second and so on.
DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 2)),
    (0, (1, 1.5)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (8, 2.5)),
    (0, (5, 1.5, 1, 1.5, 1, 1.5)),
    (0, (2.5, 2.5)),
)
MARKS = ("o", "s", "^", "v", "D", "p")
FILLS = ("full", "half", "hollow")
UNSURE = "half: too short to tell"
HATCHES = ("", "///", "xx", "\\\\\\", "..", "--", "++", "OO")


Of = Callable[[Point], Interval]
x_of: Of = attrgetter("x")
y_of: Of = attrgetter("y")
y2_of: Of = attrgetter("y2")


class Unit(NamedTuple):
    name: str
    ns: float


def unit_for(ns: float) -> Unit:
    """Returns the unit that leaves few digits before the point.

    >>> unit_for(1999), unit_for(2000), unit_for(3e9).name
    (Unit(name='ns', ns=1), Unit(name='µs', ns=1000.0), 's')
    """
    units = (Unit("s", 1e9), Unit("ms", 1e6), Unit("µs", 1e3))
    return next((unit for unit in units if ns >= 2 * unit.ns), Unit("ns", 1))


class Range(NamedTuple):
    """Returns the lowest mean or interval end above 0 (or infinity), and the highest (or 0)."""

    low: float
    low_end: float
    high: float
    end: float

    @property
    def log(self) -> bool:
        """Returns whether values are so far apart that their axis is logarithmic."""
        return self.high > LOG_FROM * self.low

    @property
    def floor(self) -> float:
        """Returns the start of a logarithmic axis, which has no 0; long intervals end there."""
        return 0.7 * max(min(self.low, self.low_end), self.low / 3)

    @property
    def unit(self) -> Unit:
        return unit_for(self.high / 10 if self.log else self.high)


def range_of(curves: Curves, *of: Of) -> Range:
    points = [point for curve in curves.curves for point in curve.points]
    known = [value(p) for p in points for value in of if not math.isnan(value(p).mean)]
    return Range(
        min((value.mean for value in known if value.mean > 0), default=math.inf),
        min((value.ends[0] for value in known if value.ends[0] > 0), default=math.inf),
        max((value.mean for value in known), default=0),
        max((value.ends[1] for value in known), default=0),
    )


def set_range(sheet: Sheet, axis: str, high: float, ax: Recorded | None = None) -> None:
    """Makes an axis from 0, with space above the highest value."""
    set_limits = getattr(ax or sheet.ax, f"set_{axis}lim")
    set_limits(0, float(f"{max(high * ROOM, 1e-3):.9g}"))


def set_log(sheet: Sheet, axis: str, low: float, high: float) -> None:
    """Makes a logarithmic axis with labels at 1, 2, 5, 10 and so on, or at powers of ten."""
    low, high = float(f"{low:.9g}"), float(f"{high:.9g}")
    getattr(sheet.ax, f"set_{axis}scale")("log")
    getattr(sheet.ax, f"set_{axis}lim")(low, high)
    steps = (1, 2, 5) if high <= LOG_SPARSE * low else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    places = [float(f"{step}e{power}") for power in powers for step in steps]
    places = [place for place in places if low <= place <= high]
    texts = [number_text(place) for place in places]
    getattr(sheet.ax, f"set_{axis}ticks")(places, texts)


def number_text(value: float) -> str:
    """Formats a number for an axis.

    >>> number_text(0.5), number_text(20.0), number_text(2e6)
    ('0.5', '20', '2,000,000')
    """
    return f"{value:,.0f}" if value >= 10000 else f"{value:g}"


def set_name(
    sheet: Sheet, axis: str, text: str, narrow: str = "", ax: Recorded | None = None
) -> None:
    """Sets the name of an axis; 'narrow' is its name on narrow pages, if different."""
    name = narrow if narrow and sheet.page.narrow else text
    getattr(ax or sheet.ax, f"set_{axis}label")(name)


def set_title(sheet: Sheet, title: str, network: str) -> None:
    """Sets the user's title, or the kind's with the network below it, which narrow pages omit."""
    text = sheet.page.title
    if text is None and not sheet.page.narrow:
        text = "\n".join(filter(None, (title, network)))
    if text:
        sheet.ax.set_title(text, loc="left", pad=10)


@dataclass
class Axis:
    """How values appear on an axis: multiplied by 'scale'; intervals end at 'low' and 'high'."""

    scale: float = 1
    low: float = 0
    high: float = math.inf

    def ends(self, of: Interval) -> tuple[float, float]:
        """Returns the scaled lengths of an interval below and above the mean."""
        mean = of.mean * self.scale
        if math.isnan(mean) or math.isnan(of.half):
            return 0, 0
        low = max(of.ends[0] * self.scale, min(self.low, mean))
        high = min(of.ends[1] * self.scale, max(self.high, mean))
        return mean - low, high - mean


@dataclass
class Line:
    """A visible line: the y or y2 of a curve."""

    curve: int
    look: int  # number of dash and mark, from 0
    part: str = ""  # "total", added to its name
    second: bool = False  # y2
    thin: bool = False

    def y_of(self, point: Point) -> Interval:
        return point.y2 if self.second else point.y


def colour_of(curve: int) -> str:
    return COLOURS[curve % len(COLOURS)]


def dash_of(look: int) -> Any:
    return DASHES[(look + look // len(COLOURS)) % len(DASHES)]


def mark_of(look: int) -> str:
    return MARKS[look % len(MARKS)]


def _filled(fill: str, colour: str) -> dict[str, Any]:
    """Returns the options of a mark that is full, hollow or half full."""
    if fill == "half":
        return {"color": colour, "fillstyle": "left", "markerfacecoloralt": "white"}
    return {"color": colour, "markerfacecolor": "white" if fill == "hollow" else colour}


class Painter:
    def __init__(self, sheet: Sheet, curves: Curves, x: Axis, y: Axis) -> None:
        self.sheet, self.curves, self.x, self.y = sheet, curves, x, y
        self.size = 0.75 if sheet.page.narrow else 1.0  # scale of marks and lines

    def points(self, curve: int, fill: str = "") -> list[Point]:
        """Returns the points of a curve, or only those with one fill."""
        return [p for p in self.curves.curves[curve].points if fill in ("", p.fill)]

    def values(
        self, name: str, points: list[Point], of: Callable[[Point], Interval], axis: Axis
    ) -> Series:
        return self.sheet.series(name, [of(point).mean * axis.scale for point in points])

    def places(self, line: Line, fill: str = "") -> tuple[Series, Series]:
        points = self.points(line.curve, fill)
        end = f"_{fill}" if fill else ""
        second = "_second" if line.second else ""
        x = self.values(f"x{line.curve}{end}", points, x_of, self.x)
        return x, self.values(f"y{line.curve}{second}{end}", points, line.y_of, self.y)

    def has_points(self, line: Line, fill: str = "") -> bool:
        values = (line.y_of(point).mean for point in self.points(line.curve, fill))
        return not all(map(math.isnan, values))

    def stroke(self, line: Line) -> dict[str, Any]:
        """Returns the dash and width of a line. Normalised curves often coincide in places, so
        earlier lines are wider and remain visible below later ones."""
        dense = self.curves.normalised and self.curves.kind == "efficiency-time"
        under = 0.25 * (len(self.curves.curves) - 1 - line.curve) if dense else 0
        width = round(self.size * ((1.2 if line.thin else 1.7) + under), 3)
        return {"linestyle": dash_of(line.look), "linewidth": width}

    def mark(self, line: Line, fill: str = "full") -> dict[str, Any]:
        """Returns the options of a mark. Hollow parts are white, so they hide the line. Marks of
        later curves are smaller, so that coinciding marks do not hide each other."""
        colour = colour_of(line.curve)
        size = self.size * max(7.2 - line.look, 4.2) * (0.85 if line.thin else 1)
        return {
            "marker": mark_of(line.look),
            "markersize": round(size, 3),
            **_filled(fill, colour),
            "markeredgewidth": round(1.2 * self.size, 3),
        }

    def draw_bars(self, line: Line) -> bool:
        """Returns whether the line has intervals."""
        points = self.points(line.curve)
        x = [self.x.ends(point.x) for point in points]
        y = [self.y.ends(line.y_of(point)) for point in points]
        if not any(sum(ends) > 0 for ends in x + y):
            return False
        name = f"{line.curve}{'_second' if line.second else ''}"
        ends = [
            self.sheet.series(f"{which}{name}_{end}", [at[side] for at in of])
            for which, of in (("x", x), ("y", y))
            for side, end in ((0, "below"), (1, "above"))
        ]
        look: dict[str, Any] = {
            "fmt": "none",
            "ecolor": colour_of(line.curve),
            "elinewidth": round(self.size, 3),
        }
        look |= {"capsize": round(2 * self.size, 3), "zorder": 2.5}
        self.sheet.ax.errorbar(*self.places(line), xerr=ends[:2], yerr=ends[2:], **look)
        return True

    def draw_interval_entry(self) -> None:
        look: dict[str, Any] = {"fmt": "none", "ecolor": "#606060", "elinewidth": self.size}
        self.sheet.ax.errorbar([], [], yerr=[], **look, label=self.curves.interval_text)

    def draw_marks(self, line: Line, fill: str) -> None:
        if self.has_points(line, fill):
            look: dict[str, Any] = {"linestyle": "none", **self.mark(line, fill)}
            places = self.places(line, fill)
            self.sheet.ax.plot(*places, **look, clip_on=False, zorder=3)

    def draw_entry(self, line: Line) -> None:
        """Draws the legend entry: the curve with its part, and "(none)" if it has no point."""
        curve = self.curves.curves[line.curve]
        name = ", ".join(filter(None, (curve.label, line.part)))
        if name:
            name += "" if self.has_points(line) else " (none)"
            stroke = self.stroke(line) | ({"linestyle": "none"} if curve.apart else {})
            self.sheet.ax.plot([], [], **stroke, **self.mark(line), label=name)

    def draw_lines(self, lines: list[Line]) -> None:
        """Draws all lines and error bars, then all marks, then the legend."""
        drawn = [line for line in lines if self.has_points(line)]
        for line in drawn:
            if not self.curves.curves[line.curve].apart:
                look = {"color": colour_of(line.curve), **self.stroke(line)}
                self.sheet.ax.plot(*self.places(line), **look)
        bars = [self.draw_bars(line) for line in drawn if self.curves.intervals]
        for line in drawn:
            for fill in FILLS:
                self.draw_marks(line, fill)
        for line in lines:
            self.draw_entry(line)
        hollow = self.curves.hollow
        if self.sheet.page.narrow:
            hollow = hollow.removeprefix("saturated or ")
        for fill, label in (("hollow", f"hollow: {hollow}"), ("half", UNSURE)):
            if any(self.has_points(line, fill) for line in lines):
                mark: dict[str, Any] = {"marker": "o", "markersize": round(6 * self.size, 3)}
                mark |= {"linestyle": "none", **_filled(fill, "#606060")}
                self.sheet.ax.plot([], [], **mark, label=label)
        if any(bars):
            self.draw_interval_entry()

    def draw_dense(self) -> None:
        """Draws curves of many points: lines with a few staggered marks, and confidence bands."""
        curves = self.curves.curves
        lines = [Line(index, index) for index in range(len(curves))]
        drawn = [line for line in lines if curves[line.curve].points]
        bands = drawn if self.curves.intervals and len(curves) <= BANDS_MAX else []
        for line in bands:
            ends = [self.y.ends(point.y) for point in self.points(line.curve)]
            x, y = self.places(line)
            band = [
                self.sheet.series(
                    f"y{line.curve}_{name}", [at + sign * end[side] for at, end in zip(y, ends)]
                )
                for side, (name, sign) in enumerate((("low", -1), ("high", 1)))
            ]
            colour = colour_of(line.curve)
            self.sheet.ax.fill_between(x, *band, color=colour, alpha=0.2, linewidth=0)
        for line in drawn:
            look: dict[str, Any] = {**self.stroke(line), "clip_on": False}
            look["color"] = colour_of(line.curve)
            if len(curves) > 1:
                step = max(len(curves[line.curve].points) // MARKS_SPREAD, 1)
                every = (line.curve * step // len(curves), step)
                look |= {**self.mark(line), "markevery": every}
            self.sheet.ax.plot(*self.places(line), **look)
        for line in lines if len(curves) > 1 else []:
            self.draw_entry(line)
        if bands:
            look = {"color": "#606060", "alpha": 0.2, "linewidth": 0}
            self.sheet.ax.fill_between([], [], **look, label=self.curves.interval_text)
