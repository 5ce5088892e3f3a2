# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Means over seeds with 95 % confidence intervals."""
from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple


class Interval(NamedTuple):
    """A mean and the half width of its 95 % confidence interval, NaN for a single value."""

    mean: float
    half: float = math.nan

    @property
    def low(self) -> float:
        """The lower end; the mean if there is no interval."""
        return self.mean if math.isnan(self.half) else self.mean - self.half

    @property
    def high(self) -> float:
        """The upper end; the mean if there is no interval."""
        return self.mean if math.isnan(self.half) else self.mean + self.half


@functools.lru_cache(maxsize=None)
def student_95(degrees: int) -> float:
    """The two-sided 95 % quantile of Student's t distribution.

    >>> round(student_95(1), 3), round(student_95(4), 3)
    (12.706, 2.776)
    """
    from scipy.special import betaincinv  # stdtrit() is exact to 10 digits only

    return math.sqrt(degrees * (1 / betaincinv(degrees / 2, 0.5, 0.05) - 1))


def mean_of(values: Sequence[float]) -> Interval:
    """The mean of independent values, such as those of several seeds; NaN values do not count.

    >>> mean, half = mean_of([1, 2, 3])
    >>> mean, round(half, 6)
    (2.0, 2.484138)
    >>> mean_of([5]), mean_of([])
    (Interval(mean=5.0, half=nan), Interval(mean=nan, half=nan))
    """
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Interval(math.nan)
    mean = sum(value / len(known) for value in known)
    if len(known) == 1:
        return Interval(mean)
    squares = sum((value - mean) ** 2 for value in known)
    if squares == 0:
        return Interval(mean, 0.0)
    return Interval(
        mean, student_95(len(known) - 1) * math.sqrt(squares / (len(known) - 1) / len(known))
    )
