# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs the points of a sweep that have no result yet, several at a time."""
from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from ..asker import Asker, Refused
from ..child import Child, Watch
from ..error import Error, Exit, os_error
from . import table
from ..output import remove
from .progress import Progress
from .request import Sweep


@dataclass
class Outcome:
    """What a sweep has."""

    rows: list[table.Row | None]  # by point; None: not there
    had: int = 0  # points that were there before
    changed: int = 0  # results edited after the sweep wrote them
    strange: int = 0  # results under a point's name that are not its own
    done: int = 0  # points that are there now
    failed: int = 0
    bad: int = 0  # done, and something was lost, duplicated, out of order or in deadlock
    empty: int = 0  # done, and nothing was measured; not bad
    interrupted: bool = False

    def take(self, sweep: Sweep, point: int, result: dict[str, Any]) -> None:
        """The result of a point."""
        self.rows[point] = table.row(sweep.plan, point, result)
        self.bad += table.is_bad(result)
        self.empty += table.is_empty(result)
        self.done += 1

    @staticmethod
    def of(sweep: Sweep) -> Outcome:
        """The outcome of a sweep without results."""
        return Outcome(rows=[None] * sweep.plan.points)


def whole_result(
    asker: Asker, path: str, cut_short: bool = False, seal: bool = False
) -> dict[str, Any] | None:
    """A result of a run that went to its end, or that ended in a deadlock, which is a result,
    unless the run was 'cut_short'; None: there is none. 'seal': adds its sum, then it has one."""
    result = asker.result(path)
    deadlock = result["checks"].get("deadlock") is True
    if result.get("incomplete") is True and (cut_short or not deadlock):
        return None
    if seal:
        asker.ask("result", file=path, seal=True)
    return result


def find(sweep: Sweep, asker: Asker, outcome: Outcome, point: int) -> bool:
    """Takes the result of a point, if it is there and the point's own."""
    path = sweep.point_path(point, ".json")
    if not os.path.exists(path):
        return False
    try:
        result = whole_result(asker, path)
    except Refused as error:
        outcome.changed += error.changed
        return False
    if result is None:
        return False
    # Every point has a sum.
    if "sum" not in result or sweep.config(asker, point)["config"] != result.get("config"):
        outcome.strange += 1
        return False
    outcome.take(sweep, point, result)
    return True


@dataclass
class Runner:
    """The running points of a sweep."""

    sweep: Sweep
    asker: Asker
    fabric: str  # path of weft-fabric
    outcome: Outcome
    progress: Progress
    running: dict[int, Child] = field(default_factory=dict)

    def start(self, point: int) -> None:
        """Starts the run of a point."""
        sweep = self.sweep
        part, log = sweep.point_path(point, ".part"), sweep.point_path(point, ".log")
        self.running[point] = Child(self.fabric, sweep.run_file, sweep.point_sets(point), part, log)

    def signal_all(self, number: int) -> None:
        """To all running points."""
        for child in self.running.values():
            child.signal(number)

    def _take(self, point: int, child: Child) -> dict[str, Any]:
        """The result of a point whose process ended, now in NAME.json. Error: then its log stays."""
        result, why = None, None
        if 0 <= child.exit_code() <= Exit.BAD_ANSWER:
            try:
                result = whole_result(
                    self.asker, child.part, cut_short=self.outcome.interrupted, seal=True
                )
            except Refused as error:
                why = error if error.code == Exit.NOT_ABLE else None
        if result is None:
            remove(child.part)
            raise Error(str(why) if why is not None else child.failure())
        path = self.sweep.point_path(point, ".json")
        try:
            os.rename(child.part, path)
        except OSError as error:
            raise os_error(error, path) from error
        remove(child.log)
        return result

    def end(self, point: int) -> None:
        """A point's process ended."""
        child = self.running.pop(point)
        self.progress.running = len(self.running)
        label = self.sweep.plan.label(point)
        try:
            result = self._take(point, child)
        except Error as error:
            self._fail(point, child, label, str(error))
            return
        self.outcome.take(self.sweep, point, result)
        self.progress.finished(label, result, time.monotonic() - child.started)

    def _fail(self, point: int, child: Child, label: str, why: str) -> None:
        if self.outcome.interrupted:
            remove(child.log)
        elif self.sweep.skip_invalid and child.exit_code() == Exit.BAD_REQUEST:
            remove(child.log)
            self.sweep.invalid[point] = why
            self.progress.skipped(label, why)
        else:
            self.outcome.failed += 1
            self.progress.failed(label, why)

    def run(self, points: deque[int]) -> None:
        """Runs the points; an Error ends it once the running ones have ended."""
        failure = None
        with Watch(self.signal_all) as watch:
            while points or self.running:
                while points and len(self.running) < self.sweep.jobs:
                    try:
                        self.start(points.popleft())
                    except Error as error:
                        failure, points = error, deque()
                self.progress.running = len(self.running)
                self.progress.draw()
                if self.running:
                    watch.wait(self.running.values())
                self.outcome.interrupted = watch.interrupted
                for point in [p for p, child in self.running.items() if child.ended()]:
                    self.end(point)
                if watch.interrupted:
                    points.clear()
        if failure is not None:
            raise failure


def run(sweep: Sweep, asker: Asker, progress: type[Progress] = Progress) -> Outcome:
    """Runs sweep.jobs points at a time, or sweep.point alone. Ctrl-C and SIGTERM end the running
    points and then the sweep; a second one kills them."""
    outcome = Outcome.of(sweep)
    for point in range(sweep.plan.points):
        if not sweep.is_left_out(point) and find(sweep, asker, outcome, point):
            outcome.had += 1
    missing = deque(
        point
        for point in range(sweep.plan.points)
        if outcome.rows[point] is None and not sweep.is_left_out(point)
    )
    shown = progress(sweep.valid_points, outcome.had)
    runner = Runner(sweep, asker, asker.ask("about")["fabric"], outcome, shown)
    try:
        runner.run(missing)
    finally:
        shown.end()
    return outcome
