# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A comparison as JSON ("reproduction/1")."""
from __future__ import annotations

import math
import os
import time
from typing import Any

from ..asker import program
from ..sweeping.table import rounded
from .comparison import Compared, Comparison
from .definition import EFFICIENCY, Definition
from .published import NUMBERED, Row
from .tables import course
from .trial import Trial

Document = dict[str, Any]
# What documents have of a point, and the name of it in Python.
POINT = {key: key for key in ("load", "offered", "accepted")}
POINT |= {"flits_per_ns_per_switch": "traffic"}
POINT |= {key: key for key in ("network_ns", "total_ns", "dropped", "deadlock")}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _ends(low: float, high: float, mean: float) -> Document:
    return {"min": _number(low), "max": _number(high), "mean": _number(mean)}


def _reference(row: Row) -> Document:
    """The numbers: the paper's, Weft's reading of its words, or bounds that no paper has."""
    found = _ends(row.min, row.max, row.mean)
    if not row.words:
        return {"published": found, "reading": None}
    words = None if row.words == "-" else row.words
    return {"published": {**dict.fromkeys(found), "words": words}, "reading": found}


def _row(one: Compared) -> Document:
    row = one.row
    found: Document = {
        **{key: getattr(row, key) for key in ("quantity", "case", "network", "algorithm")},
        "over": row.over or None,
    }
    if row.quantity in NUMBERED:
        found[NUMBERED[row.quantity]] = row.limit
    ours = {"instances": one.instances, "wanted": one.wanted, "half_width": _number(one.half)}
    return {
        **found,
        **_reference(row),
        "ours": {**_ends(one.min, one.max, one.mean), **ours},
        "ratio": _number(one.ratio),
        "within": one.within if one.checked else None,
    }


def _course(trial: Trial) -> Document:
    """Times are in the paper's ms, except those of the samples; None if there is no such sample."""
    found: Document = {name: _number(value) for name, value in course(trial).items()}
    return {**found, "samples": [sample._asdict() for sample in trial.transient.samples]}


def _trial(trial: Trial) -> Document:
    return {
        "case": trial.case.name,
        "network": trial.network.name,
        "instance": trial.copy + 1,
        "algorithm": trial.algorithm.name,
        "value": _number(trial.value),
        "points": [
            {name: getattr(point, key) for name, key in POINT.items()} for point in trial.points
        ],
        "course": _course(trial) if trial.definition.measure == EFFICIENCY else None,
        "fault": trial.fault,
    }


def _length(what: Definition) -> Document | None:
    """Messages of each run, and those of the definition; None if runs do not count messages."""
    if not what.counts_messages:
        return None
    return {
        "warmup": what.warmup,
        "messages": what.messages,
        "defined_warmup": what.defined[0],
        "defined_messages": what.defined[1],
    }


def make(found: Comparison, version: str, words: list[str]) -> Document:
    what = found.definition
    limit = what.latency_limit / 1000 if what.latency_limit > 0 else None
    made: Document = {
        "weft": "reproduction/1",
        **{key: getattr(what, key) for key in ("name", "paper", "place", "title", "measure")},
        "length": _length(what),
        "latency_limit_ns": limit,
        "tolerance": what.tolerance / 1e6,
        "rows": [_row(one) for one in found.rows],
        "orders": found.orders,
        "wrong_orders": [list(pair) for pair in found.wrong],
        "trials": [_trial(trial) for trial in found.trials],
    }
    counts = ("means", "near", "claims", "held", "missed", "failed", "good")
    made |= {key: getattr(found, key) for key in counts}
    made["wall"] = {
        "version": version,
        "command": [program(), "reproduce", *words],
        "host": os.uname().nodename,
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    return {key: rounded(value) for key, value in made.items()}
