# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The definition of a figure or table of a paper (docs/how-to/reproduce-a-figure.md).

A definition has a base run file, the changes of it for each network, case and algorithm, and the
measure. A file has one definition ("reproduce/1") or all of a paper ("paper/1"). In the changes, {n}
stands for the number of the network's instance, from 1, {n*47} for 47 times that, and {here} for the
folder of the file.
"""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..error import Error
from ..quantity import KINDS, Kind, format_kind, parse_kind
from ..yaml_nodes import Pairs, Reader, compose

FORMAT, PAPER_FORMAT = "reproduce/1", "paper/1"
LIST_MAX = 32
COPIES_MAX = 100
MESSAGES_MAX = 100_000_000  # per run
LOADS_MAX = 100
PS_PER_US = 10**6
_, TIME, SIZE, SHARE = KINDS

# Measures of runs that last for a number of messages.
SATURATION = "saturation-throughput"  # maximum accepted traffic, flits/ns/switch
LATENCY = "latency"  # mean network latency at a load, ns
WAITING = "waiting"  # own messages at the host with the most of them, at the end
LINKS = "links"  # utilisation of switch-to-switch channels
BLOCKED = "blocked"  # share of time for which STOP holds such a channel
SETTLING = "settling"  # mean latency so far against the mean of the whole run
# Measures of runs that last as long as their file says; all curves are measured.
EFFICIENCY = "efficiency"  # accepted over time, around a hot spot
THROUGHPUT = "throughput"  # accepted at each of several loads
# The same, one number per run. The titles are for axes of pictures.
COMPLETION, WORST_SWITCH, WORST_LINK = "completion", "worst-switch", "worst-link"
FIRST_BURST, LATENCY_TIME, LOST_TRAFFIC = "first-burst", "latency-time", "lost-traffic"
VICTIMS, VICTIMS_P99, SLOWDOWN = "victims", "victims-p99", "flow-slowdown"
RUN_TITLES = {
    COMPLETION: "Time of the schedule [ms]",
    "accepted": "Accepted, share of the hosts' links",
    "total-latency": "Mean latency from generation [us]",
    WORST_SWITCH: "Mean waiting time of the worst switch [us]",
    WORST_LINK: "Utilisation of the worst link",
    FIRST_BURST: "Mean latency of the first burst [us]",
    "later-bursts": "Mean latency of the later bursts [us]",
    LATENCY_TIME: "Mean network latency [us]",
    LOST_TRAFFIC: "Traffic lost after the event, as time at the rate before [us]",
    VICTIMS: "Accepted of what traffic[0] offers",
    VICTIMS_P99: "Latency of traffic[0], p99 [us]",
    SLOWDOWN: "Slowdown of flows, p99",
}
COUNTING = (SATURATION, LATENCY, WAITING, LINKS, BLOCKED, SETTLING)
MEASURES = (*COUNTING, EFFICIENCY, THROUGHPUT, *RUN_TITLES)


@dataclass
class Choice:
    """A network, case or algorithm, and its changes of the run file."""

    name: str = ""
    set: list[str] = field(default_factory=list)  # KEY=VALUE
    n: int = 1  # instances of a network
    load: int = 0  # ppm, in place of the definition's; the case's takes precedence. 0: not given
    traffic: float = 0.0  # a case's load in flits/ns/switch; 0: not given

    def varies(self) -> bool:
        """Whether its changes differ between the instances."""
        return any("{n" in text for text in self.set)

    def sets(self, instance: int) -> list[str]:
        """The changes for an instance, from 1."""
        return [expand(text, instance) for text in self.set]


def expand(text: str, instance: int) -> str:
    """The text with what {n} stands for.

    >>> expand("seed={n},hosts=[h{n*47}]", 2)
    'seed=2,hosts=[h94]'
    """
    return re.sub(r"\{n(?:\*([0-9]{1,4}))?\}", lambda at: str(instance * int(at[1] or 1)), text)


@dataclass
class Quick:
    """What --quick changes."""

    networks: str = ""  # "A,B"; "": all
    cases: str = ""
    algorithms: str = ""
    n: int = 2  # upper bound on the instances of each network
    loads: int = 4
    unit: int = 10**9
    warmup: int = 20000
    messages: int = 20000
    tolerance: int = 400000
    set: list[str] = field(default_factory=list)


@dataclass
class Schedule:
    """A GOAL schedule that is generated before the runs; the first entry of traffic replays it."""

    kind: str = ""
    ranks: int = 0
    rounds: int = 1
    bytes: int = 0
    calc: int = 0  # ps
    path: str = ""  # once it is made


@dataclass
class Definition:
    """The defaults are the thesis' methods (its section 4.6)."""

    name: str = ""
    origin: str = ""  # for messages
    paper: str = ""
    place: str = ""
    title: str = ""
    missing: str = ""  # why it cannot be run; then nothing below is set
    members: list[str] = field(default_factory=list)  # groups only
    time: str = ""  # for people
    quick_time: str = ""
    measure: str = ""
    axis: str = "share"
    latency: bool = False  # a throughput has a picture of the latency as well
    means: bool = False  # tables in Markdown have means over instances
    curves: bool = False  # latency against traffic, a picture for each network and case
    run: str = ""
    published: str = ""
    load: int = 100000  # ppm; where the search starts, or the load
    loads: int = 10
    unit: int = 10**9  # ps that stand for a ms of the paper
    schedule: Schedule = field(default_factory=Schedule)
    tolerance: int = 100000  # ppm of the published means
    order: int = 20000  # ppm; published means closer than this have no order
    warmup: int = 200000
    messages: int = 200000
    latency_limit: int = 0  # ps; above it a network is saturated. 0: any latency
    networks: list[Choice] = field(default_factory=list)
    cases: list[Choice] = field(default_factory=list)
    algorithms: list[Choice] = field(default_factory=list)
    quick: Quick = field(default_factory=Quick)
    instances: int = 0  # that --instances set
    also: list[str] = field(default_factory=list)  # changes of --quick
    defined: tuple[int, int, int] = (0, 0, 0)  # warmup, messages and latency_limit of the file

    @property
    def counts_messages(self) -> bool:
        """Whether a run lasts for a number of messages, not as long as its file says."""
        return self.measure in COUNTING

    @property
    def measures_run(self) -> bool:
        """Whether the measure is one number of a run as its file says."""
        return self.measure in RUN_TITLES

    @property
    def measures_links(self) -> bool:
        """Whether the measure is one of each channel between switches."""
        return self.measure in (LINKS, BLOCKED)

    @property
    def unit_ns(self) -> float:
        """The paper's ms in ns."""
        return self.unit / 1000

    @property
    def lists(self) -> tuple[list[Choice], list[Choice], list[Choice]]:
        """Networks, cases and algorithms."""
        return self.networks, self.cases, self.algorithms

    def has_instances(self) -> bool:
        """Whether some change has {n}."""
        return any(choice.varies() for choices in self.lists for choice in choices)

    def reduce(self) -> None:
        """Keeps only the parts that --quick uses."""
        quick = self.quick
        for choices, words in zip(self.lists, (quick.networks, quick.cases, quick.algorithms)):
            if not keep(choices, words):
                raise Error(f"{self.origin}: quick: '{words}' matches nothing")
        for network in self.networks:
            network.n = min(network.n, quick.n)
        self.warmup, self.messages = quick.warmup, quick.messages
        self.loads, self.unit, self.also = quick.loads, quick.unit, quick.set
        self.tolerance = self.order = quick.tolerance

    def set_instances(self, count: int) -> None:
        """That many instances of each network that has any."""
        everywhere = any(c.varies() for choices in self.lists[1:] for c in choices)
        found = [network for network in self.networks if everywhere or network.varies()]
        if not found:
            raise Error(f"{self.origin}: --instances: expected a definition with {{n}}, found none")
        for network in found:
            network.n = count
        self.instances = count

    def _expect_messages(self, option: str) -> None:
        if not self.counts_messages:
            raise Error(
                f"{self.origin}: {option}: expected a definition whose runs count messages, found "
                f"the measure '{self.measure}', whose runs last as long as {self.run} says"
            )

    def set_warmup(self, messages: int) -> None:
        """Messages before those that are measured."""
        self._expect_messages("--warmup")
        if messages > 0 and self.measure == SETTLING:
            raise Error(
                f"{self.origin}: --warmup: expected 0, found {messages}: the measure 'settling' "
                "begins with the first message"
            )
        self.warmup = messages

    def set_messages(self, messages: int) -> None:
        """Messages that are measured."""
        self._expect_messages("--messages")
        self.messages = messages

    def set_latency_limit(self, limit: int) -> None:
        """The mean latency in ps above which a network is saturated."""
        if self.measure != SATURATION:
            raise Error(
                f"{self.origin}: --latency-limit: expected a definition that measures saturation-throughput, "
                f"found the measure '{self.measure}'"
            )
        self.latency_limit = limit

    def select(self, words: str) -> None:
        """Keeps the networks, cases and algorithms of "A,B"; a list that has none of them is kept
        whole."""
        names = {choice.name for choices in self.lists for choice in choices} - {""}
        if not set(words.split(",")) <= names:
            raise Error(
                f"{self.name}: '{words}' has a word that is not one of its networks, cases or algorithms"
            )
        for choices in self.lists:
            keep(choices, words)


