# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Published numbers beside those of Weft.

A row's value is the mean over the instances of the network, each compared with the same instance
under the other algorithm. Checked are whether the mean of a factor or increase is within the
tolerance of the published one, whether algorithms compared with the same one are in the published
order, and bounds. Other absolute values are only shown. A row without all of its instances fails,
and so does everything if a trial failed.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..quantity import mean_of
from .courses import number
from .definition import BLOCKED, Definition
from .published import FACTORS, NAN, Row
from .trial import Stage, Trial, find, is_between_switches


def link_value(what: Definition, link: object) -> float:
    """The utilisation of a link or, where that is the measure, the share of time for which it was
    blocked."""
    return number(link, "blocked" if what.measure == BLOCKED else "utilisation")


def _links(trial: Trial, row: Row) -> float:
    """In per cent."""
    what = trial.definition
    uses = [100 * link_value(what, link) for link in trial.links if is_between_switches(link)]
    if not uses:
        return NAN
    if row.quantity == "below":
        return 100 * sum(use < row.limit for use in uses) / len(uses)
    if row.quantity == "above":
        return 100 * sum(use > row.limit for use in uses) / len(uses)
    return max(uses) if row.quantity == "max" else min(uses)


def _own(trial: Trial, row: Row) -> float:
    course, unit_ns = trial.transient, trial.definition.unit_ns
    own: dict[str, Callable[[], float]] = {
        "before": course.before,
        "minimum": course.minimum,
        "at": lambda: course.at(row.limit * unit_ns),
        "end": course.end,
        "back": lambda: course.back_ns() / unit_ns,
        "after": lambda: trial.settling.deviation(row.limit / 1000.0),
        "traffic-interval": lambda: trial.points[-1].traffic if trial.points else NAN,
    }
    return own.get(row.quantity, lambda: trial.value)()


def ratio_of(one: float, other: float) -> float:
    """The quotient, also of 0 and infinity."""
    if other == 0:
        return math.inf if one > 0 else NAN
    return one / other


def value_of(trials: Sequence[Trial], row: Row, copy: int) -> float:
    """NaN: this instance has not been measured."""
    own = find(trials, row, row.case, row.algorithm, copy)
    if own is None:
        return NAN
    if row.is_link:
        return _links(own, row)
    if not row.over:
        return _own(own, row)
    if row.quantity == "slowdown":
        other = find(trials, row, row.over, row.algorithm, copy)
    else:
        other = find(trials, row, row.case, row.over, copy)
    if other is None:
        return NAN
    ratio = ratio_of(_own(own, row), _own(other, row))
    return 100 * (ratio - 1) if row.quantity == "percent" else ratio


@dataclass
class Compared:
    """A row and the numbers of Weft."""

    row: Row
    wanted: int  # instances of its network
    instances: int = 0  # that could be compared
    min: float = NAN
    max: float = NAN
    mean: float = NAN
    half: float = NAN  # width of the mean's 95 % interval; NaN: fewer than two instances
    ratio: float = NAN  # to the published value; for increases, the ratio of 1 + each
    checked: bool = False
    within: bool = False

    @property
    def is_whole(self) -> bool:
        return self.instances == self.wanted

    def fill(self, trials: Sequence[Trial]) -> None:
        row = self.row
        values = [value_of(trials, row, copy) for copy in range(self.wanted)]
        values = [value for value in values if not math.isnan(value)]
        self.instances = len(values)
        if values:
            self.min, self.max = min(values), max(values)
            self.mean = sum(values) / len(values)
            self.half = mean_of(values).half
        if row.quantity in ("interval", "traffic-interval"):
            # The row's value is the interval of its mean, not the mean.
            self.mean = ratio_of(100 * 2 * self.half, self.mean)
            self.min = self.max = self.half = NAN
        reference = row.mean
        if math.isnan(reference):
            reference = row.max if math.isnan(row.min) else row.min
        if row.quantity == "percent":
            self.ratio = ratio_of(100 + self.mean, 100 + reference)
        else:
            self.ratio = ratio_of(self.mean, reference)

    def check(self, what: Definition) -> None:
        row = self.row
        judged = row.is_relative or row.quantity not in (*FACTORS, "value") and not row.is_link
        self.checked = row.is_claim or not math.isnan(row.mean) and judged
        self.within = self.is_whole and self._is_within(what)

    def _is_within(self, what: Definition) -> bool:
        row, slack = self.row, 0.0
        if not row.is_claim:
            return abs(self.ratio - 1) <= what.tolerance / 1e6
        # A claim of 'better' also holds for 'equal'; the links are those of another network.
        if row.is_relative:
            slack = what.order / 1e6
        elif row.is_link:
            slack = what.tolerance / 1e6
        return not self.mean < row.min * (1 - slack) and not self.mean > row.max * (1 + slack)


class Comparison:
    """All rows. 'wrong' has pairs of rows, the published one with the higher mean first, that are in
    the other order here."""

    def __init__(self, what: Definition, rows: Sequence[Row], trials: Sequence[Trial]) -> None:
        wanted = {network.name: network.n for network in what.networks}
        self.definition, self.trials = what, trials
        self.rows = [Compared(row, wanted[row.network]) for row in rows]
        for one in self.rows:
            one.fill(trials)
            one.check(what)
        checked = [one for one in self.rows if one.checked]
        numbers = [one.within for one in checked if one.row.is_number]
        others = [one.within for one in checked if not one.row.is_number]
        self.means, self.near = len(numbers), sum(numbers)
        self.claims, self.held = len(others), sum(others)
        bad = [not one.is_whole or one.checked and not one.within for one in self.rows]
        self.missed = sum(bad)
        self.failed = sum(trial.stage == Stage.FAILED for trial in trials)
        self.orders = 0
        self.wrong: list[tuple[int, int]] = []
        for first, second in itertools.permutations(range(len(self.rows)), 2):
            self._compare_order(first, second)

    def _compare_order(self, first: int, second: int) -> None:
        one, two = self.rows[first], self.rows[second]
        a, b = one.row, two.row
        same = (a.quantity, a.case, a.network, a.over) == (b.quantity, b.case, b.network, b.over)
        if a.quantity not in FACTORS or not same or not (one.is_whole and two.is_whole):
            return
        high, low = (1 + r.mean / 100 if r.quantity == "percent" else r.mean for r in (a, b))
        if not high >= low * (1 + self.definition.order / 1e6):
            return
        self.orders += 1
        if one.mean < two.mean:
            self.wrong.append((first, second))

    @property
    def good(self) -> bool:
        return not (self.missed or self.wrong or self.failed)
