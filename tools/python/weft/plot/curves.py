# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs as curves. Runs that differ only in their seed become means with 95 % confidence intervals.
Runs of one sweep that differ in the key along which a curve goes (the load, for latency against
throughput) become its points. All others become curves of their own."""
from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Optional

from ..error import Error
from ..quantity import Interval, Number, mean_of, number_of
from .runs import NAN, Request, Run, Runs, Value, key_is, label_of

CURVES_MAX = 28
WITH_ALONG = ("latency-throughput", "throughput-load", "completion")


@dataclass
class Point:
    """Means over seeds. 'hollow': one of the runs is doubtful. 'along': the number of the key along
    which the curve goes."""

    x: Interval
    y: Interval
    y2: Interval = Interval(NAN)
    hollow: bool = False
    along: float = 0


@dataclass
class Curve:
    """A curve, whose label is "" if there is no other. 'apart': points of words, which no line
    joins."""

    label: str
    points: list[Point] = field(default_factory=list)
    apart: bool = False


@dataclass
class Curves:
    """The curves of a figure, and what its axes and its title need to know."""

    kind: str
    curves: list[Curve] = field(default_factory=list)
    flits: bool = False
    released: bool = False
    latency: str = ""  # as in Request
    # Accepted traffic as papers on congestion draw it: 1 is all that hosts' links can carry.
    normalised: bool = False
    bits_per_us: float = 0  # loads in bits/us of a host: what its link carries; 0: in shares
    hollow: str = "not known to be steady"  # what hollow points mean
    intervals: bool = False  # some point is a mean over seeds
    real_clock: bool = False
    groups: list[str] = field(default_factory=list)  # bars, at 0, 1 and so on
    quantity: str = ""  # shown by bars and maps
    ticks: dict[str, tuple[str, float]] = field(default_factory=dict)  # value: (text, place)
    words: bool = False  # the ticks are words, not numbers
    axis: str = ""  # name of the axis with the ticks
    network: str = ""  # the title's second line
    about: dict[str, str] = field(default_factory=dict)  # metadata


def last_part(key: str) -> str:
    """The part of a key after its last point."""
    return key.rsplit(".", 1)[-1]


class _Maker:
    def __init__(self, runs: Runs) -> None:
        self.runs = runs.runs
        self.inputs = runs.inputs
        self.request: Request = runs.request
        self.along: dict[int, Optional[str]] = {}  # per input
        self.places: dict[str, float] = {}  # where values are on an axis with ticks
        self.find_along()

    def find_along(self) -> None:
        asked = self.request.along
        if self.request.kind not in WITH_ALONG:
            if asked is not None:
                raise Error(
                    f"--along {asked}: requires latency-throughput, throughput-load or completion"
                )
            return
        for run in self.runs:
            self.along[run.input] = _along_of(run.vary, asked)
        if asked is not None and not any(self.along.values()):
            raise Error(f"--along {asked}: no sweep here varies that key")

    def rest(self, run: Run) -> tuple[object, ...]:
        """What the runs of a curve have in common."""
        along = self.along.get(run.input)
        return run.input, *((key, value) for key, value in run.vary.items() if key != along)

    def number(self, run: Run) -> Optional[Number]:
        """The number that the run has along its curve."""
        return number_of(run.vary.get(self.along.get(run.input) or "", ""))

    def value(self, run: Run) -> str:
        """The value along the curve; a result that is not of a sweep has its name."""
        return run.vary.get(self.along.get(run.input) or "", self.inputs[run.input])

    def differing(self, run: Run) -> list[str]:
        """The keys that a label names."""
        return [
            key
            for key, value in run.vary.items()
            if key != self.along.get(run.input)
            and any(o.input == run.input and o.vary.get(key) != value for o in self.runs)
        ]

    def label(self, run: Run) -> str:
        parts = [self.inputs[run.input]] if len(self.inputs) > 1 else []
        for key in self.differing(run):
            value = run.vary[key]
            text = label_of(self.request.labels, key, value)
            if text is None:
                text = value if key == "case" else f"{_short_key(run.vary, key)} {value}"
            parts += [text] if text else []
        return ", ".join(parts)

    def curve(self, runs: list[Run]) -> Curve:
        curve = Curve(self.label(runs[0]))
        along = self.along.get(runs[0].input)
        groups = _grouped(runs, lambda run: tuple(run.vary.items()))
        if self.request.kind == "latency-cdf":
            curve.points = _cumulated(runs)
            return curve
        for group in groups:
            curve.points += self.points(group)
            curve.apart = curve.apart or (along is not None and self.number(group[0]) is None)
        if along is not None and not curve.apart:
            curve.points.sort(key=lambda point: point.along)
        return curve

    def points(self, group: list[Run]) -> list[Point]:
        """The points that runs with different seeds have in common."""
        number = self.number(group[0])
        along = number.value if number else 0
        place = self.places.get(self.value(group[0]))
        return [
            Point(
                mean_of([value.x for value in values]) if place is None else Interval(place),
                mean_of([value.y for value in values]),
                mean_of([value.y2 for value in values]),
                any(value.doubtful for value in values),
                along,
            )
            for values in zip(*(run.values for run in group))
        ]


def _along_of(vary: dict[str, str], asked: Optional[str]) -> Optional[str]:
    """The key along which curves with these keys go; None if it is not among them."""
    if asked is not None:
        return next((key for key in vary if key_is(asked, key)), None)
    loads = (key for key in vary if last_part(key) == "load")
    return next(loads, next(reversed(vary), None))


def _short_key(vary: dict[str, str], key: str) -> str:
    """The last part of a key, or all of it if another key ends in the same."""
    same = [other for other in vary if last_part(other) == last_part(key)]
    return key if len(same) > 1 else last_part(key)


def _grouped(runs: list[Run], key) -> list[list[Run]]:  # type: ignore[no-untyped-def]
    groups: dict[object, list[Run]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return list(groups.values())


def _cumulated(runs: list[Run]) -> list[Point]:
    """The share of the values at or below the end of each step, all seeds together: steps of one
    seed are between those of another, so their shares have no mean."""
    steps: list[Value] = sorted((v for run in runs for v in run.values), key=lambda v: v.x)
    total, points = 0.0, []
    for end, values in itertools.groupby(steps, lambda value: value.x):
        total += sum(value.y for value in values)
        points.append((end, total))
    return [Point(Interval(end), Interval(count / total)) for end, count in points if total > 0]


def _make_ticks(curves: Curves, maker: _Maker) -> None:
    """The axis of completion times: the values along the curves. If all of them are numbers of one
    unit, it is an axis of numbers, else of words at 0, 1 and so on in the order of the sweep."""
    numbers = [maker.number(run) for run in maker.runs]
    units = {number.unit if number else None for number in numbers}
    curves.words = len(units) != 1 or None in units
    for run, number in zip(maker.runs, numbers):
        key = maker.along[run.input]
        value = maker.value(run)
        text = label_of(maker.request.labels, key, value) if key is not None else None
        place = number.value if number and not curves.words else len(curves.ticks)
        unit = value
        if number and number.unit == "ns":
            unit = re.sub(r"([pnum]?s)$", r" \1", value).replace("us", "µs")
        curves.ticks.setdefault(value, (unit if text is None else text, place))
        curves.axis = last_part(key) if key is not None else curves.axis
    maker.places = {value: place for value, (_, place) in curves.ticks.items()}


def make_curves(runs: Runs) -> Curves:
    """The curves of the runs that were asked for."""
    request = runs.request
    maker = _Maker(runs)
    curves = Curves(request.kind, [], request.flits, request.released, request.latency)
    curves.real_clock = runs.runs[0].real_clock
    if request.kind == "blocked-time" and len({run.real_clock for run in runs.runs}) > 1:
        raise Error(
            "results of the real and of the virtual clock: what they contain about blocked links "
            "cannot be compared"
        )
    parts = _grouped(runs.runs, maker.rest)
    if len(parts) > CURVES_MAX:
        raise Error(f"more than {CURVES_MAX} curves: choose some with --where KEY=VALUE")
    seeds = max(len(group) for group in _grouped(runs.runs, lambda r: (r.input, *r.vary.items())))
    if request.kind == "completion":
        _make_ticks(curves, maker)
    curves.curves = [maker.curve(part) for part in parts]
    curves.intervals = seeds > 1 and request.kind != "latency-cdf"
    if curves.words:
        _spread(curves)
    _describe(curves, maker, seeds)
    return curves


def _spread(curves: Curves) -> None:
    """Points of several curves at one word stand side by side."""
    middle = (len(curves.curves) - 1) / 2
    for index, curve in enumerate(curves.curves):
        for point in curve.points:
            shift = (index - middle) * 0.5 / len(curves.curves)
            point.x = Interval(point.x.mean + shift)


def _common(values: list[str]) -> list[str]:
    """The value that all have, if they have one."""
    return [values[0]] if len(set(values)) == 1 and values[0] else []


def _describe(curves: Curves, maker: _Maker, seeds: int) -> None:
    """ "fat tree, 432 hosts, uniform, 5 seeds", as far as all runs have it in common."""
    runs = maker.runs
    hosts = [
        f"{run.hosts} host{'' if run.hosts == 1 else 's'}" if run.hosts else "" for run in runs
    ]
    parts = _common([run.network for run in runs]) + _common(hosts)
    parts += _common([run.traffic for run in runs]) + ([f"{seeds} seeds"] if seeds > 1 else [])
    curves.network = ", ".join(parts)
    known = sorted({run.seed for run in runs if isinstance(run.seed, int)})
    versions = sorted({run.version for run in runs if isinstance(run.version, str)})
    curves.about = {
        "inputs": ", ".join(maker.inputs),
        "seeds": ", ".join(map(str, known)),
        "version": ", ".join(versions),
    }
