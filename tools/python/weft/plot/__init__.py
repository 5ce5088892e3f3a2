# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Figures of sweeps and results, drawn with matplotlib, which is imported for the first one."""
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .sheet import Drawn


def draw(
    results: Sequence[str],
    kind: str,
    *,
    where: Mapping[str, str] | None = None,
    label: Mapping[tuple[str, str], str] | None = None,
    **options: str,
) -> "Drawn":
    """Draws the folders of sweeps and files of results, as 'weft plot' does.

    'where' has the wanted values by key; 'label' the texts by key and value. The other options are
    along, unit, latency, by, size, font and title, as in weft-plot(1). The figure is one of
    matplotlib, and save(PATH) writes it as the command does.

    >>> draw([], "link-load")
    Traceback (most recent call last):
    weft.error.Error: expected results: a sweep's folder or a JSON file
    """
    from .command import parse, read_curves

    words = [f"--kind={kind}", *(f"--{name}={value}" for name, value in options.items())]
    words += [f"--where={key}={value}" for key, value in (where or {}).items()]
    words += [f"--label={key}={value}={text}" for (key, value), text in (label or {}).items()]
    asked = parse([*words, "--", *map(str, results)])
    curves = read_curves(asked)
    from .sheet import draw_sheet

    return draw_sheet(curves, asked.page).figure
