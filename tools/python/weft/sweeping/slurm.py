# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs the points of a sweep as tasks of Slurm job arrays, a point each, and waits for their results,
which are files of the sweep's folder.

DIR/slurm.sh is the script of a task, which runs the same command with --point; DIR/slurm.points has
the points of the tasks, a line each; DIR/slurm.jobs the numbers of the jobs. A sweep that was killed
finds its jobs there and waits for them before it sends points again. A point counts as failed when no
task has been left for sweep.grace seconds, and has no result yet: NFS shows files late.
"""
import contextlib
import os
import re
import shlex
import subprocess
import time

from ..asker import program
from ..child import Watch, last_line
from ..error import Error, Exit
from ..files import remove, write_text
from .request import Sweep
from .run import Outcome, Progress

TASKS_MAX = 1000  # per array: Slurm's MaxArraySize is 1001 by default
QUEUE_S = 2.0  # seconds between queries of squeue
PATIENCE_S = 120.0  # how long squeue may fail
GONE_TIMES = 3  # minimum number of answers without our tasks before these count as ended
NOT_FOUND = 127  # exit code of a shell
SQUEUE = "squeue --me --noheader --array --format='%F %T' 2>/dev/null"


def _shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, shell=True, stdout=subprocess.PIPE, text=True, errors="replace", check=False
    )


def script(sweep: Sweep) -> str:
    """Our own command with --point, in the folder where it was given. What differs between arrays is
    an argument, because Slurm may give tasks an environment of its own. --point comes first, because
    the user's words may end with "--"."""
    points = f"{shlex.quote(os.path.realpath(sweep.path('.')))}/slurm.points"
    return (
        f"#!/bin/sh\ncd {shlex.quote(os.getcwd())} || exit 3\n"
        f'point=$(sed -n "$(($1 + SLURM_ARRAY_TASK_ID + 1))p" {points})\n'
        '[ -n "$point" ] || exit 3\n'
        f'exec {shlex.quote(program())} sweep --point "$point" {shlex.join(sweep.words)}\n'
    )


class Slurm:
    def __init__(self, outcome: Outcome, progress: Progress) -> None:
        self.sweep, self.outcome, self.progress = outcome.sweep, outcome, progress
        self.jobs: list[int] = []
        self.gone = 0  # consecutive answers without our tasks
        self.asked, self.running = 0.0, 0
        # Times of the last answer of squeue, and of the last one with the sweep's tasks.
        self.heard = self.seen = time.monotonic()

    def _write(self, name: str, text: str) -> None:
        write_text(self.sweep.path(name), text, ours=True)

    def _send_array(self, first: int, count: int) -> None:
        """Submits an array of tasks for 'count' lines of slurm.points, from 'first' on."""
        task = shlex.quote(self.sweep.path("slurm.sh"))
        done = _shell(
            "sbatch --parsable --job-name=weft-sweep --output=/dev/null "
            f"--array=0-{count - 1} {self.sweep.sbatch or ''} {task} {first}"
        )
        if done.returncode == NOT_FOUND:
            raise Error("--on slurm: the command sbatch is missing")
        number = re.match(r"\s*(\d+)", done.stdout)
        if done.returncode != 0 or number is None:
            raise Error("--on slurm: sbatch failed", Exit.NOT_ABLE)
        self.jobs.append(int(number[1]))
        self._write("slurm.jobs", "".join(f"{job}\n" for job in self.jobs))

    def send(self) -> None:
        self._write("slurm.sh", script(self.sweep))
        remove(self.sweep.path("slurm.jobs"))
        self.jobs, self.gone, self.seen = [], 0, time.monotonic()
        points = self.outcome.missing()
        self._write("slurm.points", "".join(f"{point}\n" for point in points))
        for first in range(0, len(points), TASKS_MAX):
            self._send_array(first, min(len(points) - first, TASKS_MAX))

    def cancel(self, _: int = 0) -> None:
        for job in self.jobs:
            _shell(f"scancel {job} 2>/dev/null")

    def take_results(self) -> None:
        """Loads the results that have arrived. Those of another configuration were counted at the start."""
        outcome = self.outcome
        strange, changed = outcome.strange, outcome.changed
        for point in outcome.missing():
            if outcome.find(point):
                self.progress.done += 1
                if self.progress.bar is None:
                    self.progress.line(self.sweep.plan.label(point))
        outcome.strange, outcome.changed = strange, changed

    def _ask_queue(self, now: float, grace: float) -> bool:
        """Returns whether the tasks have been gone for 'grace' seconds."""
        self.asked = now
        done = _shell(SQUEUE)
        if done.returncode != 0:
            if now < self.heard + PATIENCE_S:
                return False
            raise Error(
                "--on slurm: squeue does not answer; run the same command again when squeue works",
                Exit.NOT_ABLE,
            )
        found = re.findall(r"^\s*(\d+)\s+(\S+)\s*$", done.stdout, re.M)
        states = [state for job, state in found if int(job) in self.jobs]
        self.running = states.count("RUNNING")
        self.heard = now
        self.gone = 0 if states else self.gone + 1
        self.seen = now if states else self.seen
        return self.gone >= GONE_TIMES and now >= self.seen + grace

    def wait(self, watch: Watch, grace: float) -> None:
        """Waits until all results are there, or no task has been left for 'grace' seconds."""
        gone = False
        while not gone and self.outcome.missing() and not watch.interrupted:
            now = time.monotonic()
            self.progress.draw(self.running)
            watch.wait(())
            self.take_results()
            if now < self.asked + QUEUE_S:
                continue
            gone = self._ask_queue(now, grace)
            os.listdir(self.sweep.path("."))  # NFS looks again for files that were not there
            if gone:
                self.take_results()

    def run(self) -> bool:
        """Runs the jobs. Ctrl-C and SIGTERM cancel them."""
        with Watch(self.cancel) as watch:
            self._run(watch)
            return watch.interrupted

    def _run(self, watch: Watch) -> None:
        """Gives tasks of an earlier command no grace: submitting a point twice costs only time."""
        with contextlib.suppress(OSError):
            with open(self.sweep.path("slurm.jobs"), encoding="utf-8") as text:
                self.jobs = [int(word) for word in text.read().split() if word.isdecimal()]
        if self.jobs:
            self.wait(watch, 0)
        if watch.interrupted or not self.outcome.missing():
            return
        try:
            self.send()
        except Error:
            self.cancel()
            raise
        self.wait(watch, self.sweep.grace or 0)
        for point in self.outcome.missing() if not watch.interrupted else ():
            why = last_line(f"{self.sweep.stem(point)}.log")
            self.outcome.failed += 1
            why = why or "the task ended without a result"
            self.progress.failed(self.sweep.plan.label(point), why)
