# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs an engine and our algorithm by turns."""

import pathlib
import statistics
import tempfile

from .fabric import Fabric
from .weft import WeftError

AIM = 5.0  # times as fast as every engine
SLOW = 10.0  # seconds of ours after which a comparison takes no more turns


class Row:
    """The runs of one pair on one topology. What failed says why and is not tried again."""

    def __init__(self, topology, pair):
        self.topology, self.pair = topology, pair
        self.theirs, self.ours, self.memory = [], [], 0
        self.their_reason = self.our_reason = None
        self.at_least = None  # seconds after which the engine was ended

    def ratio(self):
        """Returns how many times faster Weft is: a lower bound if the engine was ended."""
        theirs = median(self.theirs) or self.at_least
        return theirs / median(self.ours) if theirs and self.ours else None

    def good(self):
        """The aim is met, or the engine cannot do it at all and we can."""
        ratio = self.ratio()
        return bool(self.ours) and (ratio is None or ratio >= AIM)

    def as_json(self):
        return {"topology": self.topology.title, "spec": self.topology.spec,
                "engine": self.pair.engine_name, "opensm_seconds": self.theirs,
                "opensm_failed": self.their_reason, "opensm_ended_after": self.at_least,
                "weft": self.pair.ours_name, "weft_seconds": self.ours,
                "weft_failed": self.our_reason, "weft_peak_rss_bytes": self.memory,
                "ratio": self.ratio(), "aim_met": self.good()}


def median(values):
    return statistics.median(values) if values else None


def turn_of_theirs(row, netfile, limit):
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as directory, \
            Fabric(directory, netfile) as fabric:
        run = fabric.route(row.pair.engine, row.pair.rooted, limit)
    if run.seconds is not None:
        row.theirs.append(run.seconds)
    else:
        row.their_reason, row.at_least = run.reason, run.at_least


def turn_of_ours(row, weft):
    try:
        seconds, memory = weft.compute(row.topology.spec, row.pair.ours)
        row.ours.append(seconds)
        row.memory = max(row.memory, memory)
    except WeftError as error:
        row.our_reason = str(error)


def compare(topology, weft, options, say):
    """The rows of one topology. An engine runs once a round, also where several of our algorithms
    stand against it."""
    rows = [Row(topology, pair) for pair in topology.pairs
            if not options.only_engine or pair.engine in options.only_engine]
    netfile = pathlib.Path(weft.netfile(topology.spec))
    for _ in range(options.rounds or (min(topology.rounds, 3) if options.quick
                                      else topology.rounds)):
        shared = {}
        for row in rows:
            first = shared.setdefault(row.pair.engine_name, row)
            if options.opensm and first is row and row.their_reason is None:
                turn_of_theirs(row, netfile, options.limit)
            if row.our_reason is None and sum(row.ours) < SLOW:
                turn_of_ours(row, weft)
            if first is not row:
                row.theirs, row.their_reason, row.at_least = \
                    first.theirs, first.their_reason, first.at_least
            say(".")
    return rows


class CostRow:
    """The runs of one target of the design."""

    def __init__(self, cost):
        self.cost, self.seconds, self.memory, self.reason = cost, [], 0, None

    def good(self):
        return bool(self.seconds) and median(self.seconds) < self.cost.target

    def as_json(self):
        return {"topology": self.cost.title, "spec": self.cost.spec, "weft": self.cost.ours[0],
                "options": self.cost.ours[1:], "target_seconds": self.cost.target,
                "seconds": self.seconds, "peak_rss_bytes": self.memory, "failed": self.reason,
                "met": self.good()}


def measure_cost(cost, weft, rounds):
    row = CostRow(cost)
    try:
        for i in range(rounds):
            if not cost.verify or i == 0:
                result = weft.compute(cost.spec, cost.ours)
            if cost.verify:
                result = weft.verify(cost.spec, cost.ours)
            row.seconds.append(result[0])
            row.memory = max(row.memory, result[1] or 0)
            if sum(row.seconds) > 3 * cost.target:
                break
    except WeftError as error:
        row.reason = str(error)
    return row
