# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs as curves. Runs that differ only in their seed become means with 95 % confidence intervals.
Runs of one sweep that differ in the key along which a curve goes (the load, for latency against
throughput) become its points. All others become curves of their own."""
import itertools
import re
from collections.abc import Hashable
from dataclasses import dataclass, field

from ..error import Error
from ..quantity import NAN, Interval, Number, grouped, mean_of, number_of
from ..sweeping.request import normal_key, short_keys
from .runs import Run, Runs, Value, label_of

CURVES_MAX = 28
WITH_ALONG = ("latency-throughput", "throughput-load", "completion")


@dataclass
class Point:
    """Means over seeds. 'hollow': a run is doubtful; 'unsure': a run is too short to tell. 'along':
    value of the curve's key."""

    x: Interval
    y: Interval
    y2: Interval = Interval(NAN)
    hollow: bool = False
    along: float = 0
    unsure: bool = False

    @property
    def fill(self) -> str:
        return "hollow" if self.hollow else "half" if self.unsure else "full"


@dataclass
class Curve:
    """A curve; label "": the only one. 'apart': points at words, which no line joins."""

    label: str
    points: list[Point] = field(default_factory=list)
    apart: bool = False


@dataclass
class Curves:
    """The curves of a figure, and the information for its axes and its title."""

    kind: str
    curves: list[Curve] = field(default_factory=list)
    flits: bool = False
    released: bool = False
    latency: str = ""  # as in Request
    # Accepted traffic as papers on congestion draw it: 1 is all that hosts' links can carry.
    normalised: bool = False
    bits_per_us: float = 0  # loads in bits/us per host: the capacity of its link; 0: in shares
    hollow: str = "saturated or not steady"  # what hollow points mean
    intervals: bool = False  # some point is a mean over seeds
    over: str = "instances"  # whose means are drawn, such as "5 seeds"
    real_clock: bool = False
    groups: list[str] = field(default_factory=list)  # bars, at 0, 1 and so on
    quantity: str = ""  # shown by bars and maps
    ticks: dict[str, tuple[str, float]] = field(default_factory=dict)  # value: (text, place)
    words: bool = False  # ticks are words, not numbers
    axis: str = ""  # name of the axis with the ticks
    network: str = ""  # the title's second line
    about: dict[str, str] = field(default_factory=dict)  # metadata

    @property
    def interval_text(self) -> str:
        return f"95 % t interval, {self.over}"


def last_part(key: str) -> str:
    return key.rsplit(".", 1)[-1]


class _Maker:
    def __init__(self, runs: Runs) -> None:
        self.runs, self.inputs, self.request = runs.runs, runs.inputs, runs.request
        self.along: dict[int, str] = {}  # the key along which curves run, per input that has one
        self.places: dict[str, float] = {}  # where values are on an axis with ticks
        asked = self.request.along
        if self.request.kind not in WITH_ALONG:
            if asked is not None:
                kinds = "latency-throughput, throughput-load or completion"
                raise Error(f"--along {asked}: requires {kinds}")
            return
        for run in self.runs:  # the requested key; else the first load, else the last key
            loads = [key for key in run.vary if last_part(key) == "load"]
            keys = loads or [*run.vary][-1:]
            if asked is not None:
                keys = [key for key in run.vary if normal_key(asked) == key]
            if keys:
                self.along[run.input] = keys[0]
        if asked is not None and not self.along:
            raise Error(f"--along {asked}: no sweep varies this key")

    def rest(self, run: Run) -> Hashable:
        along = self.along.get(run.input)
        return run.input, *((key, value) for key, value in run.vary.items() if key != along)

    def value(self, run: Run) -> str:
        """Returns the value along the curve; for a result that is not part of a sweep, its name."""
        return run.vary.get(self.along.get(run.input, ""), self.inputs[run.input])

    def number(self, run: Run) -> Number | None:
        return number_of(run.vary.get(self.along.get(run.input, ""), ""))

    def label(self, run: Run) -> str:
        """Returns the values of the keys in which the runs of the input differ."""
        parts = [self.inputs[run.input]] if len(self.inputs) > 1 else []
        others = [other.vary for other in self.runs if other.input == run.input]
        for (key, value), short in zip(run.vary.items(), short_keys([*run.vary])):
            alike = all(vary.get(key) == value for vary in others)
            if alike or key == self.along.get(run.input):
                continue
            text = label_of(self.request.label, key, value)
            if text is None:
                text = value if key == "case" else f"{short} {value}"
            parts += [text] if text else []
        return ", ".join(parts)

    def curve(self, runs: list[Run]) -> Curve:
        curve = Curve(self.label(runs[0]))
        if self.request.kind == "latency-cdf":
            curve.points = _cumulated(runs)
            return curve
        for group in grouped(runs, lambda run: tuple(run.vary.items())).values():
            curve.points += self.points(group)
        if runs[0].input in self.along:
            curve.apart = any(self.number(run) is None for run in runs)
            if not curve.apart:
                curve.points.sort(key=lambda point: point.along)
        return curve

    def points(self, group: list[Run]) -> list[Point]:
        number = self.number(group[0])
        place = self.places.get(self.value(group[0]))
        return [
            Point(
                mean_of([value.x for value in values]) if place is None else Interval(place),
                mean_of([value.y for value in values]),
                mean_of([value.y2 for value in values]),
                any(value.doubtful for value in values),
                number.value if number else 0,
                any(value.unsure for value in values),
            )
            for values in zip(*(run.values for run in group))
        ]


