# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs trials, one point of each at a time, several trials in parallel.

A result is stored in a folder under a hash of the point's whole configuration, of the files that it
names and of the program. Another experiment that needs the same point takes it from there; a new
build runs it again.
"""
import contextlib
import hashlib
import json
import os
from collections import deque
from typing import Any

from ..asker import Asker, must
from ..child import Child, run_all
from ..error import Error, os_error
from ..files import make_folder, remove
from ..sweeping.run import Progress
from .definition import EFFICIENCY, SETTLING, Definition, Schedule
from .trial import Stage, Trial

# The sections that trials use; a whole result is a hundred times larger.
KEPT = ("weft", "throughput", "latency_ns", "messages", "checks", "counters", "topology", "wall")


def extract(result: dict[str, Any], what: Definition) -> dict[str, Any]:
    """Returns the stored part of a result, shared by experiments with different measures."""
    keys = [*KEPT, "incomplete"]
    if what.measures_run:
        keys += ["switches", "events", "traffic", "flows"]
    if what.measures_links or what.measures_run:
        keys += ["links"]
    if what.measure in (EFFICIENCY, SETTLING) or what.measures_run:
        keys += ["series"]
    return {key: result[key] for key in keys if key in result}


class Pool:
    """The trials and their running points."""

    def __init__(
        self, trials: list[Trial], asker: Asker, cache: str, srun: str | None, again: bool
    ) -> None:
        """'srun': as in Child; 'again': ignore existing results."""
        self.trials, self.asker, self.cache, self.srun = trials, asker, cache, srun
        self.again = again
        about = asker.ask("about")
        self.fabric, self.mark = about["fabric"], about["mark"]
        self.queue = deque(trials)
        self.running: dict[Child, tuple[Trial, str]] = {}
        self.waiting: dict[str, list[Trial]] = {}  # for the result of a running point, by its key
        self.progress = Progress(len(trials), 0)

    def key(self, trial: Trial) -> str:
        """Returns a name for the next point, which is equal if the same program would run the same thing."""
        run, overrides = trial.definition.run, trial.overrides()
        config = self.asker.run(run, overrides, whole=True)["config"]
        files = self.asker.run(run, overrides)["files"]
        whole = json.dumps([self.mark, config, files], sort_keys=True)
        return hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()

    def take_known(self, trial: Trial) -> str | None:
        """Gives the trial all stored results. Returns the key of the next point to run, or None."""
        while not trial.is_over:
            result = None
            try:
                key = self.key(trial)
            except Error as error:
                trial.fail(str(error))
                break
            with contextlib.suppress(Error):
                if not self.again and os.path.exists(f"{self.cache}/{key}.json"):
                    result = self.asker.whole_result(f"{self.cache}/{key}.json")
            if result is None or not trial.take(result):
                return key
        self._print_end(trial)
        return None

    def begin(self) -> Child | None:
        """Starts the next point. A trial waits if another trial is running its point."""
        while self.queue:
            trial = self.queue.popleft()
            key = self.take_known(trial)
            if key in self.waiting:
                self.waiting[key].append(trial)
            elif key is not None:
                # Files of a running point belong to this process alone.
                stem = f"{self.cache}/{key}.{os.getpid()}"
                run, sets = trial.definition.run, trial.sets()
                child = Child(self.fabric, run, sets, stem, self.srun)
                self.running[child], self.waiting[key] = (trial, key), []
                return child
        return None

    def _store(self, child: Child, what: Definition, key: str, cut_short: bool) -> dict[str, Any]:
        path = f"{self.cache}/{key}.json"
        try:
            kept = extract(child.result(self.asker, cut_short, seal=False), what)
            with open(child.part, "w", encoding="utf-8") as out:
                json.dump(kept, out, ensure_ascii=False, separators=(",", ":"))
            self.asker.result(child.part, seal=True)
            os.rename(child.part, path)
        except OSError as error:
            raise Error(f"{path}: cannot be written: {error.strerror}") from None
        finally:
            remove(child.part, child.log)
        return kept

    def end(self, child: Child, interrupted: bool) -> None:
        """Call when a process ended: runs the next points of its trial and of waiting trials."""
        trial, key = self.running.pop(child)
        self.queue.extendleft(reversed(self.waiting.pop(key)))
        try:
            if not trial.take(self._store(child, trial.definition, key, interrupted)):
                raise Error("the result is incomplete")
        except Error as error:
            if interrupted:
                return
            trial.fail(str(error))
        if trial.is_over:
            self._print_end(trial)
        else:
            self.queue.appendleft(trial)

    def _print_end(self, trial: Trial) -> None:
        self.progress.done += 1
        if trial.stage == Stage.FAILED:
            self.progress.line(f"{trial.label}: {trial.fault}")
        elif self.progress.bar is None:
            found = f"{trial.value:.4g} in {len(trial.points)} points"
            self.progress.line(f"{trial.label}: {found}")

    def run(self, jobs: int) -> bool:
        """Runs all trials, 'jobs' points at a time. Returns whether it was interrupted."""
        try:
            return run_all(jobs, self.begin, self.end, self.progress.draw)
        finally:
            self.progress.end()


def make_schedule(schedule: Schedule, folder: str) -> None:
    """Generates the schedule of a definition into the folder of results. Its name has its parameters
    and a hash of its contents, so another generator's schedule is another file."""
    if schedule.ranks == 0:
        return
    make_folder(folder)
    whole = os.path.realpath(folder)
    part = f"{whole}/schedule.{os.getpid()}.part"
    calc = schedule.calc // 1000
    words = ["goal", "gen", schedule.kind, f"--ranks={schedule.ranks}"]
    words += [f"--rounds={schedule.rounds}", f"--bytes={schedule.bytes}B", f"--calc={calc}ns"]
    try:
        must([*words, "-o", part])
        with open(part, "rb") as text:
            mark = hashlib.blake2b(text.read(), digest_size=8).hexdigest()
        size = f"{schedule.ranks}x{schedule.rounds}-{schedule.bytes}b-{calc}ns"
        schedule.path = f"{whole}/{schedule.kind}-{size}-{mark}.goal"
        os.rename(part, schedule.path)
    except OSError as error:
        raise os_error(error) from None
    finally:
        remove(part)