def keep(choices: list[Choice], words: str) -> bool:
    """Keeps those that the words name. False, and all of them: there are none."""
    found = [choice for choice in choices if choice.name in words.split(",")]
    if words and found:
        choices[:] = found
    return bool(found) or not words


Read = Callable[["_Reader", str, Any], Any]


def _text(reader: _Reader, key: str, node: Any) -> str:
    return str(reader.expect(node, "scalar", key))


def _number(low: int, high: int) -> Read:
    def read(reader: _Reader, key: str, node: Any) -> int:
        text = _text(reader, key, node)
        if re.fullmatch("[0-9]{1,20}", text) and low <= int(text) <= high:
            return int(text)
        raise reader.refuse(node, f"'{key}: {text}': expected a whole number from {low} to {high}")

    return read


EXPECTED = {
    "ns": "a time with its unit, such as 30ns (ps, ns, us, ms, s)",
    "bytes": "a size with its unit, such as 128KiB (B, KiB, MiB)",
    "share": "a percentage, such as 75% (at most four digits after the point)",
}


def _quantity(kind: Kind, low: int = 0, high: int = 2**64 - 2) -> Read:
    def read(reader: _Reader, key: str, node: Any) -> int:
        text = _text(reader, key, node)
        value = parse_kind(kind, text)
        if value is None:
            raise reader.refuse(node, f"'{key}: {text}': expected {EXPECTED[kind.unit]}")
        if not low <= value <= high:
            ends = f"from {format_kind(kind, low)} to {format_kind(kind, high)}"
            raise reader.refuse(node, f"'{key}: {text}': expected {ends}")
        return value

    return read


