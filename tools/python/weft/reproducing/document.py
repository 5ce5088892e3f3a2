# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A comparison as JSON ("reproduction/1")."""
from __future__ import annotations

import math
import os
import time
from typing import Any, Optional

from ..asker import program
from ..sweeping.table import rounded
from . import cells
from .comparison import Compared, Comparison
from .definition import EFFICIENCY, Definition
from .published import NUMBERED, Row
from .trial import Trial

Document = dict[str, Any]


def _number(value: float) -> Optional[float]:
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
        "quantity": row.quantity,
        "case": row.case,
        "network": row.network,
        "algorithm": row.algorithm,
        "over": row.over or None,
    }
    if row.quantity in NUMBERED:
        found[NUMBERED[row.quantity]] = row.limit
    found.update(_reference(row))
    found["ours"] = {
        **_ends(one.min, one.max, one.mean),
        "instances": one.instances,
        "wanted": one.wanted,
        "half_width": _number(one.half),
    }
    found["ratio"] = _number(one.ratio)
    found["within"] = one.within if one.checked else None
    return found


def _course(trial: Trial) -> Document:
    """Times are in the paper's ms, except those of the samples; None if there is no such sample."""
    found: Document = dict(zip(cells.COURSE, map(_number, cells.course(trial))))
    found["samples"] = [{"t_ns": s.t_ns, "accepted": s.accepted} for s in trial.transient.samples]
    return found


def _trial(trial: Trial) -> Document:
    return {
        "case": trial.case.name,
        "network": trial.network.name,
        "instance": trial.copy + 1,
        "algorithm": trial.algorithm.name,
        "value": _number(trial.value),
        "points": [
            {
                "load": point.load,
                "offered": point.offered,
                "accepted": point.accepted,
                "flits_per_ns_per_switch": point.traffic,
                "network_ns": point.network_ns,
                "total_ns": point.total_ns,
                "dropped": point.dropped,
                "deadlock": point.deadlock,
            }
            for point in trial.points
        ],
        "course": _course(trial) if trial.definition.measure == EFFICIENCY else None,
        "fault": trial.fault,
    }


def _length(what: Definition) -> Optional[Document]:
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
    """The document; 'words' are of the command line."""
    what = found.definition
    limit = what.latency_limit / 1000 if what.latency_limit > 0 else None
    made: Document = {
        "weft": "reproduction/1",
        "name": what.name,
        "paper": what.paper,
        "place": what.place,
        "title": what.title,
        "measure": what.measure,
        "length": _length(what),
        "latency_limit_ns": limit,
        "tolerance": what.tolerance / 1e6,
        "rows": [_row(one) for one in found.rows],
        "orders": found.orders,
        "wrong_orders": [list(pair) for pair in found.wrong],
        "trials": [_trial(trial) for trial in found.trials],
        "means": found.means,
        "near": found.near,
        "claims": found.claims,
        "held": found.held,
        "missed": found.missed,
        "failed": found.failed,
        "good": found.good,
        "wall": {
            "version": version,
            "command": [program(), "reproduce", *words],
            "host": os.uname().nodename,
            "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        },
    }
    return {key: rounded(value) for key, value in made.items()}
