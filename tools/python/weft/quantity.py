# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Numbers with units, as run files have them, in the base units of results."""
from __future__ import annotations

import math
import re
from typing import NamedTuple, Optional

# suffix of a column: {unit: (numerator, denominator) of one such unit in the unit of results}
_UNITS = {
    "bps": {"Gbps": (10**9, 1), "Mbps": (10**6, 1), "kbps": (1000, 1), "bps": (1, 1)},
    "ns": {"s": (10**9, 1), "ms": (10**6, 1), "us": (1000, 1), "ns": (1, 1), "ps": (1, 1000)},
    "bytes": {"MiB": (1 << 20, 1), "KiB": (1024, 1), "B": (1, 1)},
    "share": {"%": (1, 100)},
}
# Steps per unit of results: a quantity between two of them is not one of a run file.
_STEPS = {"bps": 1, "ns": 1000, "bytes": 1, "share": 10**6}
_QUANTITY = re.compile(r"([0-9]+)(?:\.([0-9]+))?([A-Za-z%]+)\Z")
_PLAIN = re.compile(r"[-+.0-9eE]+\Z")


class Number(NamedTuple):
    """A value in the unit of results: bit/s, ns, bytes, or a share from 0 to 1; "" for no unit."""

    unit: str
    value: float


def number_of(text: str) -> Optional[Number]:
    """The number that a text means; None if it is not one of a run file.

    >>> number_of("10%")
    Number(unit='share', value=0.1)
    >>> number_of("1.5us"), number_of("4KiB").value, number_of("-2")
    (Number(unit='ns', value=1500.0), 4096.0, Number(unit='', value=-2.0))
    >>> number_of("up"), number_of("inf"), number_of("0.1ps")
    (None, None, None)
    """
    match = _QUANTITY.match(text)
    for unit, factors in _UNITS.items():
        if match and match[3] in factors:
            return _quantity(unit, match[1], match[2] or "", factors[match[3]])
    if not _PLAIN.match(text):
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return Number("", value) if math.isfinite(value) else None


def _quantity(unit: str, whole: str, places: str, factor: tuple[int, int]) -> Optional[Number]:
    steps = int(whole + places) * factor[0] * _STEPS[unit]
    scale = 10 ** len(places) * factor[1]
    if steps % scale != 0 or steps // scale >= 2**64 - 1:
        return None
    return Number(unit, steps // scale / _STEPS[unit])
