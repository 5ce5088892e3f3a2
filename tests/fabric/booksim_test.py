#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The virtual clock agrees with BookSim 2 on equal networks (docs/booksim.md). BookSim is not needed:
what it gave stands here.

usage: booksim_test.py WEFT TOPO [TEST]..."""
import json
import os
import subprocess
import sys
import unittest

WEFT, TOPO = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
# BookSim 2, commit 28f43299f1706a3160ffac721ca461d74eb6e618, tests/bench/booksim-NETWORK.conf, seed 0:
# mean network latency in cycles at injection_rate=0.01, accepted flits a host and cycle at 1.0; its
# cycle in ns, and what a packet to its own host takes without load, which are 1 of 64. Ours never
# send to themselves.
BOOKSIM = {
    "torus": {"latency": 16.985, "accepted": 0.6479, "cycle_ns": 100, "own": 5},
    "tree": {"latency": 10.257, "accepted": 0.5958, "cycle_ns": 100, "own": 5},
    "cut-through": {"latency": 74.022, "accepted": 0.5742, "cycle_ns": 5.12, "own": 68},
}
SHARE = 0.05


def run(network, load, *settings):
    words = [WEFT, "run", os.path.join(TOPO, f"booksim-{network}.yaml"), "--quiet", "--json", "-"]
    for setting in (f"traffic.0.load={load}%", *settings):
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True, timeout=280, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class BookSim(unittest.TestCase):
    def assert_close(self, ours, theirs):
        self.assertLess(abs(ours / theirs - 1), SHARE, f"{ours:.4g}, BookSim: {theirs:.4g}")

    def test_latency_without_load_is_that_of_booksim(self):
        for network, booksim in BOOKSIM.items():
            with self.subTest(network=network):
                result = run(network, 1)
                self.assert_close(
                    result["latency_ns"]["network"]["mean"] / booksim["cycle_ns"],
                    (64 * booksim["latency"] - booksim["own"]) / 63)

    def test_what_is_accepted_at_full_load_is_that_of_booksim(self):
        for network, booksim in BOOKSIM.items():
            with self.subTest(network=network):
                result = run(network, 100, "measure.warmup=500us", "measure.duration=1500us")
                self.assert_close(
                    result["throughput"]["accepted"], booksim["accepted"] * 63 / 64)

    def test_credits_that_come_back_later_than_booksims_show(self):
        # The first two tests pass because parameters match: this one does not match.
        result = run("tree", 100, "measure.warmup=500us", "measure.duration=1500us",
                     "link.delay=1us")
        self.assertLess(result["throughput"]["accepted"],
                        (1 - SHARE) * BOOKSIM["tree"]["accepted"] * 63 / 64)


if __name__ == "__main__":
    unittest.main(verbosity=2)
