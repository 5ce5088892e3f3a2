# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The kinds of plots: which values are on which axes."""
import math
from collections.abc import Callable
from typing import Any

from .curves import Curve, Curves
from .look import HATCHES, LOG_FROM, Axis, Line, Of, Painter, colour_of, dash_of
from .look import range_of, set_log, set_name, set_range, set_title, unit_for, x_of, y2_of, y_of
from .sheet import Recorded, Sheet
from .waterfall import draw_waterfall

PERCENT = Axis(100, 0, 100)  # shares are never outside
SHARE_OF_LINKS = "% of the hosts' links"
BITS = "bits/µs of a host"
MAP_COLOURS = ("#f7fbff", "#9ecae1", "#fdae6b", "#e6550d", "#67000d")


def _traffic(curves: Curves) -> str:
    return "released" if curves.released else "accepted"


def _name_traffic(sheet: Sheet, curves: Curves, axis: str, unit: str, narrow: str = "") -> None:
    what = f"{_traffic(curves)} traffic"
    set_name(sheet, axis, f"{what} [{unit}]", f"{what} [{narrow or unit}]")


def _set_time(sheet: Sheet, curves: Curves, name: str, *of: Of, course: bool = False) -> Axis:
    """Sets up the y axis for times: logarithmic if they are far apart, except over time."""
    found = range_of(curves, *of)
    log = found.log and not course
    unit = found.unit if log else unit_for(found.high)
    floor = found.floor / unit.ns if log else 0
    set_name(sheet, "y", f"{name} [{unit.name}]")
    if log:
        set_log(sheet, "y", floor, 1.3 * found.end / unit.ns)
    else:
        set_range(sheet, "y", found.end / unit.ns)
    return Axis(1 / unit.ns, floor)


def _latency_lines(curves: Curves) -> list[Line]:
    """Returns the total and the network latency of each curve, each in its own style."""
    lines = []
    for index, curve in enumerate(curves.curves):
        if curves.latency:
            alone = "" if curve.label else "mean"
            lines.append(Line(index, index, alone, curves.latency == "network"))
        elif all(point.y.mean == point.y2.mean for point in curve.points):
            # No message waits at its host, so one line would hide the other.
            lines.append(Line(index, index, "total = network"))
        else:
            lines.append(Line(index, index, "total"))
            lines.append(Line(index, len(curves.curves) + index, "network", True, True))
    return lines


def _latency_throughput(sheet: Sheet, curves: Curves) -> None:
    shown = {"": (y_of, y2_of), "total": (y_of,), "network": (y2_of,)}[curves.latency]
    x = Axis(1) if curves.flits else PERCENT
    set_title(sheet, "Latency against throughput", curves.network)
    _name_traffic(sheet, curves, "x", "flits/ns/switch" if curves.flits else SHARE_OF_LINKS)
    set_range(sheet, "x", min(x.scale * range_of(curves, x_of).end, x.high))
    name = f"mean {curves.latency} latency" if curves.latency else "mean latency"
    painter = Painter(sheet, curves, x, _set_time(sheet, curves, name, *shown))
    painter.draw_lines(_latency_lines(curves))


def _name_accepted(sheet: Sheet, curves: Curves, name: str) -> None:
    """Sets up the axis of accepted traffic; 'name' is its name in papers."""
    if curves.normalised:
        set_name(sheet, "y", name)
        sheet.ax.set_ylim(0, 1.05)
    else:
        _name_traffic(sheet, curves, "y", SHARE_OF_LINKS, "%")
        set_range(sheet, "y", min(100 * range_of(curves, y_of).end, 100))


def _throughput_load(sheet: Sheet, curves: Curves) -> None:
    set_title(sheet, "Accepted against offered traffic", curves.network)
    scale = curves.bits_per_us or (1 if curves.normalised else 100)
    end = scale * range_of(curves, x_of).end
    if curves.bits_per_us:
        set_name(sheet, "x", f"offered traffic [{BITS}]")
        _name_traffic(sheet, curves, "y", BITS)
        set_range(sheet, "x", end)
        set_range(sheet, "y", scale * range_of(curves, y_of).end)
    else:
        unit = "" if curves.normalised else f" [{SHARE_OF_LINKS}]"
        set_name(sheet, "x", f"offered traffic{unit}")
        sheet.ax.set_xlim(0, max(scale * 1.02, 1.06 * end))
        _name_accepted(sheet, curves, "normalised throughput")
    labels = [curve.label for curve in curves.curves]
    lines = [Line(i, i, "" if label else _traffic(curves)) for i, label in enumerate(labels)]
    Painter(sheet, curves, Axis(scale), Axis(scale, 0, scale)).draw_lines(lines)


