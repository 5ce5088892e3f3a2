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

from ..quantity import mean_of
from .courses import number
from .definition import BLOCKED, Definition
from .published import FACTORS, NAN, Row
from .trial import Stage, Trial, find, is_between_switches


def link_value(what: Definition, link: object) -> float:
    """The utilisation of a link or, where that is the measure, the share of time for which it was
    blocked."""
    return number(link, "blocked" if what.measure == BLOCKED else "utilisation")


def _own(trial: Trial, row: Row) -> float:
    """The value of a trial; those of links are in per cent."""
    what, course = trial.definition, trial.transient
    uses = [100 * link_value(what, link) for link in trial.links if is_between_switches(link)]
    if row.is_link and not uses:
        return NAN
    own: dict[str, Callable[[], float]] = {
        "below": lambda: 100 * sum(use < row.limit for use in uses) / len(uses),
        "above": lambda: 100 * sum(use > row.limit for use in uses) / len(uses),
        "max": lambda: max(uses),
        "min": lambda: min(uses),
        "before": course.before,
        "minimum": course.minimum,
        "at": lambda: course.at(row.limit * what.unit_ns),
        "end": course.end,
        "back": lambda: course.back_ns() / what.unit_ns,
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
    own = other = find(trials, row, row.case, row.algorithm, copy)
    if row.over:
        case, algorithm = (row.case, row.over)
        if row.quantity == "slowdown":
            case, algorithm = row.over, row.algorithm
        other = find(trials, row, case, algorithm, copy)
    if own is None or other is None:
        return NAN
    if not row.over or row.is_link:
        return _own(own, row)
    ratio = ratio_of(_own(own, row), _own(other, row))
    return 100 * (ratio - 1) if row.quantity == "percent" else ratio


class Compared:
    """A row and the numbers of Weft."""

    def __init__(self, what: Definition, row: Row, trials: Sequence[Trial]) -> None:
        self.row = row
        self.wanted = next(net.n for net in what.networks if net.name == row.network)  # instances
        values = [value_of(trials, row, copy) for copy in range(self.wanted)]
        values = [value for value in values if not math.isnan(value)]
        self.instances = len(values)  # that could be compared
        self.min, self.max = min(values, default=NAN), max(values, default=NAN)
        self.mean = sum(values) / len(values) if values else NAN
        # Width of the mean's 95 % interval; NaN: fewer than two instances.
        self.half = mean_of(values).half
        if row.quantity in ("interval", "traffic-interval"):
            # The row's value is the interval of its mean, not the mean.
            self.mean = ratio_of(100 * 2 * self.half, self.mean)
            self.min = self.max = self.half = NAN
        known = (value for value in (row.mean, row.min) if not math.isnan(value))
        # For increases, the ratio of 1 + each.
        whole = 100 if row.quantity == "percent" else 0
        self.ratio = ratio_of(whole + self.mean, whole + next(known, row.max))
        judged = row.is_relative or row.quantity not in (*FACTORS, "value") and not row.is_link
        self.checked = row.is_claim or not math.isnan(row.mean) and judged
        self.within = self.is_whole and self._is_within(what)

    @property
    def is_whole(self) -> bool:
        return self.instances == self.wanted

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
        self.definition, self.trials = what, trials
        self.rows = [Compared(what, row, trials) for row in rows]
        checked = [one for one in self.rows if one.checked]
        numbers = [one.within for one in checked if one.row.is_number]
        others = [one.within for one in checked if not one.row.is_number]
        self.means, self.near = len(numbers), sum(numbers)
        self.claims, self.held = len(others), sum(others)
        bad = [not one.is_whole or one.checked and not one.within for one in self.rows]
        self.missed = sum(bad)
        self.failed = sum(trial.stage == Stage.FAILED for trial in trials)
        pairs = itertools.permutations(range(len(self.rows)), 2)
        ordered = [(first, second) for first, second in pairs if self._has_order(first, second)]
        self.orders = len(ordered)
        self.wrong = [(a, b) for a, b in ordered if self.rows[a].mean < self.rows[b].mean]
        self.good = not (self.missed or self.wrong or self.failed)

    def _has_order(self, first: int, second: int) -> bool:
        """Whether the first one is published clearly above the second one."""
        one, two = self.rows[first], self.rows[second]
        a, b = one.row, two.row
        same = (a.quantity, a.case, a.network, a.over) == (b.quantity, b.case, b.network, b.over)
        if a.quantity not in FACTORS or not same or not (one.is_whole and two.is_whole):
            return False
        high, low = (1 + r.mean / 100 if r.quantity == "percent" else r.mean for r in (a, b))
        return high >= low * (1 + self.definition.order / 1e6)
