#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Tables 6 and 18 of Flich's thesis and its 8x8 torus, reduced: the orderings hold and the factors are
near, which they are only if routes, switches and in-transit buffers do what the thesis says.

usage: weft_reproduce_quick_test.py WEFT [TEST]...
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""


class Quick(unittest.TestCase):
    def reproduce(self, name):
        """Values of each network and algorithm, by instance."""
        with tempfile.TemporaryDirectory(prefix="weft-quick-") as folder:
            done = subprocess.run(
                [WEFT, "reproduce", name, "--quick", "--json", "-o", folder],
                capture_output=True, text=True, timeout=280, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr)
        document = json.loads(done.stdout)
        self.assertTrue(document["good"])
        values = {}
        for trial in document["trials"]:
            values.setdefault((trial["network"], trial["instance"]), {})[trial["algorithm"]] = \
                trial["value"]
        return values

    def test_table_6_itbs_on_trees(self):
        values = self.reproduce("table-6")
        self.assertEqual(len(values), 4)
        for (network, _), of in values.items():
            self.assertGreater(of["UD_ITB"], of["UD_MITB"])
            self.assertGreater(of["UD_MITB"], 1.1 * of["UD"])
            self.assertGreater(of["DFS"], of["UD"])
            self.assertGreater(of["DFS_ITB"], of["DFS"])
            if network == "32 switches":
                self.assertGreater(of["UD_ITB"], 1.6 * of["UD"])

    def test_table_18_more_and_more_itbs(self):
        for of in self.reproduce("table-18").values():
            self.assertGreater(of["BMAX_ITB"], of["BMIN_ITB"])
            self.assertGreater(of["BMIN_ITB"], 1.1 * of["UD"])

    def test_a_torus_accepts_twice_as_much_with_itbs(self):
        (of,) = self.reproduce("figure-77").values()
        self.assertGreater(of["UD_ITB"], 1.6 * of["UD"])
        self.assertLess(of["UD_ITB"], 2.4 * of["UD"])

    def test_ethernet_of_today_beside_credits(self):
        (of,) = self.reproduce("today-slowdown").values()
        self.assertEqual(len(of), 7)
        self.assertTrue(all(1 <= value < 100 for value in of.values()), of)


if __name__ == "__main__":
    unittest.main(verbosity=2)
