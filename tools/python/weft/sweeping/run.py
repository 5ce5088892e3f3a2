# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs the points of a sweep that have no result yet, several at a time, and shows the progress on
standard error: on a terminal and in a notebook a bar of tqdm, with errors above it; otherwise a line
for each point."""
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from ..asker import Asker, Refused
from ..child import Child, run_all
from ..error import Error, Exit, naming, printable
from ..files import remove
from ..quantity import at, three, time_text
from . import table
from .request import Sweep


class Outcome:
    """The results of a sweep: at first those in its folder that belong to its points."""

    def __init__(self, sweep: Sweep, asker: Asker) -> None:
        self.sweep, self.asker = sweep, asker
        self.rows: list[table.Row | None] = [None] * sweep.plan.points  # None: no result
        self.changed = 0  # results edited after the sweep wrote them
        self.strange = 0  # results under a point's name that are not its own
        self.done = 0  # points with a result now
        self.failed = 0
        self.bad = 0  # done, but lost, duplicated or reordered something, or deadlocked
        self.empty = 0  # done, but nothing was measured; not bad
        self.interrupted = False
        for point in self.missing():
            self.find(point)
        self.had = self.done

    def missing(self) -> list[int]:
        """Returns the points to run: those of a task, or the valid ones without a result."""
        own = self.sweep.point
        valid = [p for p in self.sweep.valid if own in (None, p)]
        return [point for point in valid if self.rows[point] is None]

    def take(self, point: int, result: dict[str, Any]) -> None:
        self.rows[point] = table.row(self.sweep.plan, point, result)
        self.bad += table.is_bad(result)
        self.empty += table.is_empty(result)
        self.done += 1

    def find(self, point: int) -> bool:
        """Loads the result of a point, if it exists and belongs to the point."""
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


def _bar(points: int, had: int, out: TextIO) -> Any:
    """Returns a tqdm bar; None: there is no terminal, or tqdm is not installed."""
    if not out.isatty() and "ipykernel" not in sys.modules:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    tqdm.monitor_interval = 0  # no thread: the points are forked
    look = {"unit": "point", "smoothing": 0, "dynamic_ncols": True, "leave": not out.isatty()}
    return tqdm(total=points, initial=had, file=out, **look)


class Progress:
    """'points' in total, of which 'had' already have a result."""

    def __init__(self, points: int, had: int, out: TextIO | None = None) -> None:
        self.out = out if out is not None else sys.stderr
        self.bar = _bar(points, had, self.out)
        self.points, self.done, self.failed_points = points, had, 0

    def draw(self, running: int = 0) -> None:
        if self.bar is not None:
            self.bar.total = self.points
            failed = f", {self.failed_points} failed" if self.failed_points else ""
            self.bar.set_postfix_str(f"{running} running{failed}", refresh=False)
            self.bar.update(self.done + self.failed_points - self.bar.n)
            self.bar.refresh()

    def end(self) -> None:
        """Clears the bar on a terminal; a bar in a notebook stays."""
        self.draw()
        if self.bar is not None:
            self.bar.close()

    def line(self, text: str) -> None:
        if self.bar is not None:
            self.bar.clear()
        ended = self.done + self.failed_points
        count = f"[{ended:{len(str(self.points))}}/{self.points}]"
        print(f"{count} {printable(text)}", file=self.out, flush=True)

    def finished(self, label: str, result: dict[str, Any], seconds: float) -> None:
        self.done += 1
        nothing, bad = result.get("nothing_measured"), table.is_bad(result)
        if nothing is not None:
            self.line(f"{label}: nothing was measured: {nothing} ({time_text(seconds)})")
        elif bad or self.bar is None:
            offered, accepted = (
                three(100 * (result["throughput"].get(key) or 0)) for key in ("offered", "accepted")
            )
            mean = at(result, "latency_ns.total.mean")
            latency = time_text(mean / 1e9) if mean is not None else "-"
            more = "; packets lost, duplicated, out of order or in deadlock" if bad else ""
            text = f"{label}: offered {offered} %, accepted {accepted} %"
            self.line(f"{text}, total latency {latency}{more} ({time_text(seconds)})")

    def failed(self, label: str, why: str) -> None:
        self.failed_points += 1
        self.line(f"{label}: failed: {why}")

    def skipped(self, label: str, why: str) -> None:
        """Call when a point proved to be invalid: there is one less."""
        self.points -= 1
        self.line(f"{label}: skipped: {why}")


class Runner:
    def __init__(self, outcome: Outcome, progress: Progress) -> None:
        self.sweep, self.asker = outcome.sweep, outcome.asker
        self.outcome, self.progress = outcome, progress
        self.fabric: str = self.asker.ask("about")["fabric"]
        self.left = iter(outcome.missing())
        self.running: dict[Child, int] = {}

    def begin(self) -> Child | None:
        for point in self.left:
            sets, stem = self.sweep.point_sets(point), self.sweep.stem(point)
            child = Child(self.fabric, self.sweep.run_file, sets, stem)
            self.running[child] = point
            return child
        return None

    def end(self, child: Child, interrupted: bool) -> None:
        """Moves the result of an ended process to NAME.json; keeps the log of a failed one."""
        point = self.running.pop(child)
        label, path = self.sweep.plan.label(point), f"{self.sweep.stem(point)}.json"
        try:
            result = child.result(self.asker, cut_short=interrupted, seal=True)
            with naming(path):
                os.rename(child.part, path)
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

    def run(self) -> bool:
        """Runs the points. Ctrl-C and SIGTERM end them and the sweep; a second one kills them."""
        return run_all(self.sweep.jobs, self.begin, self.end, self.progress.draw)


def run(sweep: Sweep, asker: Asker, runner: Callable[[Outcome, Progress], Any]) -> Outcome:
    """Runs sweep.jobs points at a time, or sweep.point alone."""
    outcome = Outcome(sweep, asker)
    progress = Progress(len(sweep.valid), outcome.had)
    try:
        outcome.interrupted = runner(outcome, progress).run()
    finally:
        progress.end()
    return outcome
