#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Tables of docs/reference that the programs can answer: algorithms, features by clock. And every key has a use.

usage: reference_test.py WEFT [TEST]...
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "weft"
TOP = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = TOP / "docs/reference"

RUN = """weft: run/1
topology: "mesh:dims=2x2,hosts=1"
clock: virtual
switch: {vcs: 4, fecn: 4}
traffic: [{pattern: uniform, load: 1%}]
measure: {warmup: 0s, duration: 100us, sample: 100us}
"""


def rows(page, head):
    """The rows of the table with this head, as lists of cells."""
    text = (REFERENCE / page).read_text()
    table = text[text.index(head):].split("\n\n")[0].split("\n")[2:]
    return [[cell.strip().strip("`") for cell in row.strip("|").split(" | ")] for row in table]


class Reference(unittest.TestCase):
    def test_the_algorithms_are_those_of_the_program(self):
        done = subprocess.run([WEFT, "route", "algorithms", "--json"], capture_output=True, text=True, check=True)
        words = {True: "yes", False: "no"}
        self.assertEqual(rows("algorithms.md", "| Name | Routes |"), [
            [one["name"], one["summary"].replace("*", "\\*"),
             *(words[one[key]] for key in ("deadlock_free", "routes", "tables", "root"))]
            for one in json.loads(done.stdout)])

    def test_each_clock_accepts_the_settings_that_the_table_promises(self):
        table = rows("features-by-clock.md", "| Feature | Setting |")
        self.assertGreaterEqual(len(table), 8)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "run.yaml").write_text(RUN)
            pathlib.Path(folder, "s.goal").write_text("num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 1\n}\n"
                                                      "rank 1 {\nl1: recv 8b from 0 tag 1\n}\n")
            for _, setting, *clocks in table:
                for clock, promised in zip(("virtual", "real"), clocks):
                    # A file that cannot be written ends a run that is accepted before it begins.
                    done = subprocess.run([WEFT, "run", "run.yaml", "--clock", clock, "--set", setting, "--json", "no/such"],
                                          cwd=folder, capture_output=True, text=True, check=False)
                    refused = "no/such" not in done.stderr
                    self.assertEqual("no" if refused else "yes", promised, f"{setting} on {clock}: {done.stderr}")
                    if refused:
                        self.assertRegex(done.stderr, r"is not supported|requires|use clock:|use it alone")

    def test_the_code_uses_every_key_of_a_run_file(self):
        tables, code = "", ""
        for path in (path for folder in ("lib", "pipelines", "apps", "tools") for path in (TOP / folder).rglob("*.[ch]")):
            if re.match(r"run_config_(sections|traffic|fields|jobs|selection|host)", path.name):
                tables += path.read_text()
            else:
                code += path.read_text()
        members = re.findall(r'\{"([\w-]+)",[^{}]*?YAML_MEMBER\([\w ]+, (?:\w+\.)*(\w+)\)', tables)
        members += re.findall(r'_FIELD\("([\w-]+)", struct \w+, (\w+)', tables)
        used = set(re.findall(r"(?:\.|->)(\w+)", code))
        self.assertGreater(len(members), 120)
        self.assertEqual([key for key, member in members if member not in used], [])


if __name__ == "__main__":
    unittest.main()
