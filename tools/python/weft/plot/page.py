# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The page of a figure: format, size and font. A page without a size is 7.5 by 5 inches, and higher
if the legend is long. PNGs have 300 pixels per inch, or 120 if the size is given in pixels."""
import re
from dataclasses import dataclass

from ..error import Error

ENDINGS = ".png, .svg or .pdf"
PNG_PER_INCH = 300
PIXELS_PER_INCH = 120  # 900 by 600 pixels are 7.5 by 5 inches
NARROW_INCHES = 5.0

_PER_INCH = {"px": float(PIXELS_PER_INCH), "in": 1.0, "cm": 2.54, "mm": 25.4}
_LENGTH = r"([1-9][0-9]*(?:\.[0-9]*)?)(px|in|cm|mm)?"
_SIZE = re.compile(f"{_LENGTH}(?:x{_LENGTH})?")


@dataclass
class Page:
    """Width and height in inches; 0: the default."""

    width: float = 0
    height: float = 0
    pixels: bool = False  # the size was given in pixels
    font: str = "sans"
    points: float = 0  # font size; 0: the default
    title: str | None = None  # None: the kind's own, on pages that are wide enough

    @property
    def narrow(self) -> bool:
        """Returns whether the page is too narrow for a title and long axis names."""
        return 0 < self.width < NARROW_INCHES


def format_of(path: str) -> str | None:
    """Returns "png", "svg" or "pdf" according to the file's suffix; None for any other suffix."""
    found = re.search(r".\.(png|svg|pdf)\Z", path, re.S)
    return found[1] if found else None


def set_size(page: Page, text: str) -> None:
    """Takes "900x600", "3.4in", "3.4x2.5in" or "86mm"; without a height, the height is three
    quarters of the width.

    >>> page = Page()
    >>> set_size(page, "3.4x2.5in")
    >>> page.width, page.height, page.narrow
    (3.4, 2.5, True)
    """
    match = _SIZE.fullmatch(text)
    units = (match[2] or match[4] or "px", match[4] or match[2] or "px") if match else ("", "px")
    if not match or (units[0] == "px") != (units[1] == "px"):
        raise Error(
            f"--size {text}: expected WIDTH or WIDTHxHEIGHT with px, in, cm or mm, such as 3.4in, "
            "3.4x2.5in or 900x600"
        )
    page.pixels = units[0] == "px"
    page.width = float(match[1]) / _PER_INCH[units[0]]
    page.height = float(match[3]) / _PER_INCH[units[1]] if match[3] else 0.75 * page.width
    low, high = (150 / PIXELS_PER_INCH, 10000 / PIXELS_PER_INCH) if page.pixels else (1.5, 30.0)
    if not (low <= page.width <= high and low * 2 / 3 <= page.height <= high):
        raise Error(
            f"--size {text}: expected 1.5x1in to 30x30in, or 150x100 to 10000x10000 pixels, "
            "such as 3.4in, 3.4x2.5in or 900x600"
        )


def set_font(page: Page, text: str) -> None:
    """Takes "serif", "serif,9" or ",9"."""
    name, comma, points = text.partition(",")
    if not text or len(name) > 63:
        raise Error(f"--font {text}: expected NAME, NAME,POINTS or ,POINTS")
    if re.search(r"[\x00-\x1f'\"]", name):
        raise Error("--font: expected a name without quotes and control characters")
    if comma:
        if not re.fullmatch(r"[0-9]+(\.[0-9]*)?", points) or not 3 <= float(points) <= 72:
            raise Error(f"--font {text}: expected 3 to 72 points")
        page.points = float(points)
    page.font = name or page.font
