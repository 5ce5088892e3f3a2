# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The request of a sweep: its points, its cases and the paths of its files.

The points are every combination of the values of all --vary, each with every seed. Cases are named
settings of several keys each, as the values of the key 'case'. The folder has manifest.json (the
request), a result for each finished point, a log for each failed one, and the tables.
"""
import functools
import itertools
import math
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ..asker import Asker, Overrides
from ..error import Error, naming
from ..files import Reader
from ..quantity import VALUES_MAX, not_a_span, number_of, span

Cases = dict[str, list[str]]  # KEY=VALUE settings by case name

KEYS_MAX = 8
POINTS_MAX = 100000
NAME_MAX = 143  # maximum bytes of a point's file name without suffix
LABEL_MAX = 255
OPTION = re.compile("[^,:=\\[{\"']*=")
RUN_SETS_MAX = 64  # limit in weft-fabric
JOBS_MAX = 256
CASES_KEY = "case"
CASES_MAX = 1000
CASE_SETS_MAX = 16


@dataclass
class Vary:
    """A key of the run file ("traffic.0.load") and its values, as text for --set."""

    key: str
    values: list[str]

    @functools.cached_property
    def unit(self) -> str | None:
        """The kind of unit that all values share; "": no unit; None: not all are numbers.

        >>> Vary("k", ["1", "2"]).unit, Vary("k", ["1%", "2%"]).unit, Vary("k", ["1", "2%"]).unit
        ('', 'share', None)
        """
        kinds = {number and number.unit for number in map(number_of, self.values)}
        return kinds.pop() if len(kinds) == 1 else None


def normal_key(text: str) -> str:
    """Returns the canonical name of a key.

    >>> normal_key("traffic[0].load")
    'traffic.0.load'
    """
    return text.replace("[", ".").replace("]", "")


def split_values(text: str) -> list[str]:
    """Returns the values between commas outside brackets, quotes and generators.

    >>> split_values('rlft:ports=4,stages=2,[1,2],"a,b"')
    ['rlft:ports=4,stages=2', '[1,2]', '"a,b"']
    """
    values, start, depth, quote = [], 0, 0, ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= depth > 0
        # A comma inside a generator's text, "rlft:ports=4,stages=2", is followed by an option.
        elif letter == "," and depth == 0 and not OPTION.match(text, at + 1):
            values.append(text[start:at])
            start = at + 1
    return [*values, text[start:]]


def parse_vary(text: str) -> Vary:
    """Parses KEY=A,B,C, where an element may be LO:HI:STEP."""
    name, equals, rest = text.partition("=")
    if not equals or not name:
        raise Error(f"--vary {text}: expected KEY=A,B,C or KEY=LO:HI:STEP")
    key, values = normal_key(name), []
    for element in split_values(rest):
        if not element:
            raise Error(f"--vary {key}: expected a non-empty value")
        # Numbers with a colon are a range: no value of a run file has that form.
        words = element.split(":") if re.match("[0-9].*:", element, re.S) else []
        try:
            if words and len(words) != 3:
                raise not_a_span(element)
            values += span(*words) if words else [element]
        except Error as error:
            raise Error(f"--vary {key}: {error}") from error
    return Vary(key, values)


@dataclass
class Plan:
    """Seeds change fastest, then the last key; points of one combination are consecutive."""

    vary: list[Vary] = field(default_factory=list)
    first_seed: int = 0
    seeds: int = 0  # 0: the one of the run file
    points: int = 0

    def add(self, vary: Vary) -> None:
        if len(vary.values) > VALUES_MAX:
            raise Error(f"--vary {vary.key}: more than {VALUES_MAX} values")
        value, times = Counter(vary.values).most_common(1)[0]
        if times > 1:
            raise Error(f"--vary {vary.key}: duplicate value '{value}'")
        if len(self.vary) == KEYS_MAX:
            raise Error(f"--vary: at most {KEYS_MAX} keys")
        if any(other.key == vary.key for other in self.vary):
            raise Error(
                f"--vary {vary.key}: this key is already varied; put all its values into one --vary"
            )
        self.vary.append(vary)

    def take_seeds(self, text: str) -> None:
        """Accepts LO:HI, or one number."""
        words = text.split(":", 1)
        if not all(re.fullmatch(r"[0-9]{1,20}", w) and int(w) < 2**64 for w in words):
            raise ValueError("LO:HI, such as 1:10")
        self.first_seed, self.seeds = int(words[0]), int(words[-1]) - int(words[0]) + 1
        if not 1 <= self.seeds <= VALUES_MAX:
            raise ValueError(f"LO:HI with LO <= HI and at most {VALUES_MAX} seeds")

    def finish(self) -> None:
        """Counts the points, once everything has been added."""
        keys = [vary.key for vary in self.vary]
        if "seed" in keys:
            raise Error("--vary seed: expected --seeds LO:HI")
        self.points = self.repeats * math.prod(len(vary.values) for vary in self.vary)
        if self.points > POINTS_MAX:
            raise Error(f"{self.points} points: expected at most {POINTS_MAX}")
        self._names = short_keys(keys)
        self._values = [*itertools.product(*(vary.values for vary in self.vary))]

    @property
    def repeats(self) -> int:
        """Number of consecutive points that differ only in their seed."""
        return max(self.seeds, 1)

    def values(self, point: int) -> tuple[str, ...]:
        return self._values[point // self.repeats]

    def seed(self, point: int) -> int | None:
        """Returns the seed of a point; None: the seed in the run file."""
        return self.first_seed + point % self.repeats if self.seeds > 0 else None

    def _words(self, point: int) -> list[str]:
        words = [f"{name}={value}" for name, value in zip(self._names, self.values(point))]
        return words + ([f"seed={self.seed(point)}"] if self.seeds > 0 else [])

    def label(self, point: int) -> str:
        """Returns a label such as "load=10%, seed=1"."""
        return _cut(", ".join(self._words(point)), LABEL_MAX) or "the run file as it is"

    def name(self, point: int) -> str:
        """Returns the stem of a point's file, "07_load=10%_seed=1", with plain characters only."""
        start = f"{point:0{len(str(self.points - 1))}}_"
        rest = _cut("_".join(self._words(point)), NAME_MAX - len(start)) or "run"
        return start + re.sub(
            rb"[^a-zA-Z0-9._%+=-]", b"-", rest.encode("utf-8", "surrogateescape")
        ).decode("ascii")


