# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The cost of a sweep before it runs (--dry-run).

On the virtual clock a few points, spread over the sweep, run for a small part of their time, then for
four times as long, and so on, until they take a tenth of a second; the last two of these give the cost
of the rest as a straight line. On the real clock a run takes as long as it says.
"""
from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..asker import Asker
from ..child import Child, Watch
from ..error import Error, Exit
from ..output import read_json, remove
from .request import Sweep

TRIALS_MAX = 6
MIN_SHARE = 1 / 4096
GROWTH = 4
ENOUGH_S = 0.1  # CPU time beyond the shortest run of a trial
ENOUGH_PART = 4  # and the fraction of that run, whose time varies
ENOUGH_PS = 1e6  # the shortest run: 1 us
REAL_START = 1.0  # seconds that a run on the real clock needs besides


@dataclass
class Estimate:
    """Times in seconds."""

    points: int  # to run, without invalid ones
    trials: int = 0  # that were tried
    cpu_s: float = 0.0  # sum over all points; 0 on the real clock
    wall_s: float = 0.0  # with sweep.jobs at a time
    at_most: bool = False  # a schedule may end before its time


class _Interrupted(Exception):
    pass


class Share(NamedTuple):
    """A run of a share of a point's time. 'schedule': it has one; 'ended': the schedule ended, so that
    a longer run costs the same."""

    cpu_s: float
    schedule: bool
    ended: bool


def _sets(takes: dict[str, Any], share: float) -> list[str]:
    """The changes for a share of the point's time, or of its messages."""
    if takes["messages"] > 0:
        messages = max(1, share * takes["messages"])
        warmup = math.floor(share * takes["warmup_messages"])
        return [f"measure.messages={messages:.0f}", f"measure.warmup-messages={warmup}"]
    ps = max(share * takes["duration_ps"], ENOUGH_PS)
    times = (f"{key}={ps:.0f}ps" for key in ("measure.sample", "measure.duration"))
    return ["measure.warmup=0s", *times]


def _run(fabric: str, run_file: str, sets: list[str], folder: str) -> Share:
    """Error: the run failed."""
    child = Child(fabric, run_file, sets, f"{folder}/trial.json", f"{folder}/trial.log")
    try:
        with Watch(child.signal) as watch:
            while not child.ended():
                watch.wait((child,))
            if watch.interrupted:
                raise _Interrupted
        if not 0 <= child.exit_code() <= Exit.BAD_ANSWER or not os.path.exists(child.part):
            refused = child.exit_code() == Exit.BAD_REQUEST
            raise Error(child.failure(), Exit.BAD_REQUEST if refused else Exit.NOT_ABLE)
        unfinished = (read_json(child.part, "no result").get("counters") or {}).get(
            "goal_unfinished"
        )
        return Share(child.cpu_s, unfinished is not None, unfinished == 0)
    finally:
        remove(child.part)
        remove(child.log)


def _cpu_of(run: Callable[[float], Share], estimate: Estimate) -> float:
    """The CPU time of a whole point, from runs of a growing share of it. The shortest one is hardly
    more than what a run needs before it starts, which does not grow."""
    share, grown = MIN_SHARE, 0.0
    first = last = run(share)
    enough = max(ENOUGH_S, first.cpu_s / ENOUGH_PART)
    while not last.ended and share < 1 and grown < enough:
        share = min(1, share * GROWTH)
        last = run(share)
        grown = last.cpu_s - first.cpu_s
    estimate.at_most = estimate.at_most or (last.schedule and not last.ended)
    if last.ended or share <= MIN_SHARE:
        return last.cpu_s
    return last.cpu_s + max(grown, 0) / (share - MIN_SHARE) * (1 - share)


def _try_points(sweep: Sweep, asker: Asker, folder: str, estimate: Estimate) -> float:
    """The CPU time of the tried points together."""
    fabric, points = asker.ask("about")["fabric"], sweep.plan.points
    trials, total = min(points, TRIALS_MAX), 0.0
    for point in [i * (points - 1) // max(trials - 1, 1) for i in range(trials)]:
        if point in sweep.invalid:
            continue
        takes, sets = sweep.config(asker, point), sweep.point_sets(point)
        try:
            total += _cpu_of(
                lambda share: _run(fabric, sweep.run_file, sets + _sets(takes, share), folder),
                estimate,
            )
            estimate.trials += 1
        except Error as error:
            if error.code != Exit.BAD_REQUEST or not sweep.skip_invalid:
                raise Error(f"{sweep.plan.label(point)}: {error}", error.code) from error
            sweep.invalid[point] = str(error)
    return total


def estimate_virtual(sweep: Sweep, asker: Asker) -> Estimate | None:
    """None after Ctrl-C. Adds trial points that prove to be invalid to sweep.invalid."""
    estimate = Estimate(sweep.valid_points)
    with tempfile.TemporaryDirectory(prefix="weft-sweep-") as folder:
        try:
            total = _try_points(sweep, asker, os.path.realpath(folder), estimate)
        except _Interrupted:
            return None
    estimate.points = sweep.valid_points
    if estimate.trials > 0:
        estimate.cpu_s = total / estimate.trials * estimate.points
    estimate.wall_s = estimate.cpu_s / sweep.jobs
    return estimate


def estimate_real(sweep: Sweep, asker: Asker) -> Estimate:
    """From the durations of the runs."""
    estimate = Estimate(sweep.valid_points)
    for point in range(sweep.plan.points):
        if point not in sweep.invalid:
            takes = sweep.config(asker, point)
            estimate.wall_s += takes["duration_ps"] / 1e12 * takes["dilation"] + REAL_START
    estimate.wall_s /= sweep.jobs
    return estimate


def time_text(seconds: float) -> str:
    """For people.

    >>> time_text(7200), time_text(90), time_text(3)
    ('2.0 h', '1.5 min', '3.00 s')
    """
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} h"
    if seconds >= 90:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
