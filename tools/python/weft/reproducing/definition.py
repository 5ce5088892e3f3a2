# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The definition of a figure or table of a paper (docs/how-to/reproduce-a-figure.md).

A definition has a base run file, the changes of it for each network, case and algorithm, and the
measure. A file has one definition ("reproduce/1") or all of a paper ("paper/1"). In the changes, {n}
stands for the number of the network's instance, from 1, {n*47} for 47 times that, and {here} for the
folder of the file. The fields of the classes are the keys of the files, with the function that reads
their values.
"""
import os
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from ..error import Error
from ..files import Reader
from ..plot.page import Page, set_size
from ..quantity import SHARE, SIZE, TIME, Parse, choice, number, number_of, quantity

FORMAT, PAPER_FORMAT = "reproduce/1", "paper/1"
LIST_MAX = 32
COPIES_MAX = 100
MESSAGES_MAX = 100_000_000  # per run
LOADS_MAX = 100
PS_PER_US = 10**6

# Measures of runs that last for a number of messages.
SATURATION = "saturation-throughput"  # maximum accepted traffic, flits/ns/switch
LATENCY = "latency"  # mean network latency at a load, ns
WAITING = "waiting"  # own messages at the host with the most, at the end
LINKS = "links"  # utilisation of switch-to-switch channels
BLOCKED = "blocked"  # share of time for which STOP blocks such a channel
SETTLING = "settling"  # mean latency so far against the mean of the whole run
# Measures of runs whose file sets their length; all curves are measured.
EFFICIENCY = "efficiency"  # accepted over time, around a hot spot
THROUGHPUT = "throughput"  # accepted at each of several loads
# The same, one number per run. The titles are for the axes of figures.
COMPLETION, WORST_SWITCH, WORST_LINK = "completion", "worst-switch", "worst-link"
LATENCY_TIME = "latency-time"
RUN_TITLES = {
    COMPLETION: "Time of the schedule [ms]",
    "accepted": "Accepted, share of the hosts' links",
    "total-latency": "Mean latency from generation [us]",
    WORST_SWITCH: "Mean waiting time of the worst switch [us]",
    WORST_LINK: "Utilisation of the worst link",
    "first-burst": "Mean latency of the first burst [us]",
    "later-bursts": "Mean latency of the later bursts [us]",
    LATENCY_TIME: "Mean network latency [us]",
    "lost-traffic": "Traffic lost after the event, as time at the previous rate [us]",
    "victims": "Accepted of what traffic[0] offers",
    "victims-p99": "Latency of traffic[0], p99 [us]",
    "flow-slowdown": "Slowdown of flows, p99",
}
COUNTING = (SATURATION, LATENCY, WAITING, LINKS, BLOCKED, SETTLING)
MEASURES = (*COUNTING, EFFICIENCY, THROUGHPUT, *RUN_TITLES)

Read = Callable[[Reader, str, Any], Any]  # the value of a key and its node


def _scalar(parse: Parse) -> Read:
    def read(reader: Reader, key: str, node: Any) -> Any:
        text = str(reader.expect(node, "scalar", key))
        try:
            return parse(text)
        except ValueError as error:
            raise reader.refuse(node, f"'{key}: {text}': expected {error}") from None

    return read


def _traffic(text: str) -> float:
    found = number_of(text)
    if found is None or found.unit or not 0 < found.value < 1000:
        raise ValueError("flits/ns/switch, such as 0.015")
    return found.value


def _page(text: str) -> Page:
    page = Page()
    try:
        set_size(page, text)
    except Error as error:
        raise ValueError(str(error).partition("expected ")[2]) from None
    return page


def _list(read: Read) -> Read:
    def read_all(reader: Reader, key: str, node: Any) -> list[Any]:
        nodes = reader.expect(node, "sequence", key)
        if not 1 <= len(nodes) <= LIST_MAX:
            raise reader.refuse(node, f"expected 1 to {LIST_MAX} of them")
        return [read(reader, key, one) for one in nodes]

    return read_all


def _sets(reader: Reader, key: str, node: Any) -> list[str]:
    here = os.path.dirname(reader.path) or "."
    sets = []
    for one in reader.expect(node, "sequence", key):
        text = str(reader.expect(one, "scalar"))
        if "=" not in text:
            raise reader.refuse(one, "expected KEY=VALUE")
        sets.append(text.replace("{here}", here, 1))
    return sets


def _key(read: Read, default: Any = MISSING, needed: bool = False) -> Any:
    """Describes a key of a section. A default that is a class is called for each section."""
    about = {"read": read, "needed": needed}
    if isinstance(default, type):
        return field(default_factory=default, metadata=about)
    return field(default=default, metadata=about)


def _values(
    reader: Reader, node: Any, section: type, needed: list[str], known: list[str] | None = None
) -> dict[str, Any]:
    """Returns the values of a section by their Python names. 'known': its keys; None: all."""
    pairs, reads = reader.map(node), {}
    for one in fields(section):
        if "read" in one.metadata:
            reads[one.name.replace("_", "-")] = one.metadata["read"]
    reader.only(pairs, reads if known is None else known)
    reader.needs(node, pairs, needed)
    found = {key: reads[key](reader, key, pair[1]) for key, pair in pairs.items()}
    return {key.replace("-", "_"): value for key, value in found.items()}


def _section(section: type) -> Read:
    def read(reader: Reader, key: str, node: Any) -> Any:
        reader.expect(node, "mapping", key)
        needed = [one.name for one in fields(section) if one.metadata.get("needed")]
        return section(**_values(reader, node, section, needed))

    return read


TEXT, BOOL = _scalar(str), _scalar(choice("false", "true", false=False, true=True))
COPIES, LOADS = (_scalar(number(1, most)) for most in (COPIES_MAX, LOADS_MAX))
WARMUP, MESSAGES = (_scalar(number(least, MESSAGES_MAX)) for least in (0, 1))
TIMES, UNIT = _scalar(quantity(TIME)), _scalar(quantity(TIME, PS_PER_US))
ANY_SHARE = _scalar(quantity(SHARE))


@dataclass
class Choice:
    """A network, case or algorithm, and its changes to the run file."""

    name: str = _key(TEXT, "", needed=True)
    set: list[str] = _key(_sets, list)  # KEY=VALUE
    n: int = _key(COPIES, 1)  # instances of a network
    # ppm; overrides the definition's, and the case's overrides this; 0: not given
    load: int = _key(_scalar(quantity(SHARE, 0, 10**6)), 0)
    traffic: float = _key(_scalar(_traffic), 0.0)  # a case's load in flits/ns/switch; 0: not given

    def varies(self) -> bool:
        return any("{n" in text for text in self.set)

    def sets(self, instance: int) -> list[str]:
        return [expand(text, instance) for text in self.set]


def expand(text: str, instance: int) -> str:
    """Returns the text with {n} replaced.

    >>> expand("seed={n},hosts=[h{n*47}]", 2)
    'seed=2,hosts=[h94]'
    """
    return re.sub(r"\{n(?:\*([0-9]{1,4}))?\}", lambda at: str(instance * int(at[1] or 1)), text)


@dataclass
class Quick:
    networks: str = _key(TEXT, "")  # "A,B"; "": all
    cases: str = _key(TEXT, "")
    algorithms: str = _key(TEXT, "")
    n: int = _key(COPIES, 2)  # upper bound on the instances of each network
    loads: int = _key(LOADS, 4)
    unit: int = _key(UNIT, 10**9)
    warmup: int = _key(WARMUP, 20000)
    messages: int = _key(MESSAGES, 20000)
    tolerance: int = _key(ANY_SHARE, 400000)
    set: list[str] = _key(_sets, list)


@dataclass
class Schedule:
    """A GOAL schedule that is generated before the runs; the first entry of traffic replays it."""

    kind: str = _key(TEXT, "", needed=True)
    ranks: int = _key(_scalar(number(2, 65534)), 0, needed=True)
    rounds: int = _key(MESSAGES, 1)
    bytes: int = _key(_scalar(quantity(SIZE, 0, 2**32 - 1)), 0, needed=True)
    calc: int = _key(TIMES, 0)  # ps
    path: str = ""  # once it is generated


CHOICES = _list(_section(Choice))
HEAD = ["weft", "paper", "place", "title"]


@dataclass
class Definition:
    """The defaults are the thesis' methods (its section 4.6)."""

    name: str = ""
    origin: str = ""  # for messages
    weft: str = field(default="", metadata={"read": TEXT}, compare=False)
    paper: str = _key(TEXT, "")
    place: str = _key(TEXT, "")
    title: str = _key(TEXT, "")
    missing: str = _key(TEXT, "")  # why it cannot be run; the fields below are then not set
    members: list[str] = _key(_list(TEXT), list)  # groups only
    time: str = _key(TEXT, "")  # for users
    quick_time: str = _key(TEXT, "")
    # 'productivity' is the thesis' word, which was the name up to 0.1.
    measure: str = _key(_scalar(choice(*MEASURES, productivity=SATURATION)), "")
    axis: str = _key(_scalar(choice("share", "bits/us")), "share")
    latency: bool = _key(BOOL, False)  # a throughput also has a figure of the latency
    size: Page = _key(_scalar(_page), Page)  # every figure has it
    means: bool = _key(BOOL, False)  # Markdown tables contain means over instances
    # Latency against traffic, one figure per network and case.
    curves: bool = _key(BOOL, False)
    run: str = _key(TEXT, "")
    published: str = _key(TEXT, "")
    # ppm; start of the search, or the load
    load: int = _key(_scalar(quantity(SHARE, 1, 10**6)), 100000)
    loads: int = _key(LOADS, 10)
    unit: int = _key(UNIT, 10**9)  # ps that represent one ms of the paper
    schedule: Schedule = _key(_section(Schedule), Schedule)
    tolerance: int = _key(ANY_SHARE, 100000)  # ppm of the published means
    order: int = _key(ANY_SHARE, 20000)  # ppm; published means closer than this have no order
    warmup: int = _key(WARMUP, 200000)
    messages: int = _key(MESSAGES, 200000)
    latency_limit: int = _key(TIMES, 0)  # ps; saturated above it. 0: any latency
    networks: list[Choice] = _key(CHOICES, list)
    cases: list[Choice] = _key(CHOICES, list)
    algorithms: list[Choice] = _key(CHOICES, list)
    quick: Quick = _key(_section(Quick), Quick)
    instances: int = 0  # set by --instances
    also: list[str] = field(default_factory=list)  # changes of --quick
    defined: tuple[int, int, int] = (0, 0, 0)  # warmup, messages and latency_limit of the file

    @property
    def counts_messages(self) -> bool:
        """Whether a run lasts for a number of messages instead of the time in its file."""
        return self.measure in COUNTING

    @property
    def measures_run(self) -> bool:
        return self.measure in RUN_TITLES

    @property
    def measures_links(self) -> bool:
        return self.measure in (LINKS, BLOCKED)

    @property
    def unit_ns(self) -> float:
        return self.unit / 1000

    @property
    def lists(self) -> tuple[list[Choice], list[Choice], list[Choice]]:
        return self.networks, self.cases, self.algorithms

    def has_instances(self) -> bool:
        return any(choice.varies() for choices in self.lists for choice in choices)

    def reduce(self) -> None:
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
        everywhere = any(c.varies() for choices in self.lists[1:] for c in choices)
        found = [network for network in self.networks if everywhere or network.varies()]
        if not found:
            raise Error(f"{self.origin}: --instances: expected a definition with {{n}}, found none")
        for network in found:
            network.n = count
        self.instances = count

    def set_length(self, name: str, value: int) -> None:
        """Sets the messages of 'warmup' or 'messages', or the 'latency_limit' in ps."""
        option, found = f"--{name.replace('_', '-')}", f"found the measure '{self.measure}'"
        why = ""
        if name == "latency_limit" and self.measure != SATURATION:
            why = f"a definition that measures saturation-throughput, {found}"
        elif name != "latency_limit" and not self.counts_messages:
            why = f"a definition whose runs count messages, {found}, whose runs last as long as {self.run} states"
        elif name == "warmup" and value > 0 and self.measure == SETTLING:
            why = f"0, because the measure 'settling' begins with the first message; found {value}"
        if why:
            raise Error(f"{self.origin}: {option}: expected {why}")
        setattr(self, name, value)

    def select(self, words: str) -> None:
        """Keeps networks, cases and algorithms in "A,B"; a list with none of them is unchanged."""
        names = {choice.name for choices in self.lists for choice in choices} - {""}
        if not set(words.split(",")) <= names:
            raise Error(
                f"{self.name}: '{words}' has a word that is not one of its networks, cases or algorithms"
            )
        for choices in self.lists:
            keep(choices, words)


