# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs the points of a sweep that have no result yet, several at a time, and shows the progress on
standard error: on a terminal a line that is redrawn, with errors above it; in a notebook a bar by
tqdm if it is installed; otherwise a line for each point."""
from __future__ import annotations

import os
import shutil
import sys
import time
from typing import Any, TextIO

from ..asker import Asker, Refused
from ..child import Child, run_all
from ..error import Error, Exit, os_error, printable
from ..files import remove
from . import table
from .request import Sweep

BAR_MIN, BAR_MAX = 4, 40


class Outcome:
    """What a sweep has: at first the results that are in its folder and the points' own."""

    def __init__(self, sweep: Sweep, asker: Asker) -> None:
        self.sweep, self.asker = sweep, asker
        self.rows: list[table.Row | None] = [None] * sweep.plan.points  # None: not there
        self.changed = 0  # results edited after the sweep wrote them
        self.strange = 0  # results under a point's name that are not its own
        self.done = 0  # points that are there now
        self.failed = 0
        self.bad = 0  # done, and something was lost, duplicated, out of order or in deadlock
        self.empty = 0  # done, and nothing was measured; not bad
        self.interrupted = False
        for point in self.missing():
            self.find(point)
        self.had = self.done

    def missing(self) -> list[int]:
        """The points to run: those of a task, or the valid ones without a result."""
        own = self.sweep.point
        valid = [p for p in self.sweep.valid if own in (None, p)]
        return [point for point in valid if self.rows[point] is None]

    def take(self, point: int, result: dict[str, Any]) -> None:
        self.rows[point] = table.row(self.sweep.plan, point, result)
        self.bad += table.is_bad(result)
        self.empty += table.is_empty(result)
        self.done += 1

    def find(self, point: int) -> bool:
        """Takes the result of a point, if it is there and the point's own."""
        path = f"{self.sweep.stem(point)}.json"
        if not os.path.exists(path):
            return False
        try:
            result = self.asker.whole_result(path)
        except Refused as error:
            self.changed += error.changed
            return False
        if result is None:
            return False
        config = self.sweep.config(self.asker, point)["config"]
        if "sum" not in result or config != result.get("config"):  # every point has a sum
            self.strange += 1
            return False
        self.take(point, result)
        return True


def _notebook_bar(points: int, had: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=points, initial=had, unit="point")


