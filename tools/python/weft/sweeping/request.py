# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The request of a sweep, its cases and the paths of its files.

Its folder has manifest.json (the request), a result for each finished point, a log for each failed
one, and the tables. Cases are named settings of several keys each, as the values of the key 'case'.
"""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from ..asker import Asker, Overrides
from ..error import Error, os_error
from ..files import Reader
from .plan import Plan, normal_key

Cases = dict[str, list[str]]  # the KEY=VALUE of each by its name

SETS_MAX = 48  # --set of the user
RUN_SETS_MAX = 64  # limit in weft-fabric
JOBS_MAX = 256
CASES_KEY = "case"
CASES_MAX = 1000
CASE_SETS_MAX = 16


def _add_case(reader: Reader, node: Any, cases: Cases) -> None:
    pairs = reader.map(node)
    reader.only(pairs, ("name", "set"), "name or set")
    for key in ("name", "set"):
        if key not in pairs:
            raise reader.refuse(node, f"'{key}' is missing: expected {{name: …, set: …}}")
    value = pairs["name"][1]
    name = str(reader.expect(value, "scalar", "name"))
    if not name:
        raise reader.refuse(value, "expected a name that is not empty")
    if name in cases:
        raise reader.refuse(value, f"'{name[:100]}' is the name of two cases")
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
    reader.only(pairs, ("weft", "cases"), "cases")
    if "cases" not in pairs:
        raise reader.refuse(reader.root, "'cases' is missing: expected a list")
    listed = pairs["cases"][1]
    nodes = reader.expect(listed, "sequence", "cases")
    if not 1 <= len(nodes) <= CASES_MAX:
        raise reader.refuse(listed, f"expected 1 to {CASES_MAX} cases")
    cases: Cases = {}
    for node in nodes:
        _add_case(reader, node, cases)
    return cases


def check_cases(cases: Cases) -> Cases:
    """The cases, within the limits of a file.

    >>> check_cases({"small": ["switch.buffer=4KiB", "seed=1"]})
    Traceback (most recent call last):
    weft.error.Error: cases small: expected seeds=range(LO, HI) for seeds
    """
    if not 1 <= len(cases) <= CASES_MAX:
        raise Error(f"cases: expected 1 to {CASES_MAX} cases")
    for name, sets in cases.items():
        if not name:
            raise Error("cases: expected a name that is not empty")
        if len(sets) > CASE_SETS_MAX:
            raise Error(f"cases {name}: expected at most {CASE_SETS_MAX} keys of a case")
        if any(text.partition("=")[0] == "seed" for text in sets):
            raise Error(f"cases {name}: expected seeds=range(LO, HI) for seeds")
    return cases


@dataclass
class Sweep:
    """A sweep and how it runs."""

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
    on_slurm: bool = False
    sbatch: str | None = None
    grace: int | None = None  # seconds that results may come after the last task
    point: int | None = None  # the only one to run, as a task
    json: bool = False
    words: list[str] = field(default_factory=list)  # the command's
    invalid: dict[int, str] = field(default_factory=dict)  # points left out, and why

    def check(self) -> None:
        plan = self.plan
        refused = {
            "which run file?": not self.run_file,
            "-o DIR is missing": self.folder is None and not self.dry_run,
            "-o '': expected a folder": self.folder == "",
            "--sbatch requires --on slurm": self.sbatch is not None and not self.on_slurm,
            "--grace requires --on slurm": self.grace is not None
            and not (self.on_slurm or self.point is not None),
            "--dry-run: not with --on, --prepare or --point": self.dry_run
            and (self.on_slurm or self.prepare or self.point is not None),
            "--dry-run: not with --restart or --json": self.dry_run and (self.restart or self.json),
            "--vary, --cases or --seeds is missing": not (plan.vary or plan.seeds),
        }
        for text, is_so in refused.items():
            if is_so:
                raise Error(text)
        self._check_keys()
        try:
            self.run_file = os.path.realpath(self.run_file, strict=True)
        except OSError as error:
            raise os_error(error, self.run_file) from error
        plan.finish()
        if self.point is not None and self.point >= plan.points:
            raise Error(f"--point {self.point}: there are {plan.points} points, from 0")

    def _check_keys(self) -> None:
        """A key has one value at a point, and weft-fabric takes only so many."""
        for vary in self.plan.vary:
            for name, sets in self.cases.items():
                if any(normal_key(text.partition("=")[0]) == vary.key for text in sets):
                    raise Error(f"--vary {vary.key}: the case '{name}' also sets that key")
        most = max(map(len, self.cases.values()), default=0)
        # A trial of --dry-run sets three more.
        if len(self.sets) + len(self.plan.vary) + most + 4 > RUN_SETS_MAX:
            left = RUN_SETS_MAX - 3 - len(self.plan.vary)
            raise Error(f"--set and --cases: together more than {left} keys")

    def overrides(self, point: int) -> Overrides:
        """The changes of a point by the option that they come from."""
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
        """Path of a point's files without their ends (".json", ".log", ".part")."""
        return self.path(self.plan.name(point))

    @property
    def valid(self) -> list[int]:
        """The points without those that --skip-invalid leaves out."""
        return [point for point in range(self.plan.points) if point not in self.invalid]

    def config(self, asker: Asker, point: int) -> dict[str, Any]:
        return asker.run(self.run_file, self.overrides(point), whole=True)
