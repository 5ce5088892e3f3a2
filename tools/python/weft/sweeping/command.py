# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft sweep: a run file over values of its keys and over seeds."""
from __future__ import annotations

import getopt
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..asker import Asker
from ..command import note, wants_help
from ..error import Error, Exit
from . import cases, estimate, manifest, run, slurm, table
from .cases import CASES_KEY
from .plan import POINTS_MAX, Vary, parse_seeds, parse_vary
from .request import JOBS_MAX, SETS_MAX, Sweep
from .run import Outcome

NAME = "sweep"
USAGE = """\
usage: weft sweep RUN.yaml [--vary KEY=VALUES]... [--cases FILE] [--seeds LO:HI]
                  [--set KEY=VALUE]... [--jobs N] [--on slurm [--sbatch ARGS] [--grace S]]
                  [--skip-invalid] [--restart] [--json] -o DIR
       weft sweep RUN.yaml ... -o DIR --prepare | --point N
       weft sweep RUN.yaml ... --dry-run

Runs every combination of the values, each with every seed, and writes DIR/sweep.csv,
sweep.json and sweep-mean.csv (mean and 95 % confidence interval over the seeds). The same
command continues after an interruption.
  --vary KEY=A,B,C       the values of a key of the run file: routing.algorithm=ud,dmodk
  --vary KEY=LO:HI:STEP  the same, counted: traffic.0.load=10%:100%:10%
  --cases FILE           named settings of several keys each, as the values of 'case'
  --seeds LO:HI          every point once with each seed
  --set KEY=VALUE        change a key for all points
  --jobs N               points at a time (default: the cores; 1 on the real clock)
  --on slurm             run the points as tasks of a job array; DIR is on a disk that all see
  --sbatch ARGS          further arguments of sbatch, such as '--time=1:00:00 --mem=2G'
  --grace S              seconds after the last task until a point without a result has
                         failed (90: a disk shared by NFS shows files late)
  --prepare              only write DIR/manifest.json, for --point
  --point N              only this point, from 0, of the sweep prepared in DIR; tasks of
                         clusters do this (topo/Snakefile)
  --skip-invalid         leave points out that are no good run files; say which
  --dry-run              only say how many points there are and about how long they take
  --restart              delete the results of another sweep in DIR
  --json                 print sweep.json
Exit: 0 done, 1 a point failed or deadlocked, packets were lost, duplicated or out of order,
or nothing was measured, 2 bad request, 3 not able, 130 ended by Ctrl-C.
"""
SKIPPED_SHOWN = 5
GRACE_S = 90  # a client of NFS may remember for 60 s that there was no file
GRACE_MAX_S = 86400


def _number(option: str, text: str, low: int, high: int, expected: str) -> int:
    if re.fullmatch(r"[0-9]{1,20}", text) and low <= int(text) <= high:
        return int(text)
    raise Error(f"{option} {text}: expected {expected}")


def _take_cases(sweep: Sweep, path: str) -> None:
    if sweep.cases:
        raise Error(f"--cases: expected one file, not also '{path}'")
    sweep.cases = cases.load(path)
    sweep.plan.add(Vary(CASES_KEY, [case.name for case in sweep.cases]))


def _take_set(sweep: Sweep, text: str) -> None:
    if len(sweep.sets) == SETS_MAX:
        raise Error(f"--set: at most {SETS_MAX} of them")
    sweep.sets.append(text)


def _take_seeds(sweep: Sweep, text: str) -> None:
    sweep.plan.first_seed, sweep.plan.seeds = parse_seeds(text)


def _take_jobs(sweep: Sweep, text: str) -> None:
    sweep.jobs = _number("--jobs", text, 1, JOBS_MAX, f"1 to {JOBS_MAX}")


def _take_on(sweep: Sweep, text: str) -> None:
    if text != "slurm":
        raise Error(f"--on {text}: expected slurm")
    sweep.on_slurm = True


def _take_grace(sweep: Sweep, text: str) -> None:
    sweep.grace = _number("--grace", text, 0, GRACE_MAX_S, f"0 to {GRACE_MAX_S} seconds")


def _take_point(sweep: Sweep, text: str) -> None:
    sweep.point = _number("--point", text, 0, POINTS_MAX - 1, "the number of a point")


def _flag(name: str, value: object = True) -> Callable[[Sweep, str], None]:
    return lambda sweep, _: setattr(sweep, name, value)


