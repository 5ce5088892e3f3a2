# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The figures of 'weft reproduce', which passes their curves as JSON on standard input."""
from __future__ import annotations

import json
import sys
from typing import Any

from ..error import Error, Exit
from ..interval import Interval
from ..output import write_file
from .curves import Curve, Curves, Point
from .sheets import draw_sheet, save_options
from .page import Page
from .runs import NAN


def _interval(values: list[Any]) -> Interval:
    return Interval(*(NAN if value is None else float(value) for value in values))


def _point(values: list[Any]) -> Point:
    x, y, y2 = (_interval(values[at : at + 2]) for at in (0, 2, 4))
    return Point(x, y, y2, bool(values[6]))


def read_curves(document: dict[str, Any]) -> Curves:
    """The curves of a document."""
    curves = Curves(
        document["kind"],
        [
            Curve(curve["label"], [_point(point) for point in curve["points"]])
            for curve in document["curves"]
        ],
        flits=True,
        normalised=document["normalised"],
        bits_per_us=document["bits_per_us"],
        hollow="accepts less than offered",
    )
    for key in ("intervals", "groups", "quantity", "network"):
        setattr(curves, key, document[key])
    return curves


def figure(arguments: list[str]) -> int:
    """Draws the PNG that the argument names."""
    try:
        curves = read_curves(json.load(sys.stdin))
        (output,) = arguments
    except (KeyError, TypeError, ValueError) as error:
        raise Error(f"expected a figure on standard input ({error})") from None
    page = Page()
    write_file(output, draw_sheet(curves, page).picture(save_options(curves, page, "png")))
    return Exit.DONE
