# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Other simulators: BookSim 2 (docs/explanation/booksim.md) and the flit model of the tests (docs/developer/testing.md)."""

import re
import subprocess

from .cell import Cell, NotAble, command_of

# BookSim 2, commit 28f43299f1706a3160ffac721ca461d74eb6e618, tests/bench/booksim-NETWORK.conf, seed 0:
# mean network latency in cycles at injection_rate=0.01 and 0.5, accepted flits a host and cycle at 1.0; its
# cycle in ns, and the cycles of a packet to its own host without load. One packet in 64 is such a
# packet; ours never send to themselves.
BOOKSIM = {
    "torus": {"latency": 16.985, "accepted": 0.6479, "cycle_ns": 100, "own": 5, "flits": 1},
    "tree": {"latency": 10.257, "accepted": 0.5958, "cycle_ns": 100, "own": 5, "flits": 1},
    "cut-through": {"latency": 74.022, "accepted": 0.5742, "cycle_ns": 5.12, "own": 68, "flits": 64},
}
SATURATED = ("traffic.0.load=100%", "measure.warmup=500us", "measure.duration=1500us")


def run_booksim(path, weft, network, rate):
    """Returns (latency in cycles, accepted) of the program."""
    words = [path, str(weft.root / f"tests/bench/booksim-{network}.conf"), f"injection_rate={rate}", "seed=0"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
    found = {name: re.findall(rf"{name} average = ([0-9.]+)", done.stdout)
             for name in ("Network latency", "Accepted flit rate")}
    if not all(found.values()):
        raise NotAble(f"{path}: no figures in what it said")
    return float(found["Network latency"][-1]), float(found["Accepted flit rate"][-1])


def latency_cell(network, path):
    theirs = BOOKSIM[network]

    def measure(weft):
        latency = theirs["latency"]
        if path:
            latency, _ = run_booksim(path, weft, network, 0.01 / theirs["flits"])
        ours = weft.run(f"booksim-{network}.yaml", "traffic.0.load=1%")["latency_ns"]["network"]["mean"]
        return (64 * latency - theirs["own"]) / 63, ours / theirs["cycle_ns"]

    return Cell("BookSim 2", f"{network}: latency without load, cycles", ("within", 0.05), measure, quick=True,
                command=command_of(f"booksim-{network}.yaml", "traffic.0.load=1%"))


def saturation_cell(network, path):
    def measure(weft):
        accepted = BOOKSIM[network]["accepted"]
        if path:
            _, accepted = run_booksim(path, weft, network, 1.0 / BOOKSIM[network]["flits"])
        return accepted * 63 / 64, weft.run(f"booksim-{network}.yaml", *SATURATED)["throughput"]["accepted"]

    return Cell("BookSim 2", f"{network}: accepted at full load", ("within", 0.05), measure, quick=True,
                command=command_of(f"booksim-{network}.yaml", *SATURATED))


def late_credits(weft):
    """The cells above pass because parameters match; with these they do not match."""
    accepted = BOOKSIM["tree"]["accepted"] * 63 / 64
    return accepted, weft.run("booksim-tree.yaml", *SATURATED, "link.delay=1us")["throughput"]["accepted"]


def flit_cell(count, quick):
    def measure(weft):
        program = weft.build / "tests/fabric/wormhole_property_test"
        if not program.exists():
            raise NotAble(f"{program}: not built")
        done = subprocess.run([str(program), str(count)], capture_output=True, text=True, timeout=900, check=False)
        return count, count if done.returncode == 0 else 0

    return Cell("flit model", "random wormhole networks with equal cycles, STOPs, GOs and deadlocks", ("equal",), measure,
                quick=quick, command=f"build/tests/fabric/wormhole_property_test {count}")


def cells(options):
    for network in BOOKSIM:
        yield latency_cell(network, options.booksim)
        yield saturation_cell(network, options.booksim)
    yield Cell("BookSim 2", "tree: accepted, with links too long for its buffers", ("at most", 0.95), late_credits, quick=True,
               command=command_of("booksim-tree.yaml", *SATURATED, "link.delay=1us"))
    # The suite runs 800 of these in a test of their own.
    yield flit_cell(20000, False)
