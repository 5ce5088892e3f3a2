# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Published numbers beside those of Weft.

A row's value is the mean over the instances of the network, each compared with the same instance
under the other algorithm. Checked are whether the mean of a factor or increase is within the
tolerance of the published one, whether algorithms compared with the same one are in the published
order, and bounds. Other absolute values are only shown. A row without all of its instances fails,
and so does everything if a trial failed. document() has all of it as JSON ("reproduction/1").
"""
import itertools
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..asker import program
from ..quantity import NAN, mean_of
from ..sweeping.table import rounded
from .courses import number
from .definition import BLOCKED, EFFICIENCY, Definition
from .published import FACTORS, NUMBERED, Row
from .trial import Stage, Trial, is_between_switches

Document = dict[str, Any]
Done = dict[tuple[str, str, str, int], Trial]  # by network, case, algorithm and instance
ENDS = ("min", "max", "mean")
# What documents have of a point.
POINT = "load offered accepted flits_per_ns_per_switch network_ns total_ns dropped deadlock".split()


def link_value(what: Definition, link: object) -> float:
    """Returns the utilisation of a link, or the share of time for which it was blocked."""
    return number(link, "blocked" if what.measure == BLOCKED else "utilisation")


def _own(trial: Trial, row: Row) -> float:
    """Returns the value of a trial; values of links are in percent."""
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
        "traffic-interval": lambda: trial.points[-1].flits_per_ns_per_switch
        if trial.points
        else NAN,
    }
    return own.get(row.quantity, lambda: trial.value)()


def ratio_of(one: float, other: float) -> float:
    """Returns the quotient; also handles 0 and infinity."""
    if other == 0:
        return math.inf if one > 0 else NAN
    return one / other


def _value(done: Done, row: Row, copy: int) -> float:
    """Returns NaN if this instance was not measured."""
    case, algorithm = row.case, row.over or row.algorithm
    if row.quantity == "slowdown":
        case, algorithm = row.over, row.algorithm
    own = done.get((row.network, row.case, row.algorithm, copy))
    other = done.get((row.network, case, algorithm, copy))
    if own is None or other is None:
        return NAN
    if not row.over or row.is_link:
        return _own(own, row)
    ratio = ratio_of(_own(own, row), _own(other, row))
    return 100 * (ratio - 1) if row.quantity == "percent" else ratio


class Compared:
    def __init__(self, what: Definition, row: Row, done: Done) -> None:
        self.row = row
        self.wanted = next(net.n for net in what.networks if net.name == row.network)  # instances
        values = [_value(done, row, copy) for copy in range(self.wanted)]
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
        self.is_whole = self.instances == self.wanted
        self.within = self.is_whole and self._is_within(what)

    def _is_within(self, what: Definition) -> bool:
        row, slack = self.row, 0.0
        if not row.is_claim:
            return abs(self.ratio - 1) <= what.tolerance / 1e6
        # A 'better' claim also holds if both are equal; the links are from another network.
        if row.is_relative:
            slack = what.order / 1e6
        elif row.is_link:
            slack = what.tolerance / 1e6
        return not self.mean < row.min * (1 - slack) and not self.mean > row.max * (1 + slack)


class Comparison:
    """All rows. 'wrong' contains pairs of rows in the opposite of the published order; the row with
    the higher published mean comes first."""

    def __init__(self, what: Definition, rows: Sequence[Row], trials: Sequence[Trial]) -> None:
        self.definition, self.trials = what, trials
        done = {(*one.names, one.copy): one for one in trials if one.stage == Stage.DONE}
        self.rows = [Compared(what, row, done) for row in rows]
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
        """Returns whether the first published value is clearly above the second."""
        one, two = self.rows[first], self.rows[second]
        a, b = one.row, two.row
        same = (a.quantity, a.case, a.network, a.over) == (b.quantity, b.case, b.network, b.over)
        if a.quantity not in FACTORS or not same or not (one.is_whole and two.is_whole):
            return False
        high, low = (1 + r.mean / 100 if r.quantity == "percent" else r.mean for r in (a, b))
        return high >= low * (1 + self.definition.order / 1e6)


def _of(thing: object, *keys: str) -> Document:
    return {key: getattr(thing, key) for key in keys}


def _row(one: Compared) -> Document:
    """Returns a row with the paper's numbers, Weft's reading of its text, or Weft's own bounds."""
    row, published, reading = one.row, _of(one.row, *ENDS), None
    if row.words:
        reading = published
        words = None if row.words == "-" else row.words
        published = {**dict.fromkeys(ENDS), "words": words}
    return {
        **_of(row, "quantity", "case", "network", "algorithm"),
        "over": row.over or None,
        **({NUMBERED[row.quantity]: row.limit} if row.quantity in NUMBERED else {}),
        "published": published,
        "reading": reading,
        "ours": {**_of(one, *ENDS, "instances", "wanted"), "half_width": one.half},
        "ratio": one.ratio,
        "within": one.within if one.checked else None,
    }


def _trial(trial: Trial) -> Document:
    course: Document | None = None
    if trial.definition.measure == EFFICIENCY:
        samples = [sample._asdict() for sample in trial.transient.samples]
        course = {**trial.course(), "samples": samples}
    return {
        "case": trial.case.name,
        "network": trial.network.name,
        "instance": trial.copy + 1,
        "algorithm": trial.algorithm.name,
        "value": trial.value,
        "points": [_of(point, *POINT) for point in trial.points],
        "course": course,
        "fault": trial.fault,
    }


def document(found: Comparison, version: str, words: list[str]) -> Document:
    """Returns a comparison as JSON. Numbers that are not finite are null."""
    what, length = found.definition, None
    if what.counts_messages:
        defined = {"defined_warmup": what.defined[0], "defined_messages": what.defined[1]}
        length = {**_of(what, "warmup", "messages"), **defined}
    made = {
        "weft": "reproduction/1",
        **_of(what, "name", "paper", "place", "title", "measure"),
        "length": length,
        "latency_limit_ns": what.latency_limit / 1000 if what.latency_limit > 0 else None,
        "tolerance": what.tolerance / 1e6,
        "rows": [_row(one) for one in found.rows],
        "orders": found.orders,
        "wrong_orders": [list(pair) for pair in found.wrong],
        "trials": [_trial(trial) for trial in found.trials],
        **_of(found, "means", "near", "claims", "held", "missed", "failed", "good"),
        "wall": {
            "version": version,
            "command": [program(), "reproduce", *words],
            "host": os.uname().nodename,
            "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        },
    }
    return {key: rounded(value) for key, value in made.items()}
