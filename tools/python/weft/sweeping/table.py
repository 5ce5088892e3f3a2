# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The tables of a sweep.

A row is a flat object: the varied keys, the seed, and the measures of the point's result
(docs/reference/sweep-folder.md lists them). A value that the result does not have is None in a row and an empty cell
in CSV. Run times are left out, so the tables of equal runs are equal.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..interval import mean_of
from ..quantity import number_of
from .plan import Plan

Row = dict[str, Any]

MEASURE = "measure"  # has a mean and an interval
COUNT = "count"  # is added up
ANSWER = "answer"  # yes, no or None; for several runs the answer of all, else None
TEXT = "text"  # is neither


@dataclass(frozen=True)
class Column:
    """A column, and where its value is in a result."""

    name: str
    path: tuple[str, ...]
    kind: str = MEASURE


def _latency(name: str) -> Iterator[Column]:
    for figure in ("mean", "stddev", "p50", "p99", "p999", "max"):
        yield Column(f"{name}_ns_{figure}", ("latency_ns", name, figure))


def _counts(section: str, *names: str) -> Iterator[Column]:
    for name in names:
        yield Column(f"{section}_{name}", (section, name), COUNT)


COMPLETION = "goal_completion_ns"
COLUMNS = (
    Column("offered", ("throughput", "offered")),
    Column("accepted", ("throughput", "accepted")),
    Column("flits_per_ns_per_switch", ("throughput", "flits_per_ns_per_switch")),
    *_latency("network"),
    *_latency("total"),
    Column("released", ("throughput", "released")),
    Column("network_released_ns_mean", ("latency_ns", "network_released", "mean")),
    Column("total_released_ns_mean", ("latency_ns", "total_released", "mean")),
    Column("resequencer_frames", ("latency_ns", "resequencer", "frames"), COUNT),
    Column("resequencer_ns_mean", ("latency_ns", "resequencer", "mean")),
    Column("resequencer_ns_p99", ("latency_ns", "resequencer", "p99")),
    Column("resequencer_ns_max", ("latency_ns", "resequencer", "max")),
    *_counts("packets", "injected", "delivered", "dropped", "retransmitted", "pending"),
    *_counts("messages", "generated", "delivered", "pending"),
    Column("lost", ("checks", "lost"), COUNT),
    Column("duplicated", ("checks", "duplicated"), COUNT),
    Column("out_of_order", ("checks", "out_of_order"), COUNT),
    Column("deadlock", ("checks", "deadlock"), COUNT),
    Column("fingerprint", ("fingerprint",), TEXT),
    Column("until_reached", ("until", "reached"), ANSWER),
    Column("until_interval", ("until", "interval"), TEXT),
    Column("saturated", ("saturated",), ANSWER),
    Column("steady", ("steady",), ANSWER),
    Column(COMPLETION, ("counters", COMPLETION)),
)
# Columns per entry of 'traffic', if a run has several: traffic.0_accepted and so on.
ENTRY_COLUMNS = (
    Column("offered", ("throughput", "offered")),
    Column("accepted", ("throughput", "accepted")),
    Column("released", ("throughput", "released")),
    *_latency("total"),
)


def _entry_columns(entry: int) -> Iterator[Column]:
    for column in ENTRY_COLUMNS:
        yield Column(f"traffic.{entry}_{column.name}", column.path)


def columns(rows: Sequence[Row | None]) -> list[Column]:
    """The columns of a table: those that some row has."""
    found, entry = list(COLUMNS), 0
    while any(row is not None and f"traffic.{entry}_offered" in row for row in rows):
        found += _entry_columns(entry)
        entry += 1
    return found


def _value(column: Column, source: Any) -> Any:
    """Booleans as 0 or 1, missing values as None."""
    value = source
    for key in column.path:
        value = value.get(key) if isinstance(value, dict) else None
    return int(value) if isinstance(value, bool) else value