def short_keys(keys: list[str]) -> list[str]:
    """Returns the last part of each key, or the whole key if another key has the same last part."""
    ends = [key.rpartition(".")[2] for key in keys]
    return [end if ends.count(end) == 1 else key for key, end in zip(keys, ends)]


def _cut(text: str, most: int) -> str:
    return text.encode("utf-8", "surrogateescape")[:most].decode("utf-8", "surrogateescape")


def _add_case(reader: Reader, node: Any, cases: Cases) -> None:
    pairs = reader.map(node)
    reader.only(pairs, ("name", "set"))
    reader.needs(node, pairs, ("name", "set"))
    value = pairs["name"][1]
    name = str(reader.expect(value, "scalar", "name"))
    if not name:
        raise reader.refuse(value, "expected a non-empty name")
    if name in cases:
        raise reader.refuse(value, f"two cases have the name '{name[:100]}'")
    cases[name] = []
    for key, (place, value) in reader.map(pairs["set"][1], "set").items():
        text = reader.expect(value, "scalar", key)
        if len(cases[name]) == CASE_SETS_MAX:
            raise reader.refuse(place, f"expected at most {CASE_SETS_MAX} keys of a case")
        if key == "seed":
            raise reader.refuse(place, "expected --seeds LO:HI for seeds")
        cases[name].append(f"{key}={text}")


def load_cases(path: str) -> Cases:
    reader = Reader(path)
    reader.form("cases/1")
    pairs = reader.map(reader.root)
    reader.only(pairs, ("weft", "cases"))
    reader.needs(reader.root, pairs, ("cases",))
    listed = pairs["cases"][1]
    nodes = reader.expect(listed, "sequence", "cases")
    if not 1 <= len(nodes) <= CASES_MAX:
        raise reader.refuse(listed, f"expected 1 to {CASES_MAX} cases")
    cases: Cases = {}
    for node in nodes:
        _add_case(reader, node, cases)
    return cases


