# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A comparison as JSON ("reproduction/1"). Numbers that are not finite are null."""
from __future__ import annotations

import os
import time
from typing import Any

from ..asker import program
from ..sweeping.table import rounded
from .comparison import Compared, Comparison
from .definition import EFFICIENCY
from .published import NUMBERED
from .trial import Trial

Document = dict[str, Any]
ENDS = ("min", "max", "mean")
# What documents have of a point, and the name of it in Python.
POINT = {key: key for key in ("load", "offered", "accepted")}
POINT |= {"flits_per_ns_per_switch": "traffic"}
POINT |= {key: key for key in ("network_ns", "total_ns", "dropped", "deadlock")}


def _of(thing: object, *keys: str) -> Document:
    return {key: getattr(thing, key) for key in keys}


def _row(one: Compared) -> Document:
    """The numbers are the paper's, Weft's reading of its words, or bounds that no paper has."""
    row, published, reading = one.row, _of(one.row, *ENDS), None
    if row.words:
        reading = published
        words = None if row.words == "-" else row.words
        published = {**dict.fromkeys(ENDS), "words": words}
    return {
        **_of(row, "quantity", "case", "network", "algorithm"),
        "over": row.over or None,
        **({NUMBERED[row.quantity]: row.limit} if row.quantity in NUMBERED else {}),
        "published": published,
        "reading": reading,
        "ours": {**_of(one, *ENDS, "instances", "wanted"), "half_width": one.half},
        "ratio": one.ratio,
        "within": one.within if one.checked else None,
    }


def _trial(trial: Trial) -> Document:
    course: Document | None = None
    if trial.definition.measure == EFFICIENCY:
        samples = [sample._asdict() for sample in trial.transient.samples]
        course = {**trial.course(), "samples": samples}
    return {
        "case": trial.case.name,
        "network": trial.network.name,
        "instance": trial.copy + 1,
        "algorithm": trial.algorithm.name,
        "value": trial.value,
        "points": [
            {name: getattr(point, key) for name, key in POINT.items()} for point in trial.points
        ],
        "course": course,
        "fault": trial.fault,
    }


def make(found: Comparison, version: str, words: list[str]) -> Document:
    what, length = found.definition, None
    if what.counts_messages:
        defined = {"defined_warmup": what.defined[0], "defined_messages": what.defined[1]}
        length = {**_of(what, "warmup", "messages"), **defined}
    made = {
        "weft": "reproduction/1",
        **_of(what, "name", "paper", "place", "title", "measure"),
        "length": length,
        "latency_limit_ns": what.latency_limit / 1000 if what.latency_limit > 0 else None,
        "tolerance": what.tolerance / 1e6,
        "rows": [_row(one) for one in found.rows],
        "orders": found.orders,
        "wrong_orders": [list(pair) for pair in found.wrong],
        "trials": [_trial(trial) for trial in found.trials],
        **_of(found, "means", "near", "claims", "held", "missed", "failed", "good"),
        "wall": {
            "version": version,
            "command": [program(), "reproduce", *words],
            "host": os.uname().nodename,
            "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        },
    }
    return {key: rounded(value) for key, value in made.items()}
