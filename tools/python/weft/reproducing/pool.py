# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs trials, one point of each at a time, several trials in parallel.

A result is stored in a folder under a hash of the point's whole configuration, of the files that it
names and of the program. Another experiment that needs the same point takes it from there; a new
build runs it again.
"""
from __future__ import annotations

import hashlib
import itertools
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from .. import tool
from ..asker import Asker
from ..child import Child, Watch
from ..error import Error, Exit, os_error, printable
from ..output import remove
from ..sweeping.run import whole_result
from .definition import EFFICIENCY, SETTLING, Definition, Schedule
from .trial import Stage, Trial

# The sections that trials use; a result with its samples and settings is a hundred times longer.
KEPT = ("weft", "throughput", "latency_ns", "messages", "checks", "counters", "topology", "wall")


def extract(result: dict[str, Any], what: Definition) -> dict[str, Any]:
    """What is stored of a result. Experiments that differ in the measure alone share their results."""
    keys = [*KEPT, "incomplete"]
    if what.measures_run:
        keys += ["switches", "events", "traffic", "flows"]
    if what.measures_links or what.measures_run:
        keys += ["links"]
    if what.measure in (EFFICIENCY, SETTLING) or what.measures_run:
        keys += ["series"]
    return {key: result[key] for key in keys if key in result}


@dataclass
class Job:
    """A point that runs."""

    child: Child
    trial: Trial
    key: str


class Pool:
    """The trials and their running points."""

    def __init__(
        self,
        trials: list[Trial],
        asker: Asker,
        cache: str,
        jobs_max: int,
        srun: Optional[str] = None,
        again: bool = False,
    ) -> None:
        """'srun' as in Child; 'again': results that are there do not count."""
        self.trials, self.asker, self.cache = trials, asker, cache
        self.jobs_max, self.srun, self.again = jobs_max, srun, again
        about = asker.ask("about")
        self.fabric, self.mark = about["fabric"], about["mark"]
        self.left: Iterator[Trial] = iter(trials)
        self.waiting: list[Trial] = []  # for the result of a point that another trial runs
        self.jobs: list[Job] = []
        self.done = self.ran = self.had = 0
        self.interrupted = False
        self.terminal = sys.stderr.isatty()
        self.started = time.monotonic()

    def _path(self, name: str) -> str:
        return f"{self.cache}/{name}"

    def key(self, trial: Trial) -> str:
        """A name for the next point: equal if the same program would run the same."""
        run, overrides = trial.definition.run, trial.overrides()
        config = self.asker.run(run, overrides, whole=True)["config"]
        files = self.asker.run(run, overrides)["files"]
        whole = json.dumps([self.mark, config, files], sort_keys=True)
        return hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()

    def _known(self, key: str) -> Optional[dict[str, Any]]:
        path = self._path(f"{key}.json")
        if self.again or not os.path.exists(path):
            return None
        try:
            return whole_result(self.asker, path)
        except Error:
            return None

    def take_known(self, trial: Trial) -> Optional[str]:
        """Gives the trial all stored results that it asks for. The key of the point that must be run;
        None: the trial is over."""
        while not trial.is_over:
            try:
                key = self.key(trial)
            except Error as error:
                trial.stage, trial.fault = Stage.FAILED, str(error)
                break
            result = self._known(key)
            if result is None or not trial.take(result):
                return key
            self.had += 1
        self._print_end(trial)
        return None

    def _is_running(self, key: str) -> bool:
        return any(job.key == key for job in self.jobs)

    def _claim(self, trial: Trial) -> Optional[str]:
        """The key of the trial's next point, if it has one and no other trial runs the same; then
        the trial waits for its result."""
        key = self.take_known(trial)
        if key is not None and self._is_running(key):
            self.waiting.append(trial)
            return None
        return key

    def fill(self, first: Optional[Trial] = None) -> None:
        """Starts points while jobs are free: first the points of the trial 'first', then of trials
        that waited for a result, and then of trials that have not begun."""
        waiting, self.waiting = self.waiting, []
        queue = [first] if first is not None else []
        queue += waiting
        while len(self.jobs) < self.jobs_max:
            if not queue:
                queue = list(itertools.islice(self.left, 1))
            if not queue:
                break
            trial = queue.pop(0)
            key = self._claim(trial)
            if key is not None:
                self._start(trial, key)
        self.waiting = queue + self.waiting

    def _start(self, trial: Trial, key: str) -> None:
        # Files of a running point belong to this process alone.
        own = self._path(f"{key}.{os.getpid()}")
        run, srun = trial.definition.run, self.srun
        child = Child(self.fabric, run, trial.sets(), f"{own}.part", f"{own}.log", srun)
        self.jobs.append(Job(child, trial, key))

    def _collect(self, job: Job) -> dict[str, Any]:
        """The result of an ended process, now stored. Error: there is none."""
        child, result = job.child, None
        if 0 <= child.exit_code() <= Exit.BAD_ANSWER:
            try:
                result = whole_result(self.asker, child.part, cut_short=self.interrupted)
            except Error:
                pass
        try:
            if result is None:
                raise Error(child.failure())
            kept = extract(result, job.trial.definition)
            path = self._path(f"{job.key}.json")
            try:
                with open(child.part, "w", encoding="utf-8") as out:
                    json.dump(kept, out, ensure_ascii=False, separators=(",", ":"))
                self.asker.result(child.part, seal=True)
                os.rename(child.part, path)
            except OSError as error:
                raise Error(f"{path}: cannot be written: {error.strerror}") from None
        finally:
            remove(child.part)
            remove(child.log)
        return kept

    def _end(self, job: Job) -> None:
        """A process ended."""
        self.jobs.remove(job)
        trial = job.trial
        try:
            result = self._collect(job)
        except Error as error:
            if self.interrupted:
                return
            trial.stage, trial.fault = Stage.FAILED, str(error)
        else:
            if trial.take(result):
                self.ran += 1
            else:
                trial.stage, trial.fault = Stage.FAILED, "the result is not whole"
        if trial.is_over:
            self._print_end(trial)
        if not self.interrupted:
            self.fill(None if trial.is_over else trial)

    def _print_end(self, trial: Trial) -> None:
        self.done += 1
        self._clear()
        if trial.stage == Stage.FAILED:
            text = f"weft reproduce: {trial.label}: {trial.fault}"
        elif self.terminal:
            return
        else:
            text = f"[{self.done}/{len(self.trials)}] {trial.label}: {trial.value:.4g} in "
            text += f"{len(trial.points)} points"
        print(printable(text), file=sys.stderr, flush=True)

    def _clear(self) -> None:
        if self.terminal:
            sys.stderr.write("\r\033[K")

    def _draw(self) -> None:
        if not self.terminal:
            return
        self._clear()
        sys.stderr.write(
            f"{self.done} of {len(self.trials)} done, {self.ran} points run, {self.had} known, "
            f"{len(self.jobs)} running, {time.monotonic() - self.started:.0f} s"
        )
        sys.stderr.flush()

    def signal_all(self, number: int) -> None:
        """To all running points."""
        for job in self.jobs:
            job.child.signal(number)

    def run(self) -> None:
        """Runs all trials. An Error, such as that no process starts, is raised once the running
        points have ended."""
        failure: Optional[Error] = None
        with Watch(self.signal_all) as watch:
            try:
                self.fill()
            except Error as error:
                failure = error
            while self.jobs:
                self._draw()
                watch.wait([job.child for job in self.jobs])
                self.interrupted = watch.interrupted
                for job in [job for job in self.jobs if job.child.ended()]:
                    try:
                        self._end(job)
                    except Error as error:
                        failure = failure or error
                        self.signal_all(2)
        self._clear()
        if failure is not None:
            raise failure


def make_folder(path: str, option: str = "") -> None:
    """Makes a folder unless it exists. 'option', such as "-o ", starts the error."""
    try:
        os.mkdir(path)
    except FileExistsError:
        pass
    except OSError as error:
        raise os_error(error, option + path) from None


def make_schedule(schedule: Schedule, folder: str) -> None:
    """Generates the schedule of a definition into the folder of results. Its name has its parameters
    and a hash of its contents, so another generator's schedule is another file."""
    if schedule.ranks == 0:
        return
    make_folder(folder)
    whole = os.path.realpath(folder)
    part = f"{whole}/schedule.{os.getpid()}.part"
    calc = schedule.calc // 1000
    words = [
        "goal",
        "gen",
        schedule.kind,
        f"--ranks={schedule.ranks}",
        f"--rounds={schedule.rounds}",
    ]
    words += [f"--bytes={schedule.bytes}B", f"--calc={calc}ns", "-o", part]
    try:
        tool.must(words)
        with open(part, "rb") as text:
            mark = hashlib.blake2b(text.read(), digest_size=8).hexdigest()
        size = f"{schedule.ranks}x{schedule.rounds}-{schedule.bytes}b-{calc}ns"
        schedule.path = f"{whole}/{schedule.kind}-{size}-{mark}.goal"
        os.rename(part, schedule.path)
    except OSError as error:
        raise os_error(error) from None
    finally:
        remove(part)
