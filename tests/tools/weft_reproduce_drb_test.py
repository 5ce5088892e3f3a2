#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The papers on DRB, reduced: one seed and short runs, in a few seconds. What holds with every seed is asked here; the
bounds of the papers are those of the whole groups.

usage: weft_reproduce_drb_test.py WEFT [TEST]...
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""


class Drb(unittest.TestCase):
    def reproduce(self, name, only):
        """The values by algorithm."""
        with tempfile.TemporaryDirectory(prefix="weft-drb-") as folder:
            done = subprocess.run([WEFT, "reproduce", name, "--quick", "--only", only, "--json", "-o", folder],
                                  capture_output=True, text=True, timeout=240, check=False)
        self.assertIn(done.returncode, (0, 1), done.stdout[-3000:] + done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["failed"], 0)
        return {trial["algorithm"]: trial["value"] for trial in document["trials"]}

    def test_paths_carry_more_of_a_butterfly_than_throttling(self):
        accepted = self.reproduce("drb-figure-8", "butterfly,iba-cc,drb-cn,drb")
        self.assertGreater(accepted["drb-cn"], 1.2 * accepted["iba-cc"])
        self.assertGreater(accepted["drb"], 1.2 * accepted["iba-cc"])

    def test_paths_shorten_the_waiting_at_the_worst_switch_of_a_hot_spot(self):
        waiting = self.reproduce("drb-figure-10", "50 per cent,none,drb-cn,drb")
        self.assertLess(waiting["drb-cn"], 0.6 * waiting["none"])
        self.assertLess(waiting["drb"], 0.6 * waiting["none"])

    def test_paths_harm_an_incast_and_drb_cc_does_not(self):
        accepted = self.reproduce("drb-incast", "8 hosts,none,drb,drb-cc")
        self.assertLess(accepted["drb"], 0.9 * accepted["none"])
        self.assertGreater(accepted["drb-cc"], accepted["none"])

    def test_a_hot_spot_that_comes_again_meets_stored_paths(self):
        latency = self.reproduce("pr-drb-figure-5-hs8", "gap 400,drb,pr-drb")
        self.assertLess(latency["pr-drb"], latency["drb"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
