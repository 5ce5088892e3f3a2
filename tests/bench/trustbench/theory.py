# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Queueing theory, and latencies that can be added up by hand."""

import math
import random

from .cell import Cell, command_of

HEADER_AND_WIRE = 70  # bytes of a frame beside its payload: docs/reference/wire-format.md
STAR = ("topology=full:switches=1,hosts={n}", "link.rate=100Gbps", "link.delay=10ns", "switch.buffer=1MiB",
        "traffic.0={{pattern: uniform, from: all, load: 100%, message: 1000B}}", "measure.warmup=500us",
        "measure.duration={duration}", "measure.sample=1ms")
# Karol, Hluchyj and Morgan, Input versus output queueing on a space-division packet switch, IEEE
# Transactions on Communications 35(12), 1987: 2 - sqrt(2) of the load for many ports.
KAROL = 2 - math.sqrt(2)
SLOTS = 20000
SEEDS = 4


def service_ns(payload, gbps):
    return 8 * (payload + HEADER_AND_WIRE) / gbps


def zero_load(switches, switching):
    """Host to host over 'switches' switches: 1,000 bytes at 1 Gbps, 30 ns a link, 100 ns a switch."""
    transmissions = switches + 1 if switching == "store-and-forward" else 1
    return (switches + 1) * 30 + switches * 100 + transmissions * service_ns(1000, 1)


def latency_cell(switches, switching):
    settings = (f"topology=mesh:dims={switches},hosts=1", f"switch.switching={switching}", "link.delay=30ns",
                "switch.routing-delay=100ns", "routing.algorithm=ud", "traffic.0.load=1%",
                "traffic.0.arrivals=constant", f"traffic.0.to=[h{switches - 1}]", "measure.duration=20ms",
                "measure.warmup=0s", "measure.sample=20ms")

    def measure(weft):
        return weft.run("md1.yaml", *settings)["latency_ns"]["network"]["mean"]

    return Cell("addition", f"latency of an empty path, {switches} switches, {switching}, ns", ("within", 1e-4),
                measure, theirs=zero_load(switches, switching), quick=True,
                command=command_of("md1.yaml", *settings))


def waiting(load):
    """M/D/1: the mean wait, in service times (Pollaczek and Khinchine)."""
    return load / (2 * (1 - load))


def md1_cell(percent, bound):
    settings = (f"traffic.0.load={percent}%",)

    def measure(weft):
        waits = [weft.run("md1.yaml", *settings, f"seed={1001 + i}")["latency_ns"]["total"]["mean"] /
                 service_ns(1000, 1) - 2 for i in range(SEEDS)]
        return sum(waits) / SEEDS

    return Cell("M/D/1", f"mean wait at {percent} % load, {SEEDS} seeds, in transmission times", ("within", bound),
                measure, theirs=waiting(percent / 100), quick=True,
                command=command_of("md1.yaml", *settings, "seed=1001"))


def saturated(ports):
    """The model of that paper, slot by slot, for hosts that do not send to themselves, as ours: the
    share of slots in which an output has a packet."""
    rng = random.Random(ports)
    others = [[q for q in range(ports) if q != p] for p in range(ports)]
    wanted = [rng.choice(others[p]) for p in range(ports)]
    sent = 0
    for slot in range(2 * SLOTS):
        queues = {}
        for p in range(ports):
            queues.setdefault(wanted[p], []).append(p)
        for heads in queues.values():
            p = rng.choice(heads)
            wanted[p] = rng.choice(others[p])
        sent += len(queues) if slot >= SLOTS else 0
    return sent / SLOTS / ports


def head_of_line_cell(ports, bound, peer, theirs=None):
    settings = (*(s.format(n=ports, duration="3ms" if ports > 8 else "9ms") for s in STAR), "switch.voq=false")

    def measure(weft):
        ours = weft.run("md1.yaml", *settings)["throughput"]["accepted"]
        return theirs or saturated(ports), ours

    return Cell(peer, f"saturation of {ports} input queues", ("within", bound), measure, quick=True,
                command=command_of("md1.yaml", *settings))


def cells(_):
    for switches in (2, 5):
        for switching in ("store-and-forward", "cut-through"):
            yield latency_cell(switches, switching)
    for percent, bound in ((30, 0.01), (50, 0.01), (70, 0.02), (90, 0.05)):
        yield md1_cell(percent, bound)
    yield head_of_line_cell(32, 0.03, "Karol 1987, many ports", KAROL)
    for ports in (4, 8, 32):
        yield head_of_line_cell(ports, 0.02, "Karol's model, slots")
