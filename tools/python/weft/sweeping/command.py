# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft sweep: runs a run file with several values of its keys and several seeds."""
import os
import sys
from typing import Any

from ..asker import Asker
from ..command import note, options, print_json
from ..error import Error, Exit, need
from ..files import write_text
from ..quantity import Parse, choice, number
from . import estimate, manifest, run, slurm, table
from .request import CASES_KEY, JOBS_MAX, POINTS_MAX, Sweep, Vary, load_cases, parse_vary
from .run import Outcome

NAME = "sweep"
USAGE = """\
usage: weft sweep RUN.yaml [--vary KEY=VALUES]... [--cases FILE] [--seeds LO:HI]
                  [--set KEY=VALUE]... [--jobs N]
                  [--on slurm [--sbatch ARGS] [--grace S]] [--skip-invalid]
                  [--restart] [--json] -o DIR
       weft sweep RUN.yaml ... -o DIR --prepare | --point N
       weft sweep RUN.yaml ... --dry-run

Runs every combination of the values with every seed, and writes DIR/sweep.csv,
sweep.json and sweep-mean.csv (mean and 95 % confidence interval over the
seeds). The same command resumes after an interruption.
  --vary KEY=A,B,C       the values of a key of the run file:
                         routing.algorithm=ud,dmodk
  --vary KEY=LO:HI:STEP  a range: traffic.0.load=10%:100%:10%
  --cases FILE           named settings of several keys each, as the values of
                         'case'
  --seeds LO:HI          runs every point once with each seed; 1:4 are four, 4
                         is only one
  --set KEY=VALUE        change a key for all points
  --jobs N               points at a time (default: number of cores; 1 on the
                         real clock)
  --on slurm             run the points as tasks of a job array; all machines
                         must share DIR
  --sbatch ARGS          additional arguments for sbatch, such as
                         '--time=1:00:00 --mem=2G'
  --grace S              seconds after the last task until a point without a
                         result counts as failed (90, because files can appear
                         late over NFS)
  --prepare              only write DIR/manifest.json, for --point
  --point N              run only this point, counted from 0, of the sweep
                         prepared in DIR; for tasks on clusters (topo/Snakefile)
  --skip-invalid         omit points that are not valid run files, and print
                         them
  --dry-run              only print the number of points and an estimate of
                         their time
  --restart              delete the results of another sweep in DIR
  --json                 print sweep.json
Exit: 0 success, 1 a point failed or deadlocked, packets were lost, duplicated
or out of order, or nothing was measured, 2 invalid request, 3 not possible on
this machine, 130 ended by Ctrl-C.
"""
SKIPPED_SHOWN = 5
GRACE_S = 90  # an NFS client may cache for 60 s that a file does not exist
GRACE_MAX_S = 86400


def parse(words: list[str]) -> Sweep:
    sweep = Sweep(words=words)
    plan = sweep.plan

    def take_cases(text: str) -> None:
        if sweep.cases:
            raise Error(f"--cases: expected one file; found a second: '{text}'")
        sweep.cases = load_cases(text)
        plan.add(Vary(CASES_KEY, [*sweep.cases]))

    readers: dict[str, Parse] = {
        "vary": lambda text: plan.add(parse_vary(text)),
        "cases": take_cases,
        "seeds": plan.take_seeds,
        "set": sweep.sets.append,
        "jobs": number(1, JOBS_MAX),
        "grace": number(0, GRACE_MAX_S, " seconds"),
        "point": number(0, POINTS_MAX - 1),
        "on": choice("slurm"),
    }
    found, rest = options(USAGE, words, readers)
    for name, value in found.items():
        setattr(sweep, "folder" if name == "o" else name, value)
    if len(rest) > 1:
        raise Error(f"expected one run file; found a second: '{rest[1]}'")
    sweep.run_file = rest[0] if rest else ""
    sweep.check()
    if plan.seeds == 1:
        note(NAME, f"--seeds: one seed, the number {plan.first_seed}; a range is 1:4")
    if sweep.grace is None and sweep.on:
        sweep.grace = GRACE_S
    if sweep.point is not None:
        sweep.on = ""
    return sweep


def _choose_jobs(sweep: Sweep, real_clock: bool) -> None:
    asked, cores = sweep.jobs, len(os.sched_getaffinity(0))
    wanted = asked or (1 if real_clock else cores)
    sweep.jobs = min(wanted, sweep.plan.points, JOBS_MAX)
    if real_clock and asked == 0 and cores > 1 and sweep.plan.points > 1:
        note(NAME, "one point at a time: on the real clock they would disturb each other")
    elif real_clock and sweep.jobs > 1:
        note(NAME, f"{sweep.jobs} points at a time on the real clock disturb each other")