def _choice(*known: str) -> Read:
    def read(reader: _Reader, key: str, node: Any) -> str:
        text = _text(reader, key, node)
        if text not in known:
            raise reader.refuse(node, f"'{key}: {text}': expected one of {', '.join(known)}")
        return text

    return read


def _measure(reader: _Reader, key: str, node: Any) -> str:
    former = "productivity"  # the thesis' word, which was the name up to 0.1
    return SATURATION if node == former else str(_choice(*MEASURES)(reader, key, node))


def _bool(reader: _Reader, key: str, node: Any) -> bool:
    return bool(_choice("false", "true")(reader, key, node) == "true")


def _traffic(reader: _Reader, key: str, node: Any) -> float:
    text = _text(reader, key, node)
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1000:
        raise reader.refuse(node, "expected flits/ns/switch, such as 0.015")
    return value


def _list(read: Read) -> Read:
    def read_all(reader: _Reader, key: str, node: Any) -> list[Any]:
        nodes = reader.expect(node, "sequence", key)
        if not 1 <= len(nodes) <= LIST_MAX:
            raise reader.refuse(node, f"expected 1 to {LIST_MAX} of them")
        return [read(reader, key, one) for one in nodes]

    return read_all


def _sets(reader: _Reader, key: str, node: Any) -> list[str]:
    here = os.path.dirname(reader.path) or "."
    sets = []
    for one in reader.expect(node, "sequence", key):
        text = str(reader.expect(one, "scalar"))
        if "=" not in text:
            raise reader.refuse(one, "expected KEY=VALUE")
        sets.append(text.replace("{here}", here, 1))
    return sets


def _section(make: type, table: dict[str, Read], *required: str) -> Read:
    def read(reader: _Reader, key: str, node: Any) -> Any:
        pairs = reader.map(node, key)
        return make(**reader.fields(node, pairs, table, required))

    return read