def keep(choices: list[Choice], words: str) -> bool:
    """Keeps the named ones. Keeps all and returns False if there are none."""
    found = [choice for choice in choices if choice.name in words.split(",")]
    if words and found:
        choices[:] = found
    return bool(found) or not words


def _no_warmup(reader: Reader, section: Any, found: Definition | Quick) -> None:
    """Refuses a warm-up, because a run whose mean is to settle has none."""
    given = reader.map(section).get("warmup") if section is not None else None
    if given is not None and found.warmup > 0:
        text = "expected 0, because the measure 'settling' begins with the first message"
        raise reader.refuse(given[1], text)
    found.warmup = 0


def _definition(reader: Reader, node: Any, inherited: dict[str, str]) -> Definition:
    """Reads a definition; 'inherited' has the settings that all definitions in the file share."""
    pairs, known = reader.map(node), None
    needed = ["time", "measure", "run", "published", "networks", "algorithms"]
    if "missing" in pairs:
        needed = ["missing"]
        known = [*HEAD, *needed]
    elif "members" in pairs:
        needed = ["time", "members"]
        known = [*HEAD, *needed, "quick-time"]
    needed = [key for key in [*HEAD[1:], *needed] if key not in inherited]
    values: dict[str, Any] = {**inherited, **_values(reader, node, Definition, needed, known)}
    made = Definition(**values, origin=reader.path)
    if made.measure == SETTLING:
        _no_warmup(reader, node, made)
        _no_warmup(reader, pairs["quick"][1] if "quick" in pairs else None, made.quick)
    here = os.path.dirname(reader.path)
    made.run, made.published = (os.path.join(here, p) for p in (made.run, made.published))
    made.cases = made.cases or [Choice()]
    made.defined = made.warmup, made.messages, made.latency_limit
    return made


def load(path: str, only: str = "") -> list[Definition]:
    """Returns the definitions in a file, or the one that 'only' names."""
    reader = Reader(path)
    if reader.form(FORMAT, PAPER_FORMAT) == FORMAT:
        found = _definition(reader, reader.root, {})
        found.name = os.path.splitext(os.path.basename(path))[0]
        return [found]
    pairs = reader.map(reader.root)
    reader.only(pairs, ("weft", "paper", "published", "definitions"))
    reader.needs(reader.root, pairs, ["paper", "definitions"])
    keys = [key for key in ("paper", "published") if key in pairs]
    shared = {key: TEXT(reader, key, pairs[key][1]) for key in keys}
    made = []
    for name, (_, node) in reader.map(pairs["definitions"][1], "definitions").items():
        if only in ("", name):
            made.append(_definition(reader, node, shared))
            made[-1].name, made[-1].origin = name, f"{path}: {name}"
    return made
