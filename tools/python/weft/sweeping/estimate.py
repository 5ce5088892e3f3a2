# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The cost of a sweep before it runs (--dry-run).

On the virtual clock a few points, spread over the sweep, run for a small part of their time, then for
four times as long, and so on, until they take a tenth of a second; the last two of these give the cost
of the rest as a straight line. On the real clock a run takes as long as it says.
"""
import math
import os
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ..asker import Asker
from ..child import run_one
from ..error import Error, Exit
from ..files import read_json
from ..quantity import time_text
from .request import Sweep

TRIALS_MAX = 6
MIN_SHARE = 1 / 4096
GROWTH = 4
ENOUGH_S = 0.1  # CPU time beyond the shortest run of a trial
ENOUGH_PART = 4  # plus this fraction of that run, whose time varies
ENOUGH_PS = 1e6  # the shortest run: 1 us
MARGIN = 1.5  # between the limits of the estimate: runs become slower as queues fill
REAL_START = 1.0  # additional seconds for a run on the real clock


class Cost(NamedTuple):
    """The cost of a run or a point. 'schedule': it replays one; 'ended': its schedule ended, so a
    longer run costs the same."""

    cpu_s: float
    schedule: bool
    ended: bool


def _sets(takes: dict[str, Any], share: float) -> list[str]:
    if takes["messages"] > 0:
        messages = max(1, share * takes["messages"])
        warmup = math.floor(share * takes["warmup_messages"])
        return [f"measure.messages={messages:.0f}", f"measure.warmup-messages={warmup}"]
    ps = max(share * takes["duration_ps"], ENOUGH_PS)
    times = (f"{key}={ps:.0f}ps" for key in ("measure.sample", "measure.duration"))
    return ["measure.warmup=0s", *times]


def _cost_of(run: Callable[[float], Cost]) -> Cost:
    """Returns the cost of the whole point, from runs of a growing share of it. The shortest run
    measures little more than the constant cost of starting."""
    share, grown = MIN_SHARE, 0.0
    first = last = run(share)
    enough = max(ENOUGH_S, first.cpu_s / ENOUGH_PART)
    while not last.ended and share < 1 and grown < enough:
        share = min(1, share * GROWTH)
        last = run(share)
        grown = last.cpu_s - first.cpu_s
    if last.ended or share <= MIN_SHARE:
        return last
    rest = max(grown, 0) / (share - MIN_SHARE) * (1 - share)
    return last._replace(cpu_s=last.cpu_s + rest)


def _run(sweep: Sweep, asker: Asker, point: int, folder: str, share: float) -> Cost:
    sets = sweep.point_sets(point) + _sets(sweep.config(asker, point), share)
    child = run_one(asker.ask("about")["fabric"], sweep.run_file, sets, folder)
    counters = read_json(child.part, "no result", "result/1").get("counters") or {}
    unfinished = counters.get("goal_unfinished")
    return Cost(child.cpu_s, unfinished is not None, unfinished == 0)


def _try_points(sweep: Sweep, asker: Asker) -> list[Cost]:
    """Adds points that prove to be invalid to sweep.invalid."""
    points, costs = sweep.plan.points, []
    trials = min(points, TRIALS_MAX)
    chosen = {i * (points - 1) // max(trials - 1, 1) for i in range(trials)}
    with tempfile.TemporaryDirectory(prefix="weft-sweep-") as folder:
        for point in sorted(chosen - set(sweep.invalid)):
            try:
                costs.append(_cost_of(partial(_run, sweep, asker, point, os.path.realpath(folder))))
            except Error as error:
                if error.code != Exit.BAD_REQUEST or not sweep.skip_invalid:
                    raise Error(f"{sweep.plan.label(point)}: {error}", error.code) from error
                sweep.invalid[point] = str(error)
    return costs


def show(sweep: Sweep, asker: Asker, real_clock: bool) -> int:
    """Prints the number of points and the estimated time, and returns the exit code."""
    load, jobs = os.getloadavg()[0], sweep.jobs  # the load before the trials
    costs = [] if real_clock else _try_points(sweep, asker)
    if real_clock:
        takes = [sweep.config(asker, point) for point in sweep.valid]
        seconds = sum(t["duration_ps"] / 1e12 * t["dilation"] + REAL_START for t in takes)
        more = f", about {time_text(seconds / jobs)}, {jobs} at a time on the real clock"
    elif not costs:
        more = "; none of the sampled points is valid"
    else:
        low = sum(cost.cpu_s for cost in costs) / len(costs) * len(sweep.valid)
        high = MARGIN * low
        most = any(cost.schedule and not cost.ended for cost in costs)  # it may end early
        busy = max((jobs + load) / len(os.sched_getaffinity(0)), 1)
        cpu, elapsed = (
            f"at most {end}" if most else f"about {start} to {end}"
            for start, end in (
                (time_text(low), time_text(high)),
                (time_text(low / jobs), time_text(high / jobs * busy)),
            )
        )
        more = (
            f", {cpu} of CPU time, {elapsed} with {jobs} at a time (from "
            f"short runs of {len(costs)} points; the longest if the machine's load stays {load:.1f})"
        )
    invalid = f" ({len(sweep.invalid)} more are not valid)" if sweep.invalid else ""
    print(f"{len(sweep.valid)} points{invalid}{more}")
    return Exit.DONE if real_clock or costs else Exit.BAD_REQUEST
