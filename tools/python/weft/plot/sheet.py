# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A figure that remembers how it was drawn: every call to matplotlib is made and written down, so
that the script of a figure draws the same figure."""
from __future__ import annotations

import importlib
import io
import logging
from typing import Any

logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where it writes its cache, and the like

import matplotlib
from matplotlib import font_manager
from matplotlib.figure import Figure

from ..error import Error
from .page import Page

GENERIC = ("sans", "serif", "monospace")


class Named:
    """An object of the sheet as an argument of a call."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value

    def __repr__(self) -> str:
        return self.name


def _value(of: Any) -> Any:
    if isinstance(of, list) and of and isinstance(of[0], Named):
        return [named.value for named in of]
    return of.value if isinstance(of, Named) else of


class Series(list):  # type: ignore[type-arg]
    """Numbers with a name in the script."""

    def __init__(self, name: str, values: list[float]) -> None:
        super().__init__(values)
        self.name = name

    def __repr__(self) -> str:
        return self.name


def settings(page: Page) -> dict[str, Any]:
    """The look of a figure, as matplotlib's rcParams have it."""
    family = "sans-serif" if page.font == "sans" else page.font
    if page.font not in GENERIC:
        try:
            font_manager.findfont(page.font, fallback_to_default=False)
        except ValueError:
            raise Error(
                f"--font {page.font}: expected sans, serif, monospace, or a font of this machine"
            ) from None
    points = page.text_points()
    small = round(points * (1 if page.narrow else 5 / 6), 2)
    return {
        "font.family": family,
        "font.size": points,
        "axes.titlesize": points,
        "axes.labelsize": points,
        "legend.fontsize": small,
        "xtick.labelsize": small,
        "ytick.labelsize": small,
        "axes.edgecolor": "#404040",
        "axes.linewidth": 0.8,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.formatter.useoffset": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": "#d8d8d8",
        "grid.linewidth": 0.6,
        "mathtext.default": "regular",
        "text.parse_math": False,
        "pdf.fonttype": 42,
        "svg.hashsalt": "weft",
        "image.interpolation": "nearest",
    }


class Sheet:
    """A figure, its objects by name, and the lines of its script."""

    def __init__(
        self, page: Page, width: float, height: float, make: type[Figure] = Figure
    ) -> None:
        self.page = page
        self.rc = settings(page)
        self.lines: list[str] = []
        self.objects: dict[str, Any] = {}
        with self.style():
            self.figure = make(figsize=(width, height), layout="constrained")
            self.lines.append(
                f"fig = Figure(figsize=({width:g}, {height:g}), layout='constrained')"
            )
        self.objects["fig"] = self.figure

    def style(self) -> Any:
        """The settings, for a 'with' statement."""
        return matplotlib.rc_context(self.rc)

    def call(self, name: str, *args: Any, to: str = "", **options: Any) -> Any:
        """Calls a method, such as "ax.plot"; the result gets the name 'to'."""
        target, *parts = name.split(".")
        method: Any = self.objects[target]
        for part in parts:
            method = getattr(method, part)
        with self.style():
            result = method(*map(_value, args), **{k: _value(v) for k, v in options.items()})
        words = [repr(arg) for arg in args] + [f"{key}={value!r}" for key, value in options.items()]
        self.lines.append(f"{to} = " * bool(to) + f"{name}({', '.join(words)})")
        if to:
            self.objects[to] = result
        return result

    def series(self, name: str, values: list[float]) -> Series:
        """Puts numbers into the script under a name."""
        made = Series(name, [float(f"{value:.9g}") for value in values])
        self.lines.append(f"{name} = {list(made)!r}")
        return made

    def use(self, module: str, name: str) -> None:
        """Imports an object of a module."""
        self.objects[name] = getattr(importlib.import_module(module), name)
        self.lines.append(f"from {module} import {name}")

    def named(self, name: str) -> Named:
        """An object, as an option of a call."""
        return Named(name, self.objects[name])

    def remark(self, text: str) -> None:
        """Adds a comment to the script."""
        self.lines += ["", "# " + " ".join(text.split())]

    def script(self, name: str, options: dict[str, Any]) -> str:
        """The Python that draws the figure into the file 'name', or its first argument."""
        settings_text = "\n".join(f"    {key!r}: {value!r}," for key, value in self.rc.items())
        return (
            "#!/usr/bin/env python3\n"
            '"""Draws a figure of Weft: python3 THIS [FILE]"""\n'
            "import sys\n\nimport matplotlib\nfrom matplotlib.figure import Figure\n\n"
            f"nan = float('nan')\nmatplotlib.rcParams.update({{\n{settings_text}\n}})\n\n"
            + "\n".join(self.lines)
            + f"\n\nfile = sys.argv[1] if len(sys.argv) > 1 else {name!r}\n"
            + f"fig.savefig(file, {', '.join(f'{key}={value!r}' for key, value in options.items())})\n"
        )

    def picture(self, options: dict[str, Any]) -> bytes:
        """The bytes of a file of the figure."""
        out = io.BytesIO()
        with self.style():
            self.figure.savefig(out, **options)
        return out.getvalue()
