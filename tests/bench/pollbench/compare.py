# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Takes turns: every program gets a slice of the core in every round. Rates are per CPU-second of
the forwarding thread; ratios are made within a round and their median taken, so that what slows the
machine for a second or a minute slows both sides."""

import statistics

from .process import BenchError
from .programs import comparison


class Measured:
    def __init__(self, name):
        self.name = name
        self.rates = []      # packets per CPU-second, by round

    @property
    def rate(self):
        return statistics.median(self.rates)

    def ns_per_packet(self):
        return 1e9 / self.rate

    def ratio_to(self, other):
        return statistics.median(a / b for a, b in zip(self.rates, other.rates))

    def spread(self):
        """Half the distance between the quartiles, as a fraction of the median."""
        if len(self.rates) < 4:
            return 0.0
        low, _, high = statistics.quantiles(self.rates, n=4)
        return (high - low) / 2 / self.rate


def start_all(programs, say):
    running, missing = [], []
    for program in programs:
        try:
            program.start()
            program.hold()
            running.append(program)
        except (BenchError, OSError) as error:
            missing.append(str(error))
            program.stop()
        say(".")
    return running, missing


def take_turns(programs, rounds, seconds, say):
    measured = {program.name: Measured(program.name) for program in programs}
    for turn in range(rounds):
        first = turn % len(programs)
        for program in programs[first:] + programs[:first]:
            packets, cpu = program.slice(seconds)
            measured[program.name].rates.append(packets / cpu if cpu > 0 else 0.0)
        say("+")
    return measured


def compare(setting, rounds, seconds, say):
    """Returns ({name: Measured}, [what is missing and why])."""
    programs, missing = comparison(setting)
    running, failed = start_all(programs, say)
    try:
        measured = take_turns(running, rounds, seconds, say)
    finally:
        for program in running:
            program.stop()
    return measured, missing + failed
