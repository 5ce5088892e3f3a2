#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Figure 6 of the ARN+AFI paper, reduced: 128 hosts, H10, one queue, all times of the detector a tenth of the paper's.
ARN+AFI recovers from a hot spot while it lasts, the others do not.

usage: weft_reproduce_congestion_test.py WEFT [TEST]...
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""


class Congestion(unittest.TestCase):
    def test_only_arn_with_afi_recovers_from_a_hot_spot(self):
        with tempfile.TemporaryDirectory(prefix="weft-congestion-") as folder:
            done = subprocess.run(
                [WEFT, "reproduce", "arn-figure-6", "--quick", "--only",
                 "1q,H10,dmodk,adaptive-th,ARN,ARN+AFI", "--json", "-o", folder],
                capture_output=True, text=True, timeout=280, check=False)
        # 1: one tenth is not where a small tree ends.
        self.assertIn(done.returncode, (0, 1), done.stdout[-3000:] + done.stderr)
        course = {trial["algorithm"]: trial["course"]
                  for trial in json.loads(done.stdout)["trials"]}
        self.assertEqual(len(course), 4)
        for name, of in course.items():
            possible = of["deliverable"]
            self.assertAlmostEqual(possible, 0.9, delta=0.01, msg=name)
            self.assertGreater(of["before"], 0.95 * possible, name)
            self.assertLess(of["minimum"], 0.6 * possible, name)
            if name == "ARN+AFI":
                self.assertGreater(of["end"], 0.9 * possible)
                self.assertLess(of["back_ms"], 20)
            else:
                self.assertLess(of["end"], 0.6 * possible, name)
                self.assertIsNone(of["back_ms"], name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
