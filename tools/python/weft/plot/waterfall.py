# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Shows where packets spent their time, from documents of 'weft why --json': one row per port for a
single packet, otherwise one row per packet. Curves are parts: x is the start of a piece in ns, y
its row, y2 its length in ns."""
import itertools
from typing import Any

from ..error import Error
from ..files import read_json
from ..quantity import Interval
from .curves import Curve, Curves, Point
from .look import set_name, set_title, unit_for
from .sheet import Sheet

ROWS_MAX = 40
# Each part with its colour and hatch; waits for others are dark, to be visible in greyscale print.
PARTS = {
    "host queue": ("#e69f00", ""),
    "window": ("#f0e442", "///"),
    "wire": ("#000000", ""),
    "propagation": ("#d0d0d0", ""),
    "routing delay": ("#ffffff", ""),
    "output": ("#0072b2", ""),
    "credits": ("#d55e00", "\\\\\\"),
    "queue": ("#56b4e9", "///"),
    "arbiter": ("#009e73", "..."),
    "watchdog": ("#cc79a7", "xx"),
    "loop stall": ("#707070", "+++"),
    "unknown": ("#ffffff", "|||"),
}


def _read(path: str) -> list[dict[str, Any]]:
    document = read_json(path, "not a document from 'weft why --json'", "why/1")
    try:
        for packet in document["packets"]:
            lengths = [int(part[key]) for part in packet["parts"] for key in ("ns", "from_ns")]
            known = all(part["part"] in PARTS and str(part["port"]) for part in packet["parts"])
            if min(lengths, default=0) < 0 or not known or not int(packet["ns"]) >= 0:
                raise ValueError
        return list(document["packets"])
    except (KeyError, TypeError, ValueError):
        raise Error(f"{path}: damaged; expected packets with parts") from None


def _name(packet: dict[str, Any]) -> str:
    return f"{packet['source']} to {packet['destination']}, {packet['message']}"


def read_waterfall(paths: list[str]) -> Curves:
    packets = [packet for path in paths for packet in _read(path)]
    curves = Curves("waterfall", [Curve(part) for part in PARTS])
    by_part = {curve.label: curve for curve in curves.curves}
    rows = [(_name(packet), packet["parts"]) for packet in packets]
    if len(packets) == 1:
        groups = itertools.groupby(packets[0]["parts"], lambda part: str(part["port"]))
        rows = [(port, list(parts)) for port, parts in groups]
        curves.network = f"{rows and _name(packets[0])}, {packets[0]['bytes']} bytes"
    if not rows or len(rows) > ROWS_MAX:
        raise Error(
            f"{len(rows)} rows: expected 1 to {ROWS_MAX}, for example from 'weft why --slowest 10'"
        )
    curves.axis = "port" if len(packets) == 1 else "packet: source, destination, message"
    for row, (name, parts) in enumerate(rows):
        curves.groups.append(name)
        for part in parts:
            x, length = Interval(float(part["from_ns"])), Interval(float(part["ns"]))
            by_part[part["part"]].points.append(Point(x, Interval(row), length))
    curves.curves = [curve for curve in curves.curves if curve.points]
    return curves


def draw_waterfall(sheet: Sheet, curves: Curves) -> None:
    """Draws bars from left to right, the first row on top."""
    points = [point for curve in curves.curves for point in curve.points]
    end = max(point.x.mean + point.y2.mean for point in points)
    unit = unit_for(end)
    what = "a packet" if curves.axis == "port" else "packets"
    set_title(sheet, f"Time of {what}", curves.network)
    set_name(sheet, "x", f"time [{unit.name}]")
    set_name(sheet, "y", curves.axis, curves.axis.split(":", maxsplit=1)[0])
    for index, curve in enumerate(curves.curves):
        colour, hatch = PARTS[curve.label]
        sheet.ax.barh(
            [point.y.mean for point in curve.points],
            sheet.series(f"ns{index}", [point.y2.mean / unit.ns for point in curve.points]),
            0.8,
            left=sheet.series(f"from{index}", [point.x.mean / unit.ns for point in curve.points]),
            color=colour,
            hatch=hatch,
            edgecolor="white" if hatch else "#404040",
            linewidth=0 if hatch else 0.3,
            label=curve.label,
        )
    room = sheet.figure.get_figheight() * 72 * 0.6 / len(curves.groups)
    size = round(max(min(sheet.rc["ytick.labelsize"], 0.9 * room), 3), 2)
    sheet.ax.set_yticks(list(range(len(curves.groups))), curves.groups, fontsize=size)
    sheet.ax.set_ylim(len(curves.groups) - 0.5, -0.5)
    sheet.ax.set_xlim(0, end / unit.ns or 1)
    sheet.ax.grid(False, axis="y")