def check_cases(cases: Cases) -> Cases:
    """Checks the cases against the limits of a file.

    >>> check_cases({"small": ["switch.buffer=4KiB", "seed=1"]})
    Traceback (most recent call last):
    weft.error.Error: cases small: expected seeds=range(LO, HI) for seeds
    """
    if not 1 <= len(cases) <= CASES_MAX:
        raise Error(f"cases: expected 1 to {CASES_MAX} cases")
    for name, sets in cases.items():
        if not name:
            raise Error("cases: expected a non-empty name")
        if len(sets) > CASE_SETS_MAX:
            raise Error(f"cases {name}: expected at most {CASE_SETS_MAX} keys of a case")
        if any(text.partition("=")[0] == "seed" for text in sets):
            raise Error(f"cases {name}: expected seeds=range(LO, HI) for seeds")
    return cases


@dataclass
class Sweep:
    run_file: str = ""  # absolute once it is checked
    plan: Plan = field(default_factory=Plan)
    cases: Cases = field(default_factory=dict)
    sets: list[str] = field(default_factory=list)
    folder: str | None = None
    jobs: int = 0  # 0: not given
    restart: bool = False
    skip_invalid: bool = False
    dry_run: bool = False
    prepare: bool = False  # only write the manifest
    on: str = ""  # "slurm"
    sbatch: str | None = None
    grace: int | None = None  # seconds for which results may arrive after the last task
    point: int | None = None  # the only one to run, as a task
    json: bool = False
    words: list[str] = field(default_factory=list)  # the command's arguments
    invalid: dict[int, str] = field(default_factory=dict)  # omitted points, with the reason

    def check(self) -> None:
        plan = self.plan
        refused = {
            "expected a run file": not self.run_file,
            "-o DIR is missing": self.folder is None and not self.dry_run,
            "-o '': expected a folder": self.folder == "",
            "--sbatch requires --on slurm": self.sbatch is not None and not self.on,
            "--grace requires --on slurm": self.grace is not None
            and not (self.on or self.point is not None),
            "--dry-run cannot be combined with --on, --prepare or --point": self.dry_run
            and (self.on or self.prepare or self.point is not None),
            "--dry-run cannot be combined with --restart or --json": self.dry_run
            and (self.restart or self.json),
            "--vary, --cases or --seeds is missing": not (plan.vary or plan.seeds),
        }
        for text, is_so in refused.items():
            if is_so:
                raise Error(text)
        self._check_keys()
        with naming(self.run_file):
            self.run_file = os.path.realpath(self.run_file, strict=True)
        plan.finish()
        if self.point is not None and self.point >= plan.points:
            raise Error(f"--point {self.point}: expected a point from 0 to {plan.points - 1}")

    def _check_keys(self) -> None:
        """A key has one value at each point, and weft-fabric limits the number of keys."""
        for vary in self.plan.vary:
            for name, sets in self.cases.items():
                if any(normal_key(text.partition("=")[0]) == vary.key for text in sets):
                    raise Error(f"--vary {vary.key}: the case '{name}' also sets this key")
        most = max(map(len, self.cases.values()), default=0)
        # A trial of --dry-run sets three more.
        if len(self.sets) + len(self.plan.vary) + most + 4 > RUN_SETS_MAX:
            left = RUN_SETS_MAX - 3 - len(self.plan.vary)
            raise Error(f"--set and --cases: expected at most {left} keys in total")

    def overrides(self, point: int) -> Overrides:
        """Returns the changes of a point by the option that they come from."""
        by: Overrides = [("--set", self.sets)]
        for vary, value in zip(self.plan.vary, self.plan.values(point)):
            if vary.key == CASES_KEY and value in self.cases:
                by.append(("--cases", self.cases[value]))
            else:
                by.append(("--vary", [f"{vary.key}={value}"]))
        if self.plan.seeds > 0:
            by.append(("--seeds", [f"seed={self.plan.seed(point)}"]))
        return by

    def point_sets(self, point: int) -> list[str]:
        return [text for _, texts in self.overrides(point) for text in texts]

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def stem(self, point: int) -> str:
        """Returns the path of a point's files without their suffixes (".json", ".log", ".part")."""
        return self.path(self.plan.name(point))

    @property
    def valid(self) -> list[int]:
        """Returns the points, except those that --skip-invalid omits."""
        return [point for point in range(self.plan.points) if point not in self.invalid]

    def config(self, asker: Asker, point: int) -> dict[str, Any]:
        return asker.run(self.run_file, self.overrides(point), whole=True)
