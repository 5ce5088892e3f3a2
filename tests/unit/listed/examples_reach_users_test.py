#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The steps of docs/developer/extending.md make each example known to run files, commands, help and messages. The test calls a
'weft' with the examples in its lists as a user would."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

WEFT = sys.argv.pop(1)

RUN = """weft: run/1
topology: "star:leaves=3,hosts=2"
clock: virtual
switch: {vcs: 2}
traffic: [{pattern: uniform}]
"""

# Key of run files, word of the page, word as --explain prints it, settings that the word needs.
WORDS = [
    ("routing.algorithm", "waypoint", "algorithm: waypoint"),
    ("routing.adaptive", "sampled", "adaptive: sampled", "topology=rlft:ports=4,stages=2", "routing.algorithm=dmodk"),
    ("nic.selector", "two-choices", "selector: two-choices"),
    ("queuing", "by-source", "queuing: by-source"),
    ("traffic[0].pattern", "tornado", "pattern: tornado"),
]


def weft(*arguments):
    return subprocess.run([WEFT, *arguments], capture_output=True, text=True, timeout=30, check=False)


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name, "run.yaml")
        self.file.write_text(RUN)

    def explain(self, *settings):
        return weft("run", "--explain", str(self.file), *[part for one in settings for part in ("--set", one)])

    def test_run_files_accept_every_word(self):
        for key, word, printed, *needs in WORDS:
            with self.subTest(word):
                done = self.explain(*needs, f"{key}={word}")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(printed, done.stdout)

    def test_messages_about_unknown_words_name_every_word(self):
        for key, word, *_ in WORDS:
            with self.subTest(word):
                done = self.explain(f"{key}=xyz")
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, rf"[ ,]{word}[ ,;\n]")

    def test_help_names_every_word(self):
        text = weft("run", "--help").stdout.split()
        for _, word, *_ in WORDS:
            self.assertIn(word, text)

    def test_the_algorithm_computes_good_routes(self):
        routes = str(pathlib.Path(self.folder.name, "routes"))
        done = weft("route", "compute", "torus:dims=4x4,hosts=1", "--algorithm", "waypoint", "-o", routes)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = weft("route", "verify", "torus:dims=4x4,hosts=1", routes)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_algorithm_is_listed(self):
        self.assertIn("\nwaypoint ", weft("route", "algorithms").stdout)
        self.assertIn('"waypoint"', weft("route", "algorithms", "--json").stdout)
        self.assertIn("waypoint", weft("route", "compute", "ring:switches=3", "--algorithm", "xyz", "-o", "-").stderr)

    def test_the_kind_makes_topologies(self):
        self.assertIn("name: star-3-1", weft("topo", "gen", "star", "--leaves", "3").stdout)
        self.assertIn("\n  star ", weft("topo", "gen", "--help").stdout)
        self.assertIn("star", weft("topo", "check", "xyz:leaves=3").stderr)


if __name__ == "__main__":
    unittest.main()