COPIES, MESSAGES, LOADS = _number(1, COPIES_MAX), _number(1, MESSAGES_MAX), _number(1, LOADS_MAX)
WARMUP, UNIT, ANY_SHARE = _number(0, MESSAGES_MAX), _quantity(TIME, PS_PER_US), _quantity(SHARE)
CHOICE: dict[str, Read] = {
    "name": _text,
    "set": _sets,
    "n": COPIES,
    "load": _quantity(SHARE, 0, 10**6),
    "traffic": _traffic,
}
QUICK: dict[str, Read] = {
    "networks": _text,
    "cases": _text,
    "algorithms": _text,
    "n": COPIES,
    "loads": LOADS,
    "unit": UNIT,
    "warmup": WARMUP,
    "messages": MESSAGES,
    "tolerance": ANY_SHARE,
    "set": _sets,
}
SCHEDULE: dict[str, Read] = {
    "kind": _text,
    "ranks": _number(2, 65534),
    "rounds": MESSAGES,
    "bytes": _quantity(SIZE, 0, 2**32 - 1),
    "calc": _quantity(TIME),
}
CHOICES = _list(_section(Choice, CHOICE, "name"))
HEAD: dict[str, Read] = {"weft": _text, "paper": _text, "place": _text, "title": _text}
GROUP: dict[str, Read] = {**HEAD, "time": _text, "quick-time": _text, "members": _list(_text)}
WHOLE: dict[str, Read] = {
    **HEAD,
    "time": _text,
    "quick-time": _text,
    "measure": _measure,
    "axis": _choice("share", "bits/us"),
    "latency": _bool,
    "means": _bool,
    "curves": _bool,
    "run": _text,
    "published": _text,
    "load": _quantity(SHARE, 1, 10**6),
    "loads": LOADS,
    "unit": UNIT,
    "schedule": _section(Schedule, SCHEDULE, "kind", "ranks", "bytes"),
    "tolerance": ANY_SHARE,
    "order": ANY_SHARE,
    "warmup": WARMUP,
    "messages": MESSAGES,
    "latency-limit": _quantity(TIME),
    "networks": CHOICES,
    "cases": CHOICES,
    "algorithms": CHOICES,
    "quick": _section(Quick, QUICK),
}
WHOLE_REQUIRED = ("time", "measure", "run", "published", "networks", "algorithms")


class _Reader(Reader):
    def fields(
        self, node: Any, pairs: Pairs, table: dict[str, Read], required: Sequence[str]
    ) -> dict[str, Any]:
        """The values of a map by their names in Python."""
        self.only(pairs, table)
        for key in required:
            if key not in pairs:
                raise self.refuse(node, f"key '{key}' is missing")
        found = {key: table[key](self, key, value) for key, (_, value) in pairs.items()}
        return {key.replace("-", "_"): value for key, value in found.items()}

    def no_warmup(self, section: Any, found: Any) -> None:
        """A run whose mean is to settle has no warm-up; a section that has one is refused."""
        given = self.map(section).get("warmup") if section is not None else None
        if given is not None and found.warmup > 0:
            raise self.refuse(
                given[1], "expected 0: the measure 'settling' begins with the first message"
            )
        found.warmup = 0

    def definition(self, node: Any, inherited: dict[str, str]) -> Definition:
        """A definition; 'inherited' is what the file has for all of them."""
        pairs = self.map(node)
        table, required = WHOLE, [*WHOLE_REQUIRED]
        if "missing" in pairs:
            table, required = {**HEAD, "missing": _text}, ["missing"]
        elif "members" in pairs:
            table, required = GROUP, ["time", "members"]
        needed = [k for k in ("paper", "place", "title", *required) if k not in inherited]
        found = self.fields(node, pairs, table, needed)
        found.pop("weft", None)
        whole: dict[str, Any] = {**inherited, **found, "origin": self.path}
        made = Definition(**whole)
        if made.measure == SETTLING:
            self.no_warmup(node, made)
            self.no_warmup(pairs["quick"][1] if "quick" in pairs else None, made.quick)
        here = os.path.dirname(self.path)
        made.run, made.published = (os.path.join(here, p) for p in (made.run, made.published))
        made.cases = made.cases or [Choice()]
        made.defined = made.warmup, made.messages, made.latency_limit
        return made


def load(path: str, only: str = "") -> list[Definition]:
    """The definitions of a file, or the one that 'only' names."""
    reader, root = _Reader(path), compose(path)
    if reader.form(root, FORMAT, PAPER_FORMAT) == FORMAT:
        found = reader.definition(root, {})
        found.name = os.path.splitext(os.path.basename(path))[0]
        return [found]
    pairs = reader.map(root)
    reader.only(pairs, ("weft", "paper", "published", "definitions"))
    for key in ("paper", "definitions"):
        if key not in pairs:
            raise reader.refuse(root, f"key '{key}' is missing")
    shared = {
        key: _text(reader, key, pairs[key][1]) for key in ("paper", "published") if key in pairs
    }
    made = []
    for name, (_, node) in reader.map(pairs["definitions"][1], "definitions").items():
        if only not in ("", name):
            continue
        made.append(reader.definition(node, shared))
        made[-1].name, made[-1].origin = name, f"{path}: {name}"
    return made
