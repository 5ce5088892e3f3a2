# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Figures from curves: the page, the legend outside of the frame, and files."""
from __future__ import annotations

import dataclasses
import io
import math
from typing import Any, Optional

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ..error import Error
from ..files import write_file
from .curves import Curves
from .kinds import DRAW
from .page import (
    ENDINGS,
    PIXELS_PER_INCH,
    PNG_PER_INCH,
    Page,
    format_of,
    set_font,
    set_size,
)
from .sheet import Sheet

SCREEN_PER_INCH = 100
WIDTH, HEIGHT = 7.5, 5.0  # inches of a page without a size
MAP_INCHES = (2.75, 2.85)  # per map
BELOW_MAX = 8  # entries of a legend below the frame
FRAME_MIN = (0.5, 0.4)  # shares of a page's width and height that a legend leaves to the frame
GAP = 0.06  # inches around a legend


class Drawn(Figure):  # type: ignore[misc]
    """A figure of results, as 'weft plot' draws it."""

    curves: Curves
    page: Page

    def save(self, path: str, size: Optional[str] = None, font: Optional[str] = None) -> None:
        """Writes a PNG, SVG or PDF, which appears complete or not at all. With a size ("3.4x2.5in")
        or a font (",9") the figure is drawn anew for it.
        """
        form = format_of(path)
        if form is None:
            raise Error(f"{path}: expected a file that ends in {ENDINGS}")
        page = dataclasses.replace(self.page)
        if size is not None:
            set_size(page, size)
        if font is not None:
            set_font(page, font)
        sheet = draw_sheet(self.curves, page)
        write_file(path, sheet.picture(save_options(self.curves, page, form)))

    def _repr_png_(self) -> bytes:
        """How notebooks show it."""
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=SCREEN_PER_INCH)
        return out.getvalue()


def draw_sheet(curves: Curves, page: Page) -> Sheet:
    """Draws the curves on a page. Error if the legend has no room on it."""
    width, height = page.width or WIDTH, page.height or HEIGHT
    if curves.kind == "maps" and not page.width:
        width, height = MAP_INCHES[0] * len(curves.curves) + 0.6, MAP_INCHES[1]
    sheet = _draw(curves, page, width, height)
    needed = _place_legend(sheet, curves, page, (width, height))
    if height < needed < math.inf and not page.height:
        height = math.ceil(needed * 100) / 100
        sheet = _draw(curves, page, width, height)
        needed = _place_legend(sheet, curves, page, (width, height))
    if needed > height:
        raise Error(
            "the legend has no room on the page: expected a larger --size, a smaller --font or "
            "fewer curves (--where)"
        )
    figure = sheet.figure
    assert isinstance(figure, Drawn)
    figure.curves, figure.page = curves, page
    return sheet


def save_options(curves: Curves, page: Page, form: str) -> dict[str, Any]:
    """matplotlib's options for a file, "png", "svg" or "pdf": no time, so that the same figure is
    the same bytes."""
    network = f" of {curves.network}" if curves.network else ""
    about = {key: text for key, text in curves.about.items() if text}
    title = f"{curves.kind}{network}"
    description = "; ".join(f"{key}: {text}" for key, text in about.items())
    creator = f"weft plot {curves.about.get('version', '')}".strip()
    names = {
        "png": ("Software", "Description", None),
        "svg": ("Creator", "Description", "Date"),
        "pdf": ("Creator", "Subject", "CreationDate"),
    }
    maker, about_key, date = names[form]
    metadata: dict[str, Optional[str]] = {maker: creator, "Title": title, about_key: description}
    options: dict[str, Any] = {"format": form, "metadata": metadata}
    if date is not None:
        metadata[date] = None
    else:
        options["dpi"] = PIXELS_PER_INCH if page.pixels else PNG_PER_INCH
    return options


def _draw(curves: Curves, page: Page, width: float, height: float) -> Sheet:
    sheet = Sheet(page, width, height, Drawn)
    sheet.call("fig.add_subplot", to="ax")
    DRAW[curves.kind](sheet, curves)
    return sheet


def _legend_inches(sheet: Sheet, options: dict[str, Any]) -> tuple[float, float]:
    """Width and height of the legend with these options, which is not kept."""
    with sheet.style():
        legend = sheet.figure.legend(**options)
        renderer = FigureCanvasAgg(sheet.figure).get_renderer()
        box = legend.get_window_extent(renderer)
    legend.remove()
    return box.width / sheet.figure.dpi, box.height / sheet.figure.dpi


def _place_legend(sheet: Sheet, curves: Curves, page: Page, size: tuple[float, float]) -> float:
    """Puts the legend outside of the frame. Returns the height in inches that the page needs."""
    entries = (
        0 if curves.kind == "maps" else len(sheet.objects["ax"].get_legend_handles_labels()[1])
    )
    if entries == 0:
        return 0
    look: dict[str, Any] = {
        "frameon": False,
        "handlelength": 3.2,
        "borderpad": 0,
        "borderaxespad": 0,
    }
    if page.narrow:
        look.update(labelspacing=0.25, columnspacing=1.2)
    width, height = size
    beside = entries > BELOW_MAX and not page.narrow
    columns = range(1, 2) if beside else range(min(entries, 4), 0, -1)
    for count in columns:
        look["ncol"] = count
        across, down = _legend_inches(sheet, look)
        if across <= width - 2 * GAP:
            break
    sheet.remark("The legend is outside of the frame.")
    if beside:
        rest = width - across - GAP
        anchor, place = (1.0, 1 - GAP / height), "upper right"
        box = (0.0, 0.0, round(rest / width, 4), 1.0)
    else:
        rest = height - down - 2 * GAP
        anchor, place = (0.5, GAP / height), "lower center"
        box = (0.0, round(1 - rest / height, 4), 1.0, round(rest / height, 4))
    anchor = (anchor[0], round(anchor[1], 4))
    sheet.call("fig.legend", loc=place, bbox_to_anchor=anchor, **look)
    sheet.call("fig.get_layout_engine", to="layout")
    sheet.call("layout.set", rect=box)
    if across > width - 2 * GAP or (beside and rest < FRAME_MIN[0] * width):
        return math.inf
    return down + 2 * GAP if beside else (down + 2 * GAP) / (1 - FRAME_MIN[1])
