#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A sweep of real fabrics in one process each, small ones.

usage: sweep_test.py WEFT [TEST]...    exit 77 with the reason where this machine cannot
"""
import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
RUN = """
weft: run/1
topology: "rlft:ports=4,stages=2"
clock: real
link: {rate: 1Gbps, delay: 1us}
hello: 200ms
nic: {retry: 50ms}
traffic:
  - {pattern: uniform, from: all, load: 1%, message: 4KiB}
measure: {duration: 200ms, sample: 20ms, links: true}
"""


class Sweep(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-sweep-"))
        self.addCleanup(shutil.rmtree, self.dir)
        (self.dir / "run.yaml").write_text(RUN)

    def weft(self, *args):
        done = subprocess.run([WEFT, *args], capture_output=True, text=True, timeout=240,
                              check=False, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_accepted_follows_the_load(self):
        self.weft("sweep", "run.yaml", "--vary", "traffic.0.load=1%,4%", "-o", "out")
        with open(self.dir / "out" / "sweep.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["traffic.0.load"] for row in rows], ["0.01", "0.04"])
        self.assertGreater(float(rows[1]["accepted"]), 2 * float(rows[0]["accepted"]))
        self.assertEqual([row["lost"] for row in rows], ["0", "0"])

    def test_pictures_of_real_results(self):
        self.weft("run", "run.yaml", "--json", "one.json")
        self.weft("plot", "one.json", "--kind", "efficiency-time", "-o", "one.png")
        self.weft("plot", "one.json", "--kind", "link-load", "-o", "links.svg")
        self.assertGreater((self.dir / "one.png").stat().st_size, 4000)
        self.assertGreater((self.dir / "links.svg").stat().st_size, 4000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
