# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Figures of papers that only 'weft reproduce' draws."""
from __future__ import annotations

from typing import Any

from .axes import (
    highest,
    highest_end,
    is_wide,
    lowest,
    set_log,
    set_name,
    set_range,
    set_title,
    unit_for,
    x_of,
    y2_of,
    y_of,
)
from .curves import Curves
from .look import HATCHES, Axis, Line, Painter, colour_of
from .sheet import Sheet

MAP_COLOURS = ("#f7fbff", "#9ecae1", "#fdae6b", "#e6550d", "#67000d")


def bars(sheet: Sheet, curves: Curves) -> None:
    """A bar of each curve in every group, with its interval."""
    quantity = curves.quantity.replace("[us]", "[µs]")
    set_title(sheet, quantity.split(" [")[0], curves.network)
    set_name(sheet, "y", quantity)
    width = 0.8 / max(len(curves.curves), 1)
    share = Axis(high=100) if quantity.endswith("[%]") else Axis()
    painter = Painter(sheet, curves, Axis(), share)
    for index, curve in enumerate(curves.curves):
        shift = (index - (len(curves.curves) - 1) / 2) * width
        places = [round(point.x.mean + shift, 6) for point in curve.points]
        ends = [painter.y.ends(point.y) for point in curve.points]
        options: dict[str, Any] = {}
        if curves.intervals and any(sum(end) > 0 for end in ends):
            options = {"yerr": [[end[side] for end in ends] for side in (0, 1)]}
        sheet.call(
            "ax.bar",
            places,
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
    rotated: dict[str, Any] = {"rotation": 45, "ha": "right"} if len(curves.groups) > 8 else {}
    sheet.call("ax.set_xticks", list(range(len(curves.groups))), curves.groups, **rotated)
    sheet.call("ax.set_xlim", -0.5, len(curves.groups) - 0.5)
    sheet.call("ax.set_ylim", bottom=0)
    sheet.call("ax.grid", False, axis="x")


def maps(sheet: Sheet, curves: Curves) -> None:
    """A map of squares for each curve, side by side, all in the colours of one scale."""
    sheet.call("fig.clear")
    own = sheet.page.title
    title = own if own is not None else ", ".join(filter(None, (curves.quantity, curves.network)))
    sheet.call("fig.suptitle", title, fontsize="medium")
    top = highest(curves, y2_of)
    sizes = [int(highest(curves, of)) + 1 for of in (x_of, y_of)]
    sheet.use("matplotlib.colors", "LinearSegmentedColormap")
    sheet.call("LinearSegmentedColormap.from_list", "waiting", list(MAP_COLOURS), to="colours")
    for index, curve in enumerate(curves.curves):
        ax = f"ax{index}"
        squares = [[float("nan")] * sizes[0] for _ in range(sizes[1])]
        for point in curve.points:
            squares[int(point.y.mean)][int(point.x.mean)] = float(f"{point.y2.mean:.6g}")
        sheet.call("fig.add_subplot", 1, len(curves.curves), index + 1, to=ax)
        drawn = f"map{index}"
        options: dict[str, Any] = {
            "cmap": sheet.named("colours"),
            "vmin": 0,
            "vmax": top,
            "origin": "lower",
        }
        sheet.call(f"{ax}.imshow", squares, to=drawn, **options)
        most = max((point.y2.mean for point in curve.points), default=0)
        sheet.call(f"{ax}.set_title", f"{curve.label}, at most {most:.3g}", fontsize="medium")
        sheet.call(f"{ax}.grid", False)
    all_axes = [sheet.named(f"ax{index}") for index in range(len(curves.curves))]
    sheet.call("fig.colorbar", sheet.named("map0"), ax=all_axes, shrink=0.8)


def latency_load(sheet: Sheet, curves: Curves) -> None:
    """Total latency against the offered load; a logarithmic axis if values are far apart."""
    set_title(sheet, "Latency against offered traffic", curves.network)
    scale = curves.bits_per_us or 100
    unit = "bits/µs of a host" if curves.bits_per_us else "% of the hosts' links"
    set_name(sheet, "x", f"offered traffic [{unit}]")
    set_range(sheet, "x", scale * highest_end(curves, x_of))
    painter = Painter(sheet, curves, Axis(scale), _latency_axis(sheet, curves))
    painter.draw_lines([Line(index, index) for index in range(len(curves.curves))])


def latency_time(sheet: Sheet, curves: Curves) -> None:
    """Latency of each sample over time."""
    unit = unit_for(highest(curves, x_of))
    set_title(sheet, "Latency against time", curves.network)
    set_name(sheet, "x", f"time [{unit.name}]")
    sheet.call("ax.set_xlim", 0, highest(curves, x_of) / unit.ns)
    Painter(sheet, curves, Axis(1 / unit.ns), _latency_axis(sheet, curves)).draw_dense()


def _latency_axis(sheet: Sheet, curves: Curves) -> Axis:
    unit = unit_for(highest(curves, y_of))
    end = highest_end(curves, y_of) / unit.ns
    set_name(sheet, "y", f"mean latency [{unit.name}]")
    log = curves.kind == "latency-load" and is_wide(lowest(curves, y_of), highest(curves, y_of))
    if not log:
        set_range(sheet, "y", end)
        return Axis(1 / unit.ns)
    floor = 0.7 * lowest(curves, y_of) / unit.ns
    set_log(sheet, "y", floor, 1.3 * end)
    return Axis(1 / unit.ns, floor)
