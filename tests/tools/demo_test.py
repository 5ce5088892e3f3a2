#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft demo: its commands run, its pictures are there, and what it promises is in its results.

usage: demo_test.py WEFT [TEST]...
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "weft"


class Demo(unittest.TestCase):
    def demo(self, *words):
        return subprocess.run([WEFT, "demo", *words], cwd=self.folder, text=True, capture_output=True, check=False)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-demo-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_tour_ends_with_pictures_of_what_it_says(self):
        done = self.demo("-o", "tour")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("latency.png", "hot-spot.png"):
            self.assertEqual((self.folder / "tour" / name).read_bytes()[:4], b"\x89PNG")
        last = {}
        for name in ("plain", "arn-afi"):
            series = json.loads((self.folder / "tour" / f"{name}.json").read_text())["series"]
            last[name] = series[-1]["accepted"] / series[4]["accepted"]
        self.assertLess(last["plain"], 0.6)
        self.assertGreater(last["arn-afi"], 0.95)
        self.assertRegex(done.stderr, r"the routes may deadlock because their channels form a cycle: s0:0")

    def test_nothing_that_is_there_is_changed(self):
        (self.folder / "weft-demo").mkdir()
        done = self.demo()
        self.assertEqual((done.returncode, done.stderr),
                         (2, "weft demo: weft-demo already exists; expected a new folder after -o\n"))


if __name__ == "__main__":
    unittest.main()