def _latency_beside(sheet: Sheet, painter: Painter, latency: float) -> None:
    """Draws the latency of a single run on the right axis."""
    unit, points = unit_for(latency), painter.points(0)
    width = round(1.7 * painter.size, 3)
    right = sheet.ax.twinx(to="right")
    set_name(sheet, "y", f"mean network latency [{unit.name}]", ax=right)
    set_range(sheet, "y", latency / unit.ns, ax=right)
    right.grid(False)
    right.spines.__getitem__("right", to="edge").set_visible(True)
    look: dict[str, Any] = {"color": colour_of(1), "linestyle": dash_of(1), "linewidth": width}
    x = painter.values("x0", points, x_of, painter.x)
    y = painter.values("latency", points, y2_of, Axis(1 / unit.ns))
    right.plot(x, y, **look)
    first: dict[str, Any] = {"color": colour_of(0), "linewidth": width}
    sheet.ax.plot([], [], **first, label=f"{_traffic(painter.curves)} traffic")
    sheet.ax.plot([], [], **look, label="mean network latency (right)")


def _set_course(sheet: Sheet, curves: Curves, title: str) -> Axis:
    end = range_of(curves, x_of).high
    unit = unit_for(end)
    set_title(sheet, title, curves.network)
    set_name(sheet, "x", f"time [{unit.name}]")
    sheet.ax.set_xlim(0, end / unit.ns)
    return Axis(1 / unit.ns)


def _efficiency_time(sheet: Sheet, curves: Curves) -> None:
    latency = range_of(curves, y2_of).high
    x = _set_course(sheet, curves, "Efficiency against time")
    _name_accepted(sheet, curves, "network efficiency")
    painter = Painter(sheet, curves, x, Axis(1, 0, 1) if curves.normalised else PERCENT)
    painter.draw_dense()
    if len(curves.curves) == 1 and latency > 0:
        _latency_beside(sheet, painter, latency)


def _ranked(sheet: Sheet, curves: Curves) -> None:
    title, name, axis = "Link load", "utilisation [%]", PERCENT
    if curves.kind == "blocked-time":
        title, name = "Links blocked for lack of credits", "share of the time [%]"
        if curves.real_clock:
            name, axis = "stalls [1/s]", Axis()
    set_title(sheet, title, curves.network)
    set_name(sheet, "x", "link directions, highest first")
    set_name(sheet, "y", name)
    set_range(sheet, "x", range_of(curves, x_of).high / 1.06)
    set_range(sheet, "y", min(axis.scale * range_of(curves, y_of).end, axis.high))
    Painter(sheet, curves, Axis(), axis).draw_dense()


def _latency_cdf(sheet: Sheet, curves: Curves) -> None:
    which = curves.latency or "total"
    things = "frames" if which == "network" else "messages"
    found = range_of(curves, x_of)
    unit = found.unit
    set_title(sheet, f"{which.capitalize()} latency", curves.network)
    set_name(sheet, "x", f"{which} latency [{unit.name}]")
    set_name(sheet, "y", f"{things} with at most this latency [%]", f"{things} [%]")
    if found.log:
        set_log(sheet, "x", 0.9 * found.low / unit.ns, 1.1 * found.high / unit.ns)
    else:
        set_range(sheet, "x", found.high / unit.ns)
    sheet.ax.set_ylim(0, 103)
    sheet.ax.set_yticks([0, 20, 40, 60, 80, 100])
    Painter(sheet, curves, Axis(1 / unit.ns), PERCENT).draw_dense()


def _completion(sheet: Sheet, curves: Curves) -> None:
    set_title(sheet, "Completion of the schedule", curves.network)
    set_name(sheet, "x", curves.axis)
    places = [place for _, place in curves.ticks.values()]
    low, high = min(places), max(places)
    if curves.words:
        sheet.ax.set_xlim(-0.5, len(places) - 0.5)
    elif low > 0 and high > LOG_FROM * low:
        sheet.ax.set_xscale("log")
        sheet.ax.set_xlim(low / 1.4, high * 1.4)
        sheet.ax.set_xticks([], minor=True)
    else:
        sheet.ax.set_xlim(min(0, low), 1.06 * high if high > 0 else 1)
    sheet.ax.set_xticks(places, [text for text, _ in curves.ticks.values()])
    lines = [Line(index, index) for index in range(len(curves.curves))]
    y = _set_time(sheet, curves, "completion time", y_of)
    Painter(sheet, curves, Axis(), y).draw_lines(lines)


def _slowdown(sheet: Sheet, curves: Curves) -> None:
    points = [p for curve in curves.curves for p in curve.points if not math.isnan(p.y.mean)]
    set_title(sheet, "Slowdown of flows", curves.network)
    set_name(sheet, "x", "flow length, up to [bytes]", "length, up to [bytes]")
    set_name(sheet, "y", "slowdown against the empty network", "slowdown")
    set_log(sheet, "x", min(p.x.mean for p in points) / 2, 2 * max(p.x.mean for p in points))
    found = range_of(curves, y_of, y2_of)
    floor = min(0.9, found.floor)
    set_log(sheet, "y", floor, 1.3 * found.end)
    count = len(curves.curves)
    lines = [Line(index, index, "p99") for index in range(count)]
    lines += [Line(index, count + index, "p50", True, True) for index in range(count)]
    Painter(sheet, curves, Axis(), Axis(1, floor)).draw_lines(lines)