def _text(name: str) -> Callable[[Sweep, str], None]:
    return lambda sweep, text: setattr(sweep, name, text)


TAKE: dict[str, Callable[[Sweep, str], None]] = {
    "vary=": lambda sweep, text: sweep.plan.add(parse_vary(text)),
    "cases=": _take_cases,
    "skip-invalid": _flag("skip_invalid"),
    "dry-run": _flag("dry_run"),
    "seeds=": _take_seeds,
    "set=": _take_set,
    "jobs=": _take_jobs,
    "restart": _flag("restart"),
    "json": _flag("json"),
    "on=": _take_on,
    "sbatch=": _text("sbatch"),
    "grace=": _take_grace,
    "point=": _take_point,
    "prepare": _flag("prepare"),
    "-o=": _text("folder"),
}


def parse(words: Sequence[str]) -> Sweep:
    """The request of a command line."""
    sweep = Sweep(words=list(words))
    try:
        options, rest = getopt.gnu_getopt(sweep.words, "o:", list(TAKE))
    except getopt.GetoptError as error:
        raise Error(f"{error}; 'weft sweep --help' lists the options") from error
    for option, value in options:
        name = option.removeprefix("--")
        take = TAKE[name if name in TAKE else f"{name}="]
        take(sweep, value)
    for word in rest:
        if sweep.run_file:
            raise Error(f"one run file, not also '{word}'")
        sweep.run_file = word
    sweep.check()
    if sweep.grace is None and sweep.on_slurm:
        sweep.grace = GRACE_S
    if sweep.point is not None:
        sweep.on_slurm = False
    return sweep


def choose_jobs(sweep: Sweep, real_clock: bool) -> None:
    """Settles how many points run at a time."""
    asked, cores = sweep.jobs, len(os.sched_getaffinity(0))
    wanted = asked or (1 if real_clock else cores)
    sweep.jobs = min(wanted, sweep.plan.points, JOBS_MAX)
    if real_clock and asked == 0 and cores > 1 and sweep.plan.points > 1:
        note(NAME, "one point at a time: on the real clock they would disturb each other")
    elif real_clock and sweep.jobs > 1:
        note(NAME, f"{sweep.jobs} points at a time on the real clock disturb each other")


def document(sweep: Sweep, asked: manifest.Document, outcome: Outcome) -> dict[str, Any]:
    """sweep.json: the results that exist and the points that are missing."""
    plan, rows = sweep.plan, outcome.rows
    missing = [p for p in range(plan.points) if rows[p] is None and p not in sweep.invalid]
    return {
        "weft": "sweep-result/1",
        "configuration": asked["configuration"],
        "vary": asked["vary"],
        "seeds": asked["seeds"],
        "points": table.rounded([row for row in rows if row is not None]),
        "means": table.rounded(table.means(plan, rows)),
        "missing": [plan.name(point) for point in missing],
        "skipped": [
            {"point": plan.name(point), "why": why} for point, why in sorted(sweep.invalid.items())
        ],
    }


def write_tables(sweep: Sweep, asked: manifest.Document, outcome: Outcome) -> dict[str, Any]:
    """sweep.csv, sweep-mean.csv and sweep.json, which it returns."""
    plan, rows = sweep.plan, outcome.rows
    single, mean = table.headings(plan, rows)
    manifest.write_text(sweep.path("sweep.csv"), table.csv_text(plan, single, rows))
    means = table.csv_text(plan, mean, table.means(plan, rows))
    manifest.write_text(sweep.path("sweep-mean.csv"), means)
    found = document(sweep, asked, outcome)
    manifest.write_json(sweep.path("sweep.json"), found)
    return found


def summary(sweep: Sweep, outcome: Outcome) -> str:
    """The line of points."""
    parts = (
        (len(sweep.invalid), "skipped because they are not valid"),
        (outcome.had, "already there"),
        (outcome.strange, "rerun because the old result had another configuration"),
        (outcome.changed, "rerun because the old result had been changed"),
        (outcome.failed, "failed"),
        (outcome.bad, "with packets lost, duplicated, out of order or in deadlock"),
        (outcome.empty, "with nothing measured"),
    )
    more = "".join(f", {count} {what}" for count, what in parts if count > 0)
    return f"{outcome.done} of {sweep.plan.points} points{more}"