def _write_tables(sweep: Sweep, asked: manifest.Document, outcome: Outcome) -> dict[str, Any]:
    """Also returns sweep.json, with the existing results and the missing points."""
    plan, rows = sweep.plan, [row for row in outcome.rows if row is not None]
    means, (single, mean) = table.means(plan, outcome.rows), table.headings(plan, rows)
    write_text(sweep.path("sweep.csv"), table.csv_text(plan, single, rows), ours=True)
    write_text(sweep.path("sweep-mean.csv"), table.csv_text(plan, mean, means), ours=True)
    found = {
        "weft": "sweep-result/1",
        **{key: asked[key] for key in ("configuration", "vary", "seeds")},
        "points": table.rounded(rows),
        "means": table.rounded(means),
        "missing": [plan.name(point) for point in outcome.missing()],
        "skipped": [
            {"point": plan.name(point), "why": why} for point, why in sorted(sweep.invalid.items())
        ],
    }
    manifest.write_json(sweep.path("sweep.json"), found)
    return found


def run_all(
    sweep: Sweep, asker: Asker, asked: manifest.Document, real_clock: bool
) -> tuple[Outcome, dict[str, Any]]:
    """Runs the points that are missing from the folder; also returns sweep.json."""
    if sweep.plan.seeds > 1:
        need("scipy")  # for the intervals
    with manifest.locked(sweep, asked):
        _choose_jobs(sweep, real_clock)
        outcome = run.run(sweep, asker, slurm.Slurm if sweep.on else run.Runner)
        return outcome, _write_tables(sweep, asked, outcome)


def summary(outcome: Outcome) -> str:
    parts = {
        "skipped because they are not valid": len(outcome.sweep.invalid),
        "already there": outcome.had,
        "rerun because the old result had another configuration": outcome.strange,
        "rerun because the old result had been changed": outcome.changed,
        "failed": outcome.failed,
        "with packets lost, duplicated, out of order or in deadlock": outcome.bad,
        "with nothing measured": outcome.empty,
    }
    more = "".join(f", {count} {what}" for what, count in parts.items() if count > 0)
    return f"{outcome.done} of {outcome.sweep.plan.points} points{more}"


def _report(sweep: Sweep, outcome: Outcome) -> int:
    out = sys.stderr if sweep.json else sys.stdout
    print(f"{summary(outcome)}\n{sweep.folder}/sweep.csv, sweep-mean.csv, sweep.json", file=out)
    if outcome.interrupted:
        left = f"the {len(sweep.valid) - outcome.done} points that are missing"
        note(NAME, f"ended early; run the same command again for {left}")
        return Exit.INTERRUPTED
    if not sweep.valid:
        raise Error(f"--skip-invalid: none of {sweep.plan.points} points is valid")
    bad = outcome.failed + outcome.bad + outcome.empty
    return Exit.BAD_ANSWER if bad else Exit.DONE


def _run_point(sweep: Sweep, asker: Asker, asked: manifest.Document) -> int:
    """Runs one point as a task: neither locks the folder nor writes tables."""
    there, why = None, manifest.NAME
    try:
        there = manifest.read(sweep.folder or ".")
    except Error as error:
        why = str(error)
    if there is None:
        raise Error(f"--point: {sweep.folder} contains no sweep: {why}")
    manifest.compare(sweep, there, asked)
    sweep.jobs = 1
    outcome = run.run(sweep, asker, run.Runner)
    if outcome.interrupted:
        return Exit.INTERRUPTED
    return Exit.BAD_ANSWER if outcome.failed else Exit.DONE


def main(words: list[str]) -> int:
    sweep = parse(words)
    with Asker() as asker:
        asked, real_clock = manifest.make(sweep, asker)
        if sweep.point is not None:
            return _run_point(sweep, asker, asked)
        for point in sorted(sweep.invalid)[:SKIPPED_SHOWN]:
            note(NAME, f"skipped: {sweep.plan.label(point)}: {sweep.invalid[point]}")
        if len(sweep.invalid) > SKIPPED_SHOWN:
            note(NAME, f"and {len(sweep.invalid) - SKIPPED_SHOWN} more skipped")
        if sweep.dry_run:
            _choose_jobs(sweep, real_clock)
            return estimate.show(sweep, asker, real_clock)
        if sweep.prepare:
            with manifest.locked(sweep, asked):
                print(f"{len(sweep.valid)} points")
            return Exit.DONE
        outcome, found = run_all(sweep, asker, asked, real_clock)
        if sweep.json:
            print_json(found)
        return _report(sweep, outcome)
