# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The tables of a sweep.

A row is a flat object: the varied keys, the seed, and the measures of the point's result
(docs/reference/sweep-folder.md lists them). A value that the result does not have is None in a row and
an empty cell in CSV. Run times are left out, so the tables of equal runs are equal.
"""
import csv
import io
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..quantity import at, mean_of, number_of
from .request import Plan

Row = dict[str, Any]

MEASURE = "measure"  # shown as mean and interval
COUNT = "count"  # summed
ANSWER = "answer"  # yes, no or None; for several runs, the common answer, else None
TEXT = "text"  # neither


class Column(NamedTuple):
    """A column, and the position of its value in a result."""

    name: str
    path: str
    kind: str = MEASURE


COMPLETION = "goal_completion_ns"
FIGURES = "mean stddev p50 p99 p999 max"


def _of(section: str, names: str, kind: str = MEASURE, prefix: str = "") -> list[Column]:
    return [Column(prefix + name, f"{section}.{name}", kind) for name in names.split()]


RELEASED = _of("throughput", "released")
TOTAL = _of("latency_ns.total", FIGURES, prefix="total_ns_")
# Per entry of 'traffic', if a run has several: traffic.0_accepted and so on.
ENTRY_COLUMNS = [*_of("throughput", "offered accepted"), *RELEASED, *TOTAL]
COLUMNS = [
    *_of("throughput", "offered accepted flits_per_ns_per_switch"),
    *_of("latency_ns.network", FIGURES, prefix="network_ns_"),
    *TOTAL,
    *RELEASED,
    *_of("latency_ns.network_released", "mean", prefix="network_released_ns_"),
    *_of("latency_ns.total_released", "mean", prefix="total_released_ns_"),
    *_of("latency_ns.resequencer", "frames", COUNT, "resequencer_"),
    *_of("latency_ns.resequencer", "mean p99 max", prefix="resequencer_ns_"),
    *_of("packets", "injected delivered dropped retransmitted pending", COUNT, "packets_"),
    *_of("messages", "generated delivered pending", COUNT, "messages_"),
    *_of("checks", "lost duplicated out_of_order deadlock", COUNT),
    Column("fingerprint", "fingerprint", TEXT),
    *_of("until", "reached", ANSWER, "until_"),
    *_of("until", "interval", TEXT, "until_"),
    Column("saturated", "saturated", ANSWER),
    Column("steady", "steady", ANSWER),
    *_of("counters", COMPLETION),
]


def _entry_columns(entry: int) -> list[Column]:
    return [Column(f"traffic.{entry}_{one.name}", one.path) for one in ENTRY_COLUMNS]


def columns(rows: Sequence[Row | None]) -> list[Column]:
    """Returns the columns of a table that at least one row has."""
    found, entry = list(COLUMNS), 0
    while any(row is not None and f"traffic.{entry}_offered" in row for row in rows):
        found += _entry_columns(entry)
        entry += 1
    return found


def _value(path: str, source: Any) -> Any:
    """Returns booleans as 0 or 1, missing values as None."""
    value = at(source, path)
    return int(value) if isinstance(value, bool) else value


def is_bad(result: dict[str, Any]) -> bool:
    checks = result["checks"]
    return any(checks.get(key) for key in ("lost", "duplicated", "out_of_order", "deadlock"))


def is_empty(result: dict[str, Any]) -> bool:
    return not is_bad(result) and isinstance(result.get("nothing_measured"), str)


def _tidy(text: str, unit: str | None) -> Any:
    """Returns the value of a varied key as a number, if all values of the key are numbers."""
    found = number_of(text) if unit is not None else None
    if found is None:
        return text
    return int(text) if unit == "" and text.isdecimal() else found.value


def _cells(plan: Plan, point: int, more: Row) -> Row:
    """Returns the varied keys, 'more', and finally KEY_text for keys whose numbers have units."""
    pairs = list(zip(plan.vary, plan.values(point)))
    keys = {vary.key: _tidy(value, vary.unit) for vary, value in pairs}
    return {**keys, **more, **{f"{vary.key}_text": value for vary, value in pairs if vary.unit}}


def row(plan: Plan, point: int, result: dict[str, Any]) -> Row:
    cells = {column.name: _value(column.path, result) for column in COLUMNS}
    if (result.get("counters") or {}).get("goal_unfinished", 0) > 0:
        cells[COMPLETION] = None  # a schedule that did not end has no time
    entries = result.get("traffic")
    if isinstance(entries, list) and len(entries) > 1:
        for index, entry in enumerate(entries):
            cells.update({one.name: _value(one.path, entry) for one in _entry_columns(index)})
    return _cells(plan, point, {"seed": result.get("seed"), **cells})


def _mean_cells(column: Column, rows: Sequence[Row | None]) -> Row:
    values = [r[column.name] for r in rows if r is not None and r.get(column.name) is not None]
    if column.kind == ANSWER:
        agreed = len(values) == len(rows) and sum(values) in (0, len(rows))
        return {column.name: int(sum(values) > 0) if agreed else None}
    if column.kind == COUNT:
        return {column.name: sum(values) if values else None}
    mean, half = (None if math.isnan(figure) else figure for figure in mean_of(values))
    return {column.name: mean, f"{column.name}_ci95": half}


def means(plan: Plan, rows: Sequence[Row | None]) -> list[Row]:
    """Returns, for each combination of the varied keys that has results, the mean of measures over
    the seeds with, as NAME_ci95, half its 95 % confidence interval, and the sum of counts."""
    found, used = [], [column for column in columns(rows) if column.kind != TEXT]
    for first in range(0, plan.points, plan.repeats):
        own = rows[first : first + plan.repeats]
        cells: Row = {"seeds": sum(r is not None for r in own)}
        for column in used if cells["seeds"] else ():
            cells.update(_mean_cells(column, own))
        if cells["seeds"]:
            found.append(_cells(plan, first, cells))
    return found


def headings(plan: Plan, rows: Sequence[Row | None]) -> tuple[list[str], list[str]]:
    keys = [vary.key for vary in plan.vary]
    texts = [f"{vary.key}_text" for vary in plan.vary if vary.unit]
    single, mean = [*keys, "seed"], [*keys, "seeds"]
    for column in columns(rows):
        single.append(column.name)
        mean += [column.name] if column.kind != TEXT else []
        mean += [f"{column.name}_ci95"] if column.kind == MEASURE else []
    return single + texts, mean + texts


def csv_text(plan: Plan, heading: Sequence[str], rows: Sequence[Row | None]) -> str:
    """Returns a table, without rows that are None. Numbers of varied keys have more digits."""
    digits = [12] * len(plan.vary) + [9] * len(heading)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading)
    for one in filter(None, rows):
        cells = zip(map(one.get, heading), digits)
        writer.writerow(f"{cell:.{n}g}" if isinstance(cell, float) else cell for cell, n in cells)
    return text.getvalue()


def rounded(value: Any) -> Any:
    """Returns a document with ten digits of each real number, as in sweep.json; non-finite ones become None."""
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else value