def _cumulated(runs: list[Run]) -> list[Point]:
    """Returns the share of values up to the end of each histogram bucket, over all seeds: seeds
    have different buckets, so a mean of their shares does not exist."""
    steps: list[Value] = sorted((v for run in runs for v in run.values), key=lambda v: v.x)
    total, points = 0.0, []
    for end, values in itertools.groupby(steps, lambda value: value.x):
        total += sum(value.y for value in values)
        points.append((end, total))
    return [Point(Interval(end), Interval(count / total)) for end, count in points if total > 0]


def _make_ticks(curves: Curves, maker: _Maker) -> None:
    """Makes the axis of completion times from the values along the curves: numbers if all values
    are numbers with one unit, otherwise words at 0, 1 and so on, in the order of the sweep."""
    numbers = [maker.number(run) for run in maker.runs]
    units = {number.unit if number else None for number in numbers}
    curves.words = len(units) != 1 or None in units
    for run, number in zip(maker.runs, numbers):
        key, value = maker.along.get(run.input), maker.value(run)
        text = label_of(maker.request.label, key, value)
        place = number.value if number and not curves.words else len(curves.ticks)
        if text is None:
            text = value
            if number and number.unit == "ns":
                text = re.sub(r"([pnum]?s)$", r" \1", value).replace("us", "µs")
        curves.ticks.setdefault(value, (text, place))
        curves.axis = last_part(key) if key is not None else curves.axis
    maker.places = {value: place for value, (_, place) in curves.ticks.items()}


def make_curves(runs: Runs) -> Curves:
    request, maker = runs.request, _Maker(runs)
    flits, released = request.unit == "flits", request.by == "release"
    curves = Curves(request.kind, [], flits, released, request.latency)
    curves.real_clock = runs.runs[0].real_clock
    if request.kind == "blocked-time" and len({run.real_clock for run in runs.runs}) > 1:
        what = "blocked times from the real and the virtual clock"
        raise Error(f"{what} cannot be compared")
    parts = grouped(runs.runs, maker.rest).values()
    if len(parts) > CURVES_MAX:
        raise Error(f"more than {CURVES_MAX} curves; select some with --where KEY=VALUE")
    if request.kind == "completion":
        _make_ticks(curves, maker)
    curves.curves = [maker.curve(part) for part in parts]
    groups = grouped(runs.runs, lambda run: (run.input, *run.vary.items()))
    seeds = max(map(len, groups.values()))
    curves.intervals = seeds > 1 and request.kind != "latency-cdf"
    curves.over = f"{seeds} seeds"
    for index, curve in enumerate(curves.curves if curves.words else ()):
        for point in curve.points:  # points at one word are drawn side by side
            shift = (index - (len(parts) - 1) / 2) * 0.5 / len(parts)
            point.x = Interval(point.x.mean + shift)
    _describe(curves, runs, seeds)
    return curves


def _describe(curves: Curves, runs: Runs, seeds: int) -> None:
    """Returns what all runs share, such as "fat tree, 432 hosts, uniform, 5 seeds"."""
    sets = (
        {run.network for run in runs.runs},
        {f"{run.hosts} host{'s' * (run.hosts != 1)}" if run.hosts else "" for run in runs.runs},
        {run.traffic for run in runs.runs},
    )
    parts = [text for texts in sets if len(texts) == 1 for text in texts]
    parts += [f"{seeds} seeds"] if seeds > 1 else []
    curves.network = ", ".join(filter(None, parts))
    known = sorted({run.seed for run in runs.runs if isinstance(run.seed, int)})
    versions = sorted({run.version for run in runs.runs if isinstance(run.version, str)})
    curves.about = {
        "inputs": ", ".join(runs.inputs),
        "seeds": ", ".join(map(str, known)),
        "version": ", ".join(versions),
        "intervals": curves.interval_text if curves.intervals else "",
    }
