# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Draws figures from curves: the page, the legend outside the frame, and files. A sheet draws by
running the lines of its script, so that the script draws the same figure."""
import dataclasses
import io
import logging
import math
from typing import Any

logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where to write its cache, for example

import matplotlib
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ..error import Error
from ..files import write_file
from .curves import Curves
from .page import ENDINGS, PIXELS_PER_INCH, PNG_PER_INCH, Page, format_of, set_font, set_size

GENERIC = ("sans", "serif", "monospace")
SCREEN_PER_INCH = 100
WIDTH, HEIGHT = 7.5, 5.0  # inches of a page without a size
MAP_INCHES = (2.75, 2.85)  # per map
BELOW_MAX = 8  # entries of a legend below the frame
FRAME_MIN = (0.5, 0.4)  # shares of the page's width and height that a legend leaves for the frame
GAP = 0.06  # inches around a legend


class Drawn(Figure):  # type: ignore[misc]
    """A figure of results, as 'weft plot' draws it."""

    curves: Curves
    page: Page

    def save(self, path: str, size: str | None = None, font: str | None = None) -> None:
        """Writes a PNG, SVG or PDF atomically. With a size ("3.4x2.5in") or a font (",9"), the
        figure is redrawn for it."""
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
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=SCREEN_PER_INCH)
        return out.getvalue()


class Recorded:
    """The name of a matplotlib object in the script. A call becomes a line of the script, which
    names the result 'to'."""

    def __init__(self, sheet: "Sheet", name: str) -> None:
        self.sheet, self.name = sheet, name

    def __repr__(self) -> str:
        return self.name

    def __getattr__(self, part: str) -> "Recorded":
        return Recorded(self.sheet, f"{self.name}.{part}")

    def __call__(self, *args: Any, to: str = "", **options: Any) -> "Recorded":
        words = ", ".join([*map(repr, args), *_options_text(options)])
        self.sheet.run(f"{to} = " * bool(to) + f"{self.name}({words})")
        return Recorded(self.sheet, to)


class Series(list[float]):
    """Numbers that have a name in the script."""

    def __init__(self, name: str, values: list[float]) -> None:
        super().__init__(values)
        self.name = name

    def __repr__(self) -> str:
        return self.name


def settings(page: Page) -> dict[str, Any]:
    family = "sans-serif" if page.font == "sans" else page.font
    if page.font not in GENERIC:
        try:
            font_manager.findfont(page.font, fallback_to_default=False)
        except ValueError:
            expected = "sans, serif, monospace, or a font of this machine"
            raise Error(f"--font {page.font}: expected {expected}") from None
    points = page.points or (8 if page.narrow else 12)
    small = round(points * (1 if page.narrow else 5 / 6), 2)
    return {
        "font.family": family,
        **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), points),
        **dict.fromkeys(("legend.fontsize", "xtick.labelsize", "ytick.labelsize"), small),
        "axes.edgecolor": "#404040",
        "axes.linewidth": 0.8,
        "axes.grid": True,
        "axes.axisbelow": True,
        **dict.fromkeys(
            ("axes.formatter.useoffset", "axes.spines.top", "axes.spines.right"), False
        ),
        "grid.color": "#d8d8d8",
        "grid.linewidth": 0.6,
        "mathtext.default": "regular",
        "text.parse_math": False,
        "pdf.fonttype": 42,
        "svg.hashsalt": "weft",
        "image.interpolation": "nearest",
    }


def _options_text(options: dict[str, Any]) -> list[str]:
    return [f"{key}={value!r}" for key, value in options.items()]


class Sheet:
    """A figure, its objects by name, and the lines of its script, which draw it."""

    def __init__(self, page: Page, width: float, height: float) -> None:
        self.page = page
        self.rc = settings(page)
        self.objects: dict[str, Any] = {"Figure": Drawn, "nan": math.nan}
        self.lines: list[str] = []
        self.known: dict[str, Series] = {}
        self.run(f"fig = Figure(figsize=({width!r}, {height!r}), layout='constrained')")
        self.figure: Drawn = self.objects["fig"]
        self.fig = Recorded(self, "fig")
        self.ax = self.fig.add_subplot(to="ax")

    def run(self, line: str) -> None:
        with self.style():
            exec(line, self.objects)
        self.lines.append(line)

    def style(self) -> Any:
        return matplotlib.rc_context(self.rc)

    def series(self, name: str, values: list[float]) -> Series:
        """Adds numbers to the script under a name, only once."""
        if name not in self.known:
            self.known[name] = Series(name, [float(f"{value:.9g}") for value in values])
            self.run(f"{name} = {list(self.known[name])!r}")
        return self.known[name]

    def use(self, module: str, name: str) -> "Recorded":
        self.run(f"from {module} import {name}")
        return Recorded(self, name)

    def script(self, name: str, options: dict[str, Any]) -> str:
        """Returns Python code that draws the figure into the file 'name' or its first argument."""
        settings_text = "\n".join(f"    {key!r}: {value!r}," for key, value in self.rc.items())
        return (
            "#!/usr/bin/env python3\n"
            '"""Draws a figure of Weft: python3 THIS [FILE]"""\n'
            "import sys\n\nimport matplotlib\nfrom matplotlib.figure import Figure\n\n"
            f"nan = float('nan')\nmatplotlib.rcParams.update({{\n{settings_text}\n}})\n\n"
            + "\n".join(self.lines)
            + f"\n\nfile = sys.argv[1] if len(sys.argv) > 1 else {name!r}\n"
            + f"fig.savefig(file, {', '.join(_options_text(options))})\n"
        )

    def picture(self, options: dict[str, Any]) -> bytes:
        out = io.BytesIO()
        with self.style():
            self.figure.savefig(out, **options)
        return out.getvalue()


def draw_sheet(curves: Curves, page: Page) -> Sheet:
    """Draws the curves on a page. Raises an Error if the legend does not fit."""
    width, height = page.width or WIDTH, page.height or HEIGHT
    if curves.kind == "maps" and not page.width:
        width, height = MAP_INCHES[0] * len(curves.curves) + 0.6, MAP_INCHES[1]
    sheet, needed = _draw(curves, page, width, height)
    if height < needed < math.inf and not page.height:
        height = math.ceil(needed * 100) / 100
        sheet, needed = _draw(curves, page, width, height)
    if needed > height:
        raise Error(
            "the legend does not fit on the page; expected a larger --size, a smaller --font or fewer curves (--where)"
        )
    sheet.figure.curves, sheet.figure.page = curves, page
    return sheet


def save_options(curves: Curves, page: Page, form: str) -> dict[str, Any]:
    """Returns the options of savefig(), without the time: equal figures have equal bytes."""
    maker, about, date = {
        "png": ("Software", "Description", ""),
        "svg": ("Creator", "Description", "Date"),
        "pdf": ("Creator", "Subject", "CreationDate"),
    }[form]
    metadata: dict[str, str | None] = {
        maker: f"weft plot {curves.about.get('version', '')}".strip(),
        "Title": curves.kind + (f" of {curves.network}" if curves.network else ""),
        about: "; ".join(f"{key}: {text}" for key, text in curves.about.items() if text),
    }
    if date:
        return {"format": form, "metadata": {**metadata, date: None}}
    dpi = PIXELS_PER_INCH if page.pixels else PNG_PER_INCH
    return {"format": form, "metadata": metadata, "dpi": dpi}


def _draw(curves: Curves, page: Page, width: float, height: float) -> tuple[Sheet, float]:
    """Returns the sheet and the height in inches that the page needs."""
    from .kinds import DRAW

    sheet = Sheet(page, width, height)
    DRAW[curves.kind](sheet, curves)
    entries = sheet.objects["ax"].get_legend_handles_labels()[1]
    if curves.kind == "maps" or not entries:
        return sheet, 0
    return sheet, _place_legend(sheet, len(entries), (width, height))


def _legend_inches(sheet: Sheet, options: dict[str, Any]) -> tuple[float, float]:
    """Returns width and height of a legend with these options, which is then discarded."""
    with sheet.style():
        legend = sheet.figure.legend(**options)
        renderer = FigureCanvasAgg(sheet.figure).get_renderer()
        box = legend.get_window_extent(renderer)
    legend.remove()
    return box.width / sheet.figure.dpi, box.height / sheet.figure.dpi


def _place_legend(sheet: Sheet, entries: int, size: tuple[float, float]) -> float:
    """Puts the legend outside of the frame. Returns the height in inches that the page needs."""
    look: dict[str, Any] = dict(frameon=False, handlelength=3.2, borderpad=0, borderaxespad=0)
    if sheet.page.narrow:
        look.update(labelspacing=0.15, columnspacing=1.0)
    width, height = size
    beside = entries > BELOW_MAX and not sheet.page.narrow
    for count in (1,) if beside else range(min(entries, 4), 0, -1):
        look["ncol"] = count
        across, down = _legend_inches(sheet, look)
        if across <= width - 2 * GAP:
            break
    sheet.lines += ["", "# The legend is outside of the frame."]
    if beside:
        rest = width - across - GAP
        anchor, place = (1.0, 1 - GAP / height), "upper right"
        box = (0.0, 0.0, round(rest / width, 4), 1.0)
    else:
        rest = height - down - 2 * GAP
        anchor, place = (0.5, GAP / height), "lower center"
        box = (0.0, round(1 - rest / height, 4), 1.0, round(rest / height, 4))
    anchor = (anchor[0], round(anchor[1], 4))
    sheet.fig.legend(loc=place, bbox_to_anchor=anchor, **look)
    sheet.fig.get_layout_engine(to="layout").set(rect=box)
    if across > width - 2 * GAP or (beside and rest < FRAME_MIN[0] * width):
        return math.inf
    return down + 2 * GAP if beside else (down + 2 * GAP) / (1 - FRAME_MIN[1])