def is_bad(result: dict[str, Any]) -> bool:
    """Something lost, duplicated, out of order, or a deadlock."""
    checks = result["checks"]
    return any(checks.get(key) for key in ("lost", "duplicated", "out_of_order", "deadlock"))


def is_empty(result: dict[str, Any]) -> bool:
    """Nothing was measured, and it is not bad."""
    return not is_bad(result) and isinstance(result.get("nothing_measured"), str)


def _tidy(text: str, unit: str | None) -> Any:
    """The value of a varied key as a number, if all values of the key are numbers."""
    found = number_of(text) if unit is not None else None
    if found is None:
        return text
    return int(text) if unit == "" and text.isdecimal() else found.value


def key_cells(plan: Plan, point: int) -> Row:
    """The varied keys."""
    pairs = zip(plan.vary, plan.values(point))
    return {vary.key: _tidy(value, vary.unit_name()) for vary, value in pairs}


def text_cells(plan: Plan, point: int) -> Row:
    """KEY_text of the keys whose numbers have units, at the end of a row."""
    pairs = zip(plan.vary, plan.values(point))
    return {f"{vary.key}_text": value for vary, value in pairs if vary.unit_name()}


def row(plan: Plan, point: int, result: dict[str, Any]) -> Row:
    """The row of a point with this result."""
    cells = {**key_cells(plan, point), "seed": result.get("seed")}
    for column in COLUMNS:
        cells[column.name] = _value(column, result)
    if (result.get("counters") or {}).get("goal_unfinished", 0) > 0:
        cells[COMPLETION] = None  # a schedule that did not end has no time
    entries = result.get("traffic")
    if isinstance(entries, list) and len(entries) > 1:
        for at, entry in enumerate(entries):
            for plain, column in zip(ENTRY_COLUMNS, _entry_columns(at)):
                cells[column.name] = _value(plain, entry)
    return {**cells, **text_cells(plan, point)}


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
    """For each combination of the varied keys that has results: the mean of measures over the seeds
    and, as NAME_ci95, the half width of the 95 % confidence interval; the sum of counts."""
    found = []
    used = [column for column in columns(rows) if column.kind != TEXT]
    for first in range(0, plan.points, plan.repeats):
        own = rows[first : first + plan.repeats]
        seeds = sum(r is not None for r in own)
        if seeds == 0:
            continue
        cells = {**key_cells(plan, first), "seeds": seeds}
        for column in used:
            cells.update(_mean_cells(column, own))
        found.append({**cells, **text_cells(plan, first)})
    return found


def headings(plan: Plan, rows: Sequence[Row | None]) -> tuple[list[str], list[str]]:
    """The columns of sweep.csv and of sweep-mean.csv."""
    keys = [vary.key for vary in plan.vary]
    texts = [f"{vary.key}_text" for vary in plan.vary if vary.unit_name()]
    single, mean = [*keys, "seed"], [*keys, "seeds"]
    for column in columns(rows):
        single.append(column.name)
        if column.kind != TEXT:
            mean.append(column.name)
        if column.kind == MEASURE:
            mean.append(f"{column.name}_ci95")
    return single + texts, mean + texts


def _cell(value: Any, digits: int) -> str:
    if value is None:
        return ""
    text = f"{value:.{digits}g}" if isinstance(value, float) else str(value)
    if any(letter in text for letter in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


def csv_text(plan: Plan, heading: Sequence[str], rows: Sequence[Row | None]) -> str:
    """A table; rows that are None are left out. Numbers of varied keys have more digits."""
    digits = [12 if at < len(plan.vary) else 9 for at in range(len(heading))]
    lines = [heading, *([row.get(name) for name in heading] for row in rows if row is not None)]
    return "".join(",".join(map(_cell, line, digits)) + "\n" for line in lines)


def rounded(value: Any) -> Any:
    """A document with ten digits of each real number, as sweep.json has them."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else value
