# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The output of the bench."""

from .compare import AIM, median


def seconds(value):
    if value is None:
        return "-"
    return f"{value * 1e3:.3g} ms" if value < 0.0995 else f"{value:.3g} s"


def mebibytes(value):
    return f"{value / 1048576:.0f} MiB" if value else "-"


def head_lines():
    yield f"{'OpenSM engine':<15}{'its routing':>13}   {'weft':<30}{'ours':>9}{'memory':>10}" \
          f"{'ratio':>9}"


def theirs(row):
    if row.theirs:
        return seconds(median(row.theirs))
    if row.at_least is not None:
        return f"> {row.at_least:.0f} s"
    return "failed" if row.their_reason else "not run"


def ratio_text(row):
    ratio = row.ratio()
    if ratio is None:
        return "-"
    text = f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}"
    return ("" if row.theirs else "> ") + text + (" " if ratio >= AIM else "!")


def row_lines(title, rows):
    yield title
    failures = {}
    for row in rows:
        yield f"  {row.pair.engine_name:<13}{theirs(row):>13}   {row.pair.ours_name:<30}" \
              f"{seconds(median(row.ours)):>9}{mebibytes(row.memory):>10}{ratio_text(row):>9}"
        if row.their_reason and not row.theirs and row.at_least is None:
            failures[row.pair.engine_name] = f"opensm: {row.their_reason}"
        if row.our_reason:
            failures[row.pair.ours_name] = row.our_reason
    for name, why in failures.items():
        yield f"  {name} failed: {why}"


def cost_line(row):
    verdict = "met" if row.good() else "MISSED" if row.seconds else f"failed: {row.reason}"
    return f"  {row.cost.title:<31}{' '.join(row.cost.ours):<18}" \
           f"{seconds(median(row.seconds)):>9}{mebibytes(row.memory):>10}" \
           f"   < {row.cost.target:g} s   {verdict}"


def summary(rows, costs):
    missed = sum(not row.good() for row in rows)
    late = sum(not row.good() for row in costs)
    return f"{len(rows) - missed} of {len(rows)} comparisons at least {AIM:g} times as fast or " \
           f"with an engine that fails; {len(costs) - late} of {len(costs)} targets met"