class Progress:
    """'points' in all, 'had' of them there before."""

    def __init__(self, points: int, had: int, out: TextIO | None = None) -> None:
        self.out = out if out is not None else sys.stderr
        self.terminal = self.out.isatty()
        self.notebook = _notebook_bar(points, had) if "ipykernel" in sys.modules else None
        self.points, self.had, self.done = points, had, had
        self.failed_points = self.running = 0
        self.started = self.last_ended = time.monotonic()

    @property
    def ended(self) -> int:
        return self.done + self.failed_points

    def _left(self) -> str:
        new, left = self.ended - self.had, self.points - self.ended
        if new == 0 or left == 0:
            return ""
        seconds = int((self.last_ended - self.started) * left / new + 0.5)
        hours, minutes = seconds // 3600, seconds // 60 % 60
        return f", {f'{hours}:{minutes:02}' if hours else minutes}:{seconds % 60:02} left"

    def bar(self, width: int) -> str:
        """ "[####....] 3/20 points, 2 running, 1 failed, 1:05 left" in 'width' columns."""
        failed = f", {self.failed_points} failed" if self.failed_points else ""
        text = f"{self.ended}/{self.points} points, {self.running} running{failed}{self._left()}"
        room = min(width - len(text) - 3, BAR_MAX)
        if room < BAR_MIN:
            return text[:width]
        full = room * self.ended // self.points if self.points else room
        return f"[{'#' * full}{'.' * (room - full)}] {text}"

    def draw(self, running: int = 0) -> None:
        self.running = running
        if self.notebook is not None:
            self.notebook.total = self.points
            self.notebook.update(self.ended - self.notebook.n)
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{self.bar(width)}", end="", file=self.out, flush=True)

    def end(self) -> None:
        """Clears the bar of a terminal; one in a notebook stays."""
        self.draw()
        print("\r\033[K" * self.terminal, end="", file=self.out, flush=True)
        if self.notebook is not None:
            self.notebook.close()

    def line(self, text: str) -> None:
        self.last_ended = time.monotonic()
        count = f"[{self.ended:{len(str(self.points))}}/{self.points}]"
        clear = "\r\033[K" * self.terminal
        print(f"{clear}{count} {printable(text)}", file=self.out, flush=True)

    def finished(self, label: str, result: dict[str, Any], seconds: float) -> None:
        self.done += 1
        self.last_ended = time.monotonic()
        nothing, bad = result.get("nothing_measured"), table.is_bad(result)
        if nothing is not None:
            self.line(f"{label}: nothing was measured: {nothing} ({seconds:.1f} s)")
        elif bad or not self.terminal and self.notebook is None:
            offered, accepted = (
                100 * (result["throughput"].get(key) or 0) for key in ("offered", "accepted")
            )
            mean = ((result.get("latency_ns") or {}).get("total") or {}).get("mean")
            latency = f"{mean / 1e3:.1f} us" if mean is not None else "-"
            more = "; packets lost, duplicated, out of order or in deadlock" if bad else ""
            text = f"{label}: offered {offered:.1f} %, accepted {accepted:.1f} %"
            self.line(f"{text}, total latency {latency}{more} ({seconds:.1f} s)")

    def failed(self, label: str, why: str) -> None:
        self.failed_points += 1
        self.line(f"{label}: failed: {why}")

    def skipped(self, label: str, why: str) -> None:
        """A point proves to be invalid: there is one less."""
        self.points -= 1
        self.line(f"{label}: skipped: {why}")


class Runner:
    """Runs the points that are missing."""

    def __init__(self, sweep: Sweep, asker: Asker) -> None:
        self.sweep, self.asker = sweep, asker
        self.fabric: str = asker.ask("about")["fabric"]
        self.outcome = Outcome(sweep, asker)
        self.progress = Progress(len(sweep.valid), self.outcome.had)
        self.left = iter(self.outcome.missing())
        self.running: dict[Child, int] = {}

    def begin(self) -> Child | None:
        for point in self.left:
            sets, stem = self.sweep.point_sets(point), self.sweep.stem(point)
            child = Child(self.fabric, self.sweep.run_file, sets, stem)
            self.running[child] = point
            return child
        return None

    def end(self, child: Child, interrupted: bool) -> None:
        """Takes the result of an ended process into NAME.json; the log of a failed one stays."""
        point = self.running.pop(child)
        label, path = self.sweep.plan.label(point), f"{self.sweep.stem(point)}.json"
        try:
            result = child.result(self.asker, cut_short=interrupted, seal=True)
            try:
                os.rename(child.part, path)
            except OSError as error:
                raise os_error(error, path) from error
        except Error as error:
            remove(child.part)
            skip = self.sweep.skip_invalid and child.code == Exit.BAD_REQUEST
            if interrupted or skip:
                remove(child.log)
            if skip and not interrupted:
                self.sweep.invalid[point] = str(error)
                self.progress.skipped(label, str(error))
            elif not interrupted:
                self.outcome.failed += 1
                self.progress.failed(label, str(error))
            return
        remove(child.log)
        self.outcome.take(point, result)
        self.progress.finished(label, result, time.monotonic() - child.started)


def run(sweep: Sweep, asker: Asker) -> Outcome:
    """Runs sweep.jobs points at a time, or sweep.point alone. Ctrl-C and SIGTERM end the running
    points and then the sweep; a second one kills them."""
    runner = Runner(sweep, asker)
    outcome, progress = runner.outcome, runner.progress
    try:
        outcome.interrupted = run_all(sweep.jobs, runner.begin, runner.end, progress.draw)
    finally:
        progress.end()
    return outcome
