# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The figures of an experiment on the axes of the original.

One picture for each network and case: latency against accepted traffic in flits/ns/switch, efficiency
against time, throughput and latency against load, latency against time, utilisation of links by rank.
Values of runs and waiting messages are bars, all cases of a network in one picture; those of the worst
link and switch have a picture of each case as well: bars of the most used links, and maps. Curves are
means over the instances, except latency against traffic and links by rank: each instance has loads and
links of its own, so these show the first one.
"""
import errno
import itertools
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..asker import Asker
from ..error import Error, Exit
from ..files import make_folder, write_file
from ..plot.curves import Curve, Curves, Point
from ..quantity import NAN, Interval, mean_of
from . import definition as d
from .comparison import link_value
from .courses import number
from .definition import Definition
from .trial import ACCEPTS_LESS, Stage, Trial, is_between_switches

KINDS = {
    d.EFFICIENCY: "efficiency-time",
    d.THROUGHPUT: "throughput-load",
    d.LATENCY_TIME: "latency-time",
    d.LINKS: "link-load",
    d.BLOCKED: "blocked-time",
}
LINKS_SHOWN = 10
NOTHING = Interval(0.0)
Values = Callable[[Trial], Sequence[float]]


@dataclass
class Bundle:
    """Returns the trials of one curve by instance, without those that failed."""

    label: str
    trials: list[Trial]
    wanted: int  # including those that failed

    def named(self, count: int) -> str:
        """Returns the label, with the number of instances if some are missing."""
        return self.label + (f" ({count} of {self.wanted})" if count < self.wanted else "")

    def columns(self, values: Values) -> list[tuple[float, ...]]:
        """Returns the numbers of all instances side by side; NaN where an instance has none."""
        return [*itertools.zip_longest(*map(values, self.trials), fillvalue=NAN)]

    def means(self, name: str, key: str, scale: float) -> list[Interval]:
        """Returns the means of a number in the entries of a list in the results."""
        columns = self.columns(
            lambda trial: [scale * number(one, key) for one in trial.result.get(name) or []]
        )
        return [mean_of(column) for column in columns]

    def list(self, name: str) -> list[Any]:
        return self.trials[0].result.get(name) or []


def _each(name: str) -> Values:
    return lambda trial: [getattr(point, name) for point in trial.points]


def _total(trial: Trial) -> Sequence[float]:
    """Values measured before a deadlock do not represent the latency at this load."""
    return [p.total_ns if p.total_ns > 0 and not p.ended_early else NAN for p in trial.points]


def _series(key: str) -> Values:
    """Returns samples in which 0 means that nothing was measured."""

    def values(trial: Trial) -> Sequence[float]:
        if trial.definition.measure == d.EFFICIENCY:
            return [getattr(sample, key) for sample in trial.transient.samples]
        found = [number(sample, key) for sample in trial.result.get("series") or []]
        return [value if value > 0 else NAN for value in found]

    return values


def _over_loads(bundle: Bundle, y: Values) -> list[Point]:
    """Returns means at each nominal load, because offered traffic differs slightly between
    instances. A load at which an instance lacks the number has no mean, which would only cover the
    better instances."""
    points = []
    columns = map(bundle.columns, (y, _each("accepted"), _each("offered")))
    for load, values, *traffic in zip(_each("load")(bundle.trials[0]), *columns):
        mean = Interval(NAN) if any(map(math.isnan, values)) else mean_of(values)
        accepted, offered = (mean_of(column).mean for column in traffic)
        points.append(Point(Interval(load), mean, NOTHING, accepted < ACCEPTS_LESS * offered))
    return points


def _latencies(trial: Trial) -> list[Point]:
    points = []
    for one in sorted(trial.points, key=lambda point: point.load):
        hollow = one.accepted < ACCEPTS_LESS * one.offered
        if trial.definition.measure == d.SATURATION:
            hollow = trial.accepts_less(one)
        if one.flits_per_ns_per_switch > 0:
            numbers = (one.flits_per_ns_per_switch, one.total_ns, one.network_ns)
            x, y, y2 = map(Interval, numbers)
            points.append(Point(x, y, y2, hollow))
    return points


def _points(kind: str, bundle: Bundle) -> list[Point]:
    first = bundle.trials[0]
    if kind in ("throughput-load", "latency-load"):
        return _over_loads(bundle, _each("accepted") if kind == "throughput-load" else _total)
    if kind in ("efficiency-time", "latency-time"):
        key = "accepted" if kind == "efficiency-time" else "released_latency_ns"
        columns = zip(_series("t_ns")(first), bundle.columns(_series(key)))
        return [Point(Interval(time), mean_of(column), NOTHING) for time, column in columns]
    if first.copy > 0:
        return []
    if kind == "latency-throughput":
        return _latencies(first)
    # The links between switches by utilisation, the highest first, as in the thesis.
    links = filter(is_between_switches, first.links)
    uses = sorted((link_value(first.definition, link) for link in links), reverse=True)
    return [Point(Interval(rank), Interval(use), NOTHING) for rank, use in enumerate(uses, 1)]


def has_bars(what: Definition) -> bool:
    return what.measure == d.WAITING or what.measures_run and what.measure != d.LATENCY_TIME


def wanted(what: Definition) -> bool:
    return what.curves or what.measures_links or not what.counts_messages or has_bars(what)


def check_folder(folder: str) -> None:
    """Creates the folder, so that an Error is raised before runs that take hours."""
    make_folder(folder, "-o ")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Error(f"-o {folder}: {os.strerror(errno.EACCES)}", Exit.NOT_ABLE)


class Figures:
    """The figures of an experiment: names, and curves that are not empty."""

    def __init__(self, what: Definition, trials: Sequence[Trial], asker: Asker) -> None:
        self.what, self.trials, self.asker = what, trials, asker

    def _bundles(self, network: str, case: str) -> Iterator[Bundle]:
        for algorithm in self.what.algorithms:
            own = [one for one in self.trials if one.names == (network, case, algorithm.name)]
            done = [trial for trial in own if trial.stage == Stage.DONE and trial.points]
            if done:
                yield Bundle(algorithm.name, done, len(own))

    def _curves(self, kind: str, quantity: str = "") -> Curves:
        found = Curves(kind, flits=True, quantity=quantity, hollow="accepts less than offered")
        found.normalised = not quantity
        if not quantity and self.what.axis == "bits/us":
            found.bits_per_us = self.trials[0].bytes_per_s * 8 / 1e6
        return found

    def _add(self, curves: Curves, bundle: Bundle, points: list[Point]) -> None:
        if points:
            curves.curves.append(Curve(bundle.named(len(bundle.trials)), points))
            curves.intervals = curves.intervals or len(bundle.trials) > 1

    def _lines(self, kind: str, network: str, case: str) -> Curves:
        curves = self._curves(kind)
        for bundle in self._bundles(network, case):
            self._add(curves, bundle, _points(kind, bundle))
        return curves

    def _bars(self, network: str) -> Curves:
        """Draws bars. A curve's label comes from the case that lacks the most instances."""
        title = d.RUN_TITLES.get(self.what.measure, "Messages waiting at the host with most")
        curves = self._curves("bars", title)
        curves.groups = [case.name for case in self.what.cases]
        made = {algorithm.name: Curve("") for algorithm in self.what.algorithms}
        counts = dict.fromkeys(made, len(self.trials) + 1)
        for place, case in enumerate(curves.groups):
            for bundle in self._bundles(network, case):
                values = [one.value for one in bundle.trials if not math.isnan(one.value)]
                curve, count = made[bundle.label], len(values)
                curve.points.append(Point(Interval(place), mean_of(values), NOTHING))
                if count < counts[bundle.label]:
                    counts[bundle.label], curve.label = count, bundle.named(count)
                curves.intervals = curves.intervals or len(bundle.trials) > 1
        curves.curves = [curve for curve in made.values() if curve.points]
        return curves

    def _link_bars(self, network: str, case: str) -> Curves:
        """Draws the load of the links that the first algorithm uses most, for every algorithm."""
        curves = self._curves("bars", "Utilisation of links [%]")
        chosen: list[int] = []
        for bundle in self._bundles(network, case):
            uses = bundle.means("links", "utilisation", 100)
            if not chosen:
                links = bundle.list("links")
                between = [at for at, link in enumerate(links) if is_between_switches(link)]
                chosen = sorted(between, key=lambda at: -uses[at].mean)[:LINKS_SHOWN]
                curves.groups = [f"{links[at]['from']} to {links[at]['to']}" for at in chosen]
            known = [uses[link] if link < len(uses) else Interval(NAN) for link in chosen]
            points = [Point(Interval(at), use, NOTHING) for at, use in enumerate(known)]
            self._add(curves, bundle, points)
        return curves

    def _map(self, network: str, case: str) -> Curves:
        """Draws the mean waiting time of each switch at its position in a 2D mesh or torus."""
        curves = self._curves("maps", "Mean waiting time of each switch [µs]")
        bundles = list(self._bundles(network, case))
        if not bundles:
            return curves
        first = bundles[0].trials[0]
        run, sets = first.definition.run, first.overrides()
        places = self.asker.ask("network", file=run, overrides=sets, places=True)["places"]
        for bundle in bundles if places else ():
            points = []
            waits = bundle.means("switches", "waiting_ns", 1e-3)
            for entry, wait in zip(bundle.list("switches"), waits):
                if entry.get("switch") in places:
                    x, y = map(Interval, places[entry["switch"]])
                    points.append(Point(x, y, wait))
            self._add(curves, bundle, points)
        return curves

    def _all(self) -> Iterator[tuple[str, str, str, Curves]]:
        what, measure = self.what, self.what.measure
        for network in (network.name for network in what.networks):
            if has_bars(what):
                yield network, "", "", self._bars(network)
            for case in (case.name for case in what.cases):
                if not has_bars(what):
                    kind = KINDS.get(measure, "latency-throughput")
                    yield network, case, "", self._lines(kind, network, case)
                if what.latency:
                    yield network, case, "latency", self._lines("latency-load", network, case)
                if measure == d.WORST_LINK:
                    yield network, case, "links", self._link_bars(network, case)
                if measure == d.WORST_SWITCH:
                    yield network, case, "map", self._map(network, case)

    def __iter__(self) -> Iterator[tuple[str, Curves]]:
        for network, case, part, curves in self._all():
            if not curves.curves:
                continue
            names = ", ".join(filter(None, (network[:31], case[:30])))
            source = f"{self.what.paper}, {self.what.place}: "
            curves.network = names if self.what.place.startswith("none") else source + names
            name = "-".join(filter(None, (self.what.name, network, case, part)))
            yield re.sub(r"[^A-Za-z0-9./]", "-", name), curves


def draw(what: Definition, trials: Sequence[Trial], asker: Asker, folder: str) -> Iterator[str]:
    """Draws NAME-NETWORK-CASE-PART.png into the folder. Yields the names of the files."""
    for name, curves in Figures(what, trials, asker):
        from ..plot.sheet import draw_sheet, save_options  # matplotlib is slow to import

        curves.about = {"inputs": what.name, "version": asker.ask("about")["version"]}
        path, page = f"{folder}/{name}.png", replace(what.size)
        write_file(path, draw_sheet(curves, page).picture(save_options(curves, page, "png")))
        yield path