def _report(sweep: Sweep, outcome: Outcome) -> int:
    """Prints the last lines; the exit code of the command."""
    out = sys.stderr if sweep.json else sys.stdout
    print(summary(sweep, outcome), file=out)
    print(f"{sweep.folder}/sweep.csv, sweep-mean.csv, sweep.json", file=out)
    if outcome.interrupted:
        left = sweep.valid_points - outcome.done
        note(
            NAME, f"ended early; the same command continues with the {left} points that are missing"
        )
        return Exit.INTERRUPTED
    if sweep.valid_points == 0:
        raise Error(f"--skip-invalid: none of {sweep.plan.points} points is valid")
    bad = outcome.failed + outcome.bad + outcome.empty
    return Exit.BAD_ANSWER if bad else Exit.DONE


def _run_point(sweep: Sweep, asker: Asker, asked: manifest.Document) -> int:
    """As a task: neither locks the folder nor writes tables."""
    assert sweep.folder is not None
    there = None
    why = manifest.NAME
    try:
        there = manifest.read(sweep.folder)
    except Error as error:
        why = str(error)
    if there is None:
        raise Error(f"--point: {sweep.folder} has no sweep: {why}")
    manifest.compare(sweep, there, asked)
    sweep.jobs = 1
    outcome = run.run(sweep, asker)
    if outcome.interrupted:
        return Exit.INTERRUPTED
    return Exit.BAD_ANSWER if outcome.failed else Exit.DONE


def _note_skipped(sweep: Sweep) -> None:
    """The first points that are left out, and why."""
    for point in sorted(sweep.invalid)[:SKIPPED_SHOWN]:
        note(NAME, f"skipped: {sweep.plan.label(point)}: {sweep.invalid[point]}")
    if len(sweep.invalid) > SKIPPED_SHOWN:
        note(NAME, f"and {len(sweep.invalid) - SKIPPED_SHOWN} more skipped")


def _estimate(sweep: Sweep, asker: Asker, real_clock: bool) -> int:
    """How many points there are and about how long they take."""
    choose_jobs(sweep, real_clock)
    found = (
        estimate.estimate_real(sweep, asker)
        if real_clock
        else estimate.estimate_virtual(sweep, asker)
    )
    if found is None:
        return Exit.INTERRUPTED
    invalid = f" ({len(sweep.invalid)} more are not valid)" if sweep.invalid else ""
    wall, cpu = estimate.time_text(found.wall_s), estimate.time_text(found.cpu_s)
    if real_clock:
        more = f", about {wall}, {sweep.jobs} at a time on the real clock"
    elif found.trials == 0:
        more = "; none of those that were tried is valid"
    else:
        more = (
            f", {'at most' if found.at_most else 'about'} {cpu} of CPU time, {wall} with "
            f"{sweep.jobs} at a time (from short runs of {found.trials} points)"
        )
    print(f"{found.points} points{invalid}{more}")
    return Exit.BAD_REQUEST if not real_clock and found.trials == 0 else Exit.DONE


def _in_folder(sweep: Sweep, asker: Asker, asked: manifest.Document, real_clock: bool) -> int:
    folder = manifest.open_folder(sweep)
    try:
        manifest.settle(sweep, asked)
        if sweep.prepare:
            print(f"{sweep.valid_points} points")
            return Exit.DONE
        choose_jobs(sweep, real_clock)
        outcome = slurm.run(sweep, asker) if sweep.on_slurm else run.run(sweep, asker)
        found = write_tables(sweep, asked, outcome)
    finally:
        os.close(folder)
    if sweep.json:
        json.dump(found, sys.stdout, indent=2, ensure_ascii=False)
        print()
    return _report(sweep, outcome)


def main(words: list[str]) -> int:
    """The command. Returns its exit code."""
    if not words or wants_help(words):
        print(USAGE, end="", file=sys.stdout if words else sys.stderr)
        return Exit.DONE if words else Exit.BAD_REQUEST
    sweep = parse(words)
    with Asker() as asker:
        asked, real_clock = manifest.make(sweep, asker)
        if sweep.point is not None:
            return _run_point(sweep, asker, asked)
        _note_skipped(sweep)
        if sweep.dry_run:
            return _estimate(sweep, asker, real_clock)
        return _in_folder(sweep, asker, asked, real_clock)