def _bar(sheet: Sheet, painter: Painter, index: int, curve: Curve, width: float) -> None:
    shift = (index - (len(painter.curves.curves) - 1) / 2) * width
    ends = [painter.y.ends(point.y) for point in curve.points]
    options: dict[str, Any] = {}
    if painter.curves.intervals and any(sum(end) > 0 for end in ends):
        options = {"yerr": [[end[side] for end in ends] for side in (0, 1)]}
    sheet.ax.bar(
        [round(point.x.mean + shift, 6) for point in curve.points],
        sheet.series(f"y{index}", [point.y.mean for point in curve.points]),
        round(0.9 * width, 6),
        color=colour_of(index),
        hatch=HATCHES[index % len(HATCHES)],
        edgecolor="white",
        linewidth=0,
        label=curve.label or None,
        error_kw={"ecolor": "#404040", "elinewidth": painter.size, "capsize": 2},
        **options,
    )


def _bars(sheet: Sheet, curves: Curves) -> None:
    """Draws a bar for each curve in every group, with its interval."""
    quantity, count = curves.quantity.replace("[us]", "[µs]"), len(curves.groups)
    set_title(sheet, quantity.split(" [")[0], curves.network)
    set_name(sheet, "y", quantity)
    share = Axis(high=100) if quantity.endswith("[%]") else Axis()
    painter = Painter(sheet, curves, Axis(), share)
    for index, curve in enumerate(curves.curves):
        _bar(sheet, painter, index, curve, 0.8 / len(curves.curves))
    if any("yerr" in line for line in sheet.lines):
        painter.draw_interval_entry()
    rotated: dict[str, Any] = {"rotation": 45, "ha": "right"} if count > 8 else {}
    sheet.ax.set_xticks(list(range(count)), curves.groups, **rotated)
    sheet.ax.set_xlim(-0.5, count - 0.5)
    sheet.ax.set_ylim(bottom=0)
    sheet.ax.grid(False, axis="x")


def _maps(sheet: Sheet, curves: Curves) -> None:
    """Draws a map of squares for each curve, side by side, all with the same colour scale."""
    sheet.fig.clear()
    own = sheet.page.title
    title = own if own is not None else "\n".join(filter(None, (curves.quantity, curves.network)))
    sheet.fig.suptitle(title, fontsize="medium")
    sizes = [int(range_of(curves, of).high) + 1 for of in (x_of, y_of)]
    maker = sheet.use("matplotlib.colors", "LinearSegmentedColormap")
    colours = maker.from_list("waiting", list(MAP_COLOURS), to="colours")
    vmax = range_of(curves, y2_of).high
    options: dict[str, Any] = {"cmap": colours, "vmin": 0, "vmax": vmax, "origin": "lower"}
    axes: list[Recorded] = []
    for index, curve in enumerate(curves.curves):
        squares = [[math.nan] * sizes[0] for _ in range(sizes[1])]
        for point in curve.points:
            squares[int(point.y.mean)][int(point.x.mean)] = float(f"{point.y2.mean:.6g}")
        axes.append(sheet.fig.add_subplot(1, len(curves.curves), index + 1, to=f"ax{index}"))
        shown = axes[-1].imshow(squares, to=f"map{index}", **options)
        most = max((point.y2.mean for point in curve.points), default=0)
        axes[-1].set_title(f"{curve.label}, at most {most:.3g}", fontsize="medium")
        axes[-1].grid(False)
    sheet.fig.colorbar(shown, ax=axes, shrink=0.8)


def _latency_load(sheet: Sheet, curves: Curves) -> None:
    """Draws total latency against the offered load; the axis is logarithmic if values are far apart."""
    set_title(sheet, "Latency against offered traffic", curves.network)
    scale = curves.bits_per_us or 100
    unit = BITS if curves.bits_per_us else SHARE_OF_LINKS
    set_name(sheet, "x", f"offered traffic [{unit}]")
    set_range(sheet, "x", scale * range_of(curves, x_of).end)
    painter = Painter(sheet, curves, Axis(scale), _set_time(sheet, curves, "mean latency", y_of))
    painter.draw_lines([Line(index, index) for index in range(len(curves.curves))])


def _latency_time(sheet: Sheet, curves: Curves) -> None:
    x = _set_course(sheet, curves, "Latency against time")
    y = _set_time(sheet, curves, "mean latency", y_of, course=True)
    Painter(sheet, curves, x, y).draw_dense()


# How each kind draws its curves on the axes "ax"; the last four are only drawn for papers.
DRAW: dict[str, Callable[[Sheet, Curves], None]] = {
    "latency-throughput": _latency_throughput,
    "efficiency-time": _efficiency_time,
    "throughput-load": _throughput_load,
    "link-load": _ranked,
    "blocked-time": _ranked,
    "latency-cdf": _latency_cdf,
    "completion": _completion,
    "slowdown": _slowdown,
    "waterfall": draw_waterfall,
    "bars": _bars,
    "maps": _maps,
    "latency-load": _latency_load,
    "latency-time": _latency_time,
}
