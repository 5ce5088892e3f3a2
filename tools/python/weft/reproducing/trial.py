# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""One algorithm in one case on one instance of a network, and the points that measure it, one after
another because the result of a point decides where a search continues."""
import enum
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..asker import Asker, Overrides
from ..error import Error
from ..quantity import NAN, mean_of
from . import definition as d
from .courses import Settling, Transient, number, transient_of
from .definition import Choice, Definition
from .published import FACTORS, Row

STEP = 1.025  # ratio between two loads of a search
MIN_LOAD = 0.001  # at step 0, a share of the hosts' links
STRIDE = 3  # the first one: 7.7 %
ACCEPTS_LESS = 0.97  # sources with random intervals offer a few percent more or less in a short run
# A search with this many messages per run starts with runs of a tenth of them: most points are far
# from its end, and a short run is exact enough for those.
SCOUTED_FROM, SCOUT_SHARE = 100000, 10
SETTLING_SAMPLES = 2000  # 100 messages each, as in the thesis
ENTRIES_MAX = 4  # entries of traffic whose load each point sets
# Loads of a curve, in steps of the search below saturation, and one above it.
CURVE_STEPS = (-90, -60, -42, -30, -22, -15, -10, -6, -3, 2)


def accepts_less(offered: float, accepted: float, messages: int) -> bool:
    """Returns whether a network accepts less than offered by more than 1 / sqrt(messages), or by
    more than ACCEPTS_LESS allows: short runs end with a larger share of their messages in flight.
    Accepting more than offered, while a backlog drains, proves nothing."""
    return accepted < offered * max(ACCEPTS_LESS, 1 - 1 / math.sqrt(messages))


def load_of(step: int) -> float:
    return MIN_LOAD * STEP**step


class Search:
    """The maximum traffic that a network accepts before it accepts less than offered: the
    productivity of docs/how-to/reproduce-a-figure.md. Tries loads on a grid: first away from the
    initial guess, in growing strides, until one accepted load and one that is not are known, then
    by bisection."""

    LAST = math.floor(math.log(1 / MIN_LOAD) / math.log(STEP) + 1e-9)

    def __init__(self, load: float, messages: int, stride: int = STRIDE) -> None:
        step = math.floor(math.log(max(load / MIN_LOAD, 1)) / math.log(STEP) + 1e-9)
        self.at = min(step, self.LAST)  # next to try
        self.messages, self.stride = messages, stride
        self.low = self.high = -1  # highest step that was accepted, lowest one that was not
        self.traffic = 0.0  # accepted at 'low'
        self.done = False

    def verify(self, messages: int) -> "Search":
        """Returns a search that starts at the answer, with strides of one step and longer runs."""
        return Search(load_of(max(self.low, 0)), messages, 1)

    @property
    def load(self) -> float:
        return load_of(self.at)

    def take(self, offered: float, accepted: float, traffic: float) -> None:
        if accepts_less(offered, accepted, self.messages):
            self.high = self.at
        else:
            self.low, self.traffic = self.at, traffic
        found = self.low >= 0 and self.high == self.low + 1
        self.done = self.low == self.LAST or self.high == 0 or found
        if self.done:
            return
        if self.low >= 0 and self.high >= 0:
            self.at = self.low + (self.high - self.low) // 2
            return
        to = self.low + self.stride if self.high < 0 else self.high - self.stride
        self.at = min(max(to, 0), self.LAST)
        self.stride *= 2


class Point(NamedTuple):
    """The result of a run. 'ended_early': by a deadlock; nothing counts as accepted."""

    load: float  # requested, as a share of the hosts' links
    offered: float
    accepted: float
    flits_per_ns_per_switch: float  # accepted
    network_ns: float
    total_ns: float
    completion_ms: float  # schedules only; NaN: it did not end
    dropped: int  # messages
    waiting: int  # messages at the host with the most, at the end
    deadlock: bool
    ended_early: bool


def read_point(load: float, result: dict[str, Any]) -> Point:
    """Reads a point from a result. Frames count when they are released in order, as in the
    published tables; unmeasured values count as 0. KeyError, TypeError, ValueError: bad result."""
    throughput, latency, counts = result["throughput"], result["latency_ns"], result.get("counters")
    counts = counts if isinstance(counts, dict) else {}
    deadlock, early = result["checks"]["deadlock"], result["incomplete"]
    if not isinstance(deadlock, bool) or not isinstance(early, bool):
        raise TypeError
    accepted, traffic = (throughput[key] or 0 for key in ("released", "flits_per_ns_per_switch"))
    ended = not counts.get("goal_unfinished")
    return Point(
        load,
        float(throughput["offered"]),
        0.0 if early else float(accepted),
        0.0 if early else float(traffic),
        float(latency["network_released"]["mean"] or 0),
        float(latency["total_released"]["mean"] or 0),
        number(counts, "goal_completion_ns") / 1e6 if ended else NAN,
        int(result["messages"]["dropped"]) + int(counts.get("itb_discarded") or 0),
        int(counts.get("host_messages_waiting_most") or 0),
        deadlock,
        early,
    )


class Stage(enum.Enum):
    MEASURE = 0
    CURVE = 1
    DONE = 2
    FAILED = 3


@dataclass
class Trial:
    """The settings of a trial and its measurements."""

    definition: Definition
    network: Choice
    case: Choice
    algorithm: Choice
    copy: int  # from 0
    stage: Stage = Stage.MEASURE
    hosts: int = 0
    switches: int = 0
    entries: int = 0  # in the run's traffic
    bytes_per_s: float = 0.0  # rate of a host's link
    message_bytes: float = 0.0  # mean
    scouting: bool = False  # the search uses short runs, which only narrow the range
    curve_step: int = 0
    load: float = 0.0  # at the next point
    value: float = NAN  # the measure
    points: list[Point] = field(default_factory=list)  # excluding short runs
    # For figures: a run exactly as its file describes it.
    result: dict[str, Any] = field(default_factory=dict)
    links: list[Any] = field(default_factory=list)  # from a result, if the measure needs them
    transient: Transient = field(default_factory=Transient)
    settling: Settling = field(default_factory=Settling)
    search: Search = field(default_factory=lambda: Search(1.0, 1))
    fault: str = ""

    def prepare(self, asker: Asker) -> None:
        """Reads the network and its traffic. Raises an Error if the changes yield a bad run file."""
        what, overrides = self.definition, [("--set", self._choices())]
        efficiency = what.measure == d.EFFICIENCY
        about = asker.ask("network", file=what.run, overrides=overrides, hosts=efficiency)
        if efficiency:
            self.transient = transient_of(asker.run(what.run, overrides, whole=True), about)
        for key in ("hosts", "switches", "entries", "bytes_per_s", "message_bytes"):
            setattr(self, key, about[key])
        if what.counts_messages and self.entries != 1:
            raise Error(f"{what.run}: expected one entry of traffic")
        loaded = what.measure in (d.EFFICIENCY, d.THROUGHPUT)
        if loaded and not 0 < self.entries <= ENTRIES_MAX:
            raise Error(f"{what.run}: expected 1 to {ENTRIES_MAX} entries of traffic")
        searches = what.measure == d.SATURATION
        self.load = (self.case.load or self.network.load or what.load) / 1e6
        if what.measure == d.THROUGHPUT:
            self.load = 1.0 / what.loads
        elif self.case.traffic > 0:
            self.load = self.case.traffic * self.switches / (self.hosts * self.bytes_per_s / 1e9)
        self.scouting = searches and what.messages >= SCOUTED_FROM
        self.search = Search(self.load, what.messages // (SCOUT_SHARE if self.scouting else 1))
        if searches:
            self.load = self.search.load

    @property
    def is_over(self) -> bool:
        return self.stage in (Stage.DONE, Stage.FAILED)

    def fail(self, why: str) -> None:
        self.stage, self.fault = Stage.FAILED, why

    @property
    def label(self) -> str:
        """Returns, for example, "UD_ITB, 16 switches 3, uniform"."""
        network = self.network.name + (f" {self.copy + 1}" if self.network.n > 1 else "")
        return ", ".join(filter(None, (self.algorithm.name, network, self.case.name)))

    @property
    def names(self) -> tuple[str, str, str]:
        return self.network.name, self.case.name, self.algorithm.name

    def course(self) -> dict[str, float]:
        """Returns shares of the hosts' links, and the recovery time in the paper's ms (infinity:
        never): the paper's "less than 8 ms", and the same after the detector's 5 ms."""
        found, unit_ns = self.transient, self.definition.unit_ns
        return {
            "deliverable": found.deliverable,
            "before": found.before(),
            "minimum": found.minimum(),
            "at_8ms": found.at(8 * unit_ns),
            "at_13ms": found.at(13 * unit_ns),
            "end": found.end(),
            "back_ms": found.back_ns() / unit_ns,
        }

    def _choices(self) -> list[str]:
        choices = (self.network, self.case, self.algorithm, Choice(set=self.definition.also))
        return [text for choice in choices for text in choice.sets(self.copy + 1)]

    def _lengths(self) -> Iterable[str]:
        """Returns the time that the hosts need to generate that many messages."""
        what = self.definition
        per_s = self.hosts * self.load * self.bytes_per_s / self.message_bytes
        share = SCOUT_SHARE if self.scouting else 1
        counts = (what.warmup // share, what.messages // share)
        warmup, measured = (math.ceil(1e9 * messages / per_s) for messages in counts)
        samples = SETTLING_SAMPLES if what.measure == d.SETTLING else 1
        duration = warmup + max(measured, 1000)
        yield f"measure.warmup={warmup:.0f}ns"
        yield f"measure.duration={duration:.0f}ns"
        yield f"measure.sample={max(math.ceil(duration / samples), 1000):.0f}ns"

    def sets(self) -> list[str]:
        what, sets = self.definition, self._choices()
        loads = {d.EFFICIENCY: 0, d.THROUGHPUT: self.entries}.get(what.measure, 1)
        if what.measures_run:
            return sets + ([f"traffic.0.file={what.schedule.path}"] if what.schedule.path else [])
        sets += [f"traffic.{entry}.load={100 * self.load:.4f}%" for entry in range(loads)]
        return [*sets, *self._lengths()] if what.counts_messages else sets

    def overrides(self) -> Overrides:
        return [("--set", self.sets())]

    def accepts_less(self, point: Point) -> bool:
        """Returns whether a point accepts less than offered, or its latency is above the limit."""
        less = accepts_less(point.offered, point.accepted, self.definition.messages)
        return less or self._is_slow(point)

    def _is_slow(self, point: Point) -> bool:
        return point.deadlock or 0 < self.definition.latency_limit < point.network_ns * 1000

    def take(self, result: dict[str, Any]) -> bool:
        """Stores the result of the next point. Returns False if a required value is missing."""
        what, series = self.definition, result.get("series")
        try:
            point = read_point(self.load, result)
        except (KeyError, TypeError, ValueError, AttributeError):
            return False
        courses = {d.SETTLING: self.settling.take, d.EFFICIENCY: self.transient.take}
        if what.measure in courses:
            if not isinstance(series, list) or not courses[what.measure](series):
                return False
        self.points.append(point)
        if self.stage == Stage.CURVE:
            self._continue_curve()
        elif what.measure == d.SATURATION:
            self._search(point)
        else:
            self._measure(point, result)
        return True

    def _measure(self, point: Point, result: dict[str, Any]) -> None:
        what = self.definition
        self.value = measured(what.measure, point, result)
        if what.measure == d.THROUGHPUT and len(self.points) < what.loads:
            self.load = (len(self.points) + 1.0) / what.loads
            return
        if what.measures_links and not point.ended_early:
            self.links = result.get("links") or []
        if what.measures_run and not self.result:
            self.result = result
        self.stage = Stage.DONE

    def _search(self, point: Point) -> None:
        accepted = 0 if self._is_slow(point) else point.accepted
        self.search.take(point.offered, accepted, point.flits_per_ns_per_switch)
        if self.search.done and self.scouting:
            self.search = self.search.verify(self.definition.messages)
            self.scouting = False
            self.points = []
        self.load = self.search.load
        if self.search.done:
            self.value = self.search.traffic if self.search.low >= 0 else NAN
            self._continue_curve()

    def _continue_curve(self) -> None:
        """Starts the next point of a requested curve; only for the first instance."""
        self.stage = Stage.DONE
        if not self.definition.curves or self.copy > 0 or self.search.low < 0:
            return
        while self.curve_step < len(CURVE_STEPS):
            step = self.search.low + CURVE_STEPS[self.curve_step]
            self.curve_step += 1
            if 0 <= step <= self.search.LAST:
                self.load, self.stage = load_of(step), Stage.CURVE
                return


def is_between_switches(link: Any) -> bool:
    """Returns whether a link of a result is between switches; papers show only such links."""
    return all(str(link.get(end, "")).startswith("s") for end in ("from", "to"))


def _lost_us(result: dict[str, Any]) -> float:
    """Returns the largest deficit of accepted traffic since the first event, relative to the
    earlier mean; a backlog accepted later does not reduce it."""
    series, events = result.get("series") or [], result.get("events") or []
    at = number(events[0], "at_ns") if events else math.inf
    before = [number(sample, "accepted") for sample in series if number(sample, "t_ns") <= at]
    if not before or sum(before) == 0:
        return NAN
    mean, deficit, worst = sum(before) / len(before), 0.0, 0.0
    for sample in series[len(before) :]:
        deficit += (1 - number(sample, "accepted") / mean) * (number(sample, "t_ns") - at) / 1e3
        worst, at = max(worst, deficit), number(sample, "t_ns")
    return worst


def measured(measure: str, point: Point, result: dict[str, Any]) -> float:
    """Returns the value of a measure at one point; NaN or 0 if a deadlock ended the run."""
    series, links = result.get("series") or [], result.get("links") or []
    if measure in (d.EFFICIENCY, d.THROUGHPUT):
        return point.accepted
    if point.ended_early:
        return NAN
    first = (result.get("traffic") or [{}])[0]
    offered, accepted = (number(first, f"throughput.{key}") for key in ("offered", "accepted"))
    waits = [number(switch, "waiting_ns") for switch in result.get("switches") or []]
    uses = [number(link, "utilisation") for link in filter(is_between_switches, links)]
    # Each burst and each pause takes one sample, starting with a burst.
    bursts = [number(sample, "released_latency_ns") / 1e3 for sample in series[::2]]
    network_ns, total_ns = (ns if ns > 0 else NAN for ns in (point.network_ns, point.total_ns))
    return {
        d.LATENCY: network_ns,  # NaN: nothing arrived
        d.SETTLING: network_ns,
        d.WAITING: float(point.waiting),
        d.COMPLETION: point.completion_ms,
        "accepted": point.accepted,
        "total-latency": total_ns / 1e3,
        d.LATENCY_TIME: network_ns / 1e3,
        d.WORST_SWITCH: max(waits, default=NAN) / 1e3,
        d.WORST_LINK: max(uses, default=NAN),
        "first-burst": mean_of(bursts[:1]).mean,
        "lost-traffic": _lost_us(result),
        "victims": accepted / offered if offered > 0 else NAN,
        "victims-p99": number(first, "latency_ns.total.p99") / 1e3,
        "flow-slowdown": number(result, "flows.slowdown.p99"),
        "later-bursts": mean_of(bursts[1:]).mean,
    }.get(measure, point.flits_per_ns_per_switch)


def make(what: Definition, rows: list[Row], asker: Asker) -> list[Trial]:
    """Returns the trials that the rows need; the algorithms of a case are consecutive."""
    wanted = {(row.network, row.case, row.algorithm) for row in rows}
    wanted |= {(row.network, row.case, row.over) for row in rows if row.quantity in FACTORS}
    trials = [
        Trial(what, network, case, algorithm, copy)
        for network in what.networks
        for copy in range(network.n)
        for case in what.cases
        for algorithm in what.algorithms
        if not what.counts_messages or (network.name, case.name, algorithm.name) in wanted
    ]
    for trial in trials:
        trial.prepare(asker)
    return trials
