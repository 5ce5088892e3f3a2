# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The request of a sweep, and the paths of its files.

Its folder has manifest.json (the request), a result for each finished point, a log for each failed
one, and the tables.
"""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from ..asker import Asker, Overrides
from ..error import Error, os_error
from . import cases as case_files
from .cases import CASES_KEY, Case
from .plan import Plan

SETS_MAX = 48  # --set of the user
RUN_SETS_MAX = 64  # limit in weft-fabric
JOBS_MAX = 256


@dataclass
class Sweep:
    """A sweep and how it runs."""

    run_file: str = ""  # absolute once it is checked
    plan: Plan = field(default_factory=Plan)
    cases: list[Case] = field(default_factory=list)
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
        """Checks the request as a whole and counts its points."""
        if not self.run_file:
            raise Error("which run file?")
        self._check_options()
        for vary in self.plan.vary:
            case_files.check_key(self.cases, vary.key)
        most = max((len(case.sets) for case in self.cases), default=0)
        # A trial of --dry-run sets three more.
        if len(self.sets) + len(self.plan.vary) + most + 4 > RUN_SETS_MAX:
            left = RUN_SETS_MAX - 3 - len(self.plan.vary)
            raise Error(f"--set and --cases: together more than {left} keys")
        try:
            self.run_file = os.path.realpath(self.run_file, strict=True)
        except OSError as error:
            raise os_error(error, self.run_file) from error
        self.plan.finish()
        if self.point is not None and self.point >= self.plan.points:
            raise Error(f"--point {self.point}: there are {self.plan.points} points, from 0")

    def _check_options(self) -> None:
        if self.folder is None and not self.dry_run:
            raise Error("-o DIR is missing")
        if self.folder == "":
            raise Error("-o '': expected a folder")
        if self.sbatch is not None and not self.on_slurm:
            raise Error("--sbatch requires --on slurm")
        if self.grace is not None and not self.on_slurm and self.point is None:
            raise Error("--grace requires --on slurm")
        if self.dry_run and (self.on_slurm or self.prepare or self.point is not None):
            raise Error("--dry-run: not with --on, --prepare or --point")
        if self.dry_run and (self.restart or self.json):
            raise Error("--dry-run: not with --restart or --json")
        if not self.plan.vary and not self.plan.seeds:
            raise Error("--vary, --cases or --seeds is missing")

    def overrides(self, point: int) -> Overrides:
        """The changes of a point by the option that they come from."""
        by: Overrides = [("--set", self.sets)]
        for vary, value in zip(self.plan.vary, self.plan.values(point)):
            case = next((c for c in self.cases if c.name == value), None)
            if vary.key == CASES_KEY and case is not None:
                by.append(("--cases", case.sets))
            else:
                by.append(("--vary", [f"{vary.key}={value}"]))
        if self.plan.seeds > 0:
            by.append(("--seeds", [f"seed={self.plan.seed(point)}"]))
        return by

    def point_sets(self, point: int) -> list[str]:
        """All changes of a point."""
        return [text for _, texts in self.overrides(point) for text in texts]

    def path(self, name: str) -> str:
        """Path of a file in the sweep's folder."""
        return f"{self.folder}/{name}"

    def point_path(self, point: int, end: str) -> str:
        """Path of a point's file with this suffix (".json", ".log", ".part")."""
        return self.path(self.plan.name(point) + end)

    @property
    def valid_points(self) -> int:
        """Without those that --skip-invalid leaves out."""
        return self.plan.points - len(self.invalid)

    def is_left_out(self, point: int) -> bool:
        """Another task's, or invalid."""
        return (self.point is not None and point != self.point) or point in self.invalid

    def config(self, asker: Asker, point: int) -> dict[str, Any]:
        """The configuration of a point, and what it takes."""
        return asker.run(self.run_file, self.overrides(point), whole=True)
