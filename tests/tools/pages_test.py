#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""tests/bench/pages with a 'weft' that prints at once: stale tables, what is written, and the totals.

usage: pages_test.py PAGES [TEST]...
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PAGES = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
WEFT = """#!/bin/sh
echo "$*" >> "$(dirname "$0")/calls"
case $2 in
broken) echo "weft reproduce: it is broken" >&2; exit 3;;
ended) exit 130;;
esac
echo "$2 is so (weft 9.9)"
echo
echo "7 of 8 published means within 10 %; 1 of 8 rows not measured; 1 of 2 orders not as published; 0 of 5 measurements failed."
[ "$2" != apart ]
"""
COUNTS = ("\n7 of 8 published means within 10 %; 1 of 8 rows not measured; 1 of 2 orders not as published; "
          "0 of 5 measurements failed.\n\n")
TOTAL = "\n14 of 16 published means within 10 %; 2 of 4 orders not as published; 0 of 10 measurements failed.\n\n"


def block(heading, content="old\n"):
    return f"<!-- {heading} -->\n{content}<!-- end -->\n"


def table(name, version="9.9"):
    return f"\n{name} is so (weft {version})\n{COUNTS}"


class Pages(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="pages-"))
        self.addCleanup(shutil.rmtree, self.dir)
        weft = self.dir / "build/tools/weft/weft"
        weft.parent.mkdir(parents=True)
        weft.write_text(WEFT)
        weft.chmod(0o755)
        self.calls = weft.parent / "calls"
        (self.dir / "docs").mkdir()

    def page(self, *parts, name="results-x.md"):
        (self.dir / "docs" / name).write_text("before\n" + "between\n".join(parts) + "after\n")

    def text(self, name="results-x.md"):
        return (self.dir / "docs" / name).read_text()

    def pages(self, *args, code=0):
        done = subprocess.run([PAGES, "--build", self.dir / "build", "--docs", self.dir / "docs", *args],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_a_stale_table_is_found_and_not_written(self):
        self.page(block("weft reproduce one --quick"), block("weft reproduce two", table("two")))
        before = self.text()
        done = self.pages(code=1)
        self.assertIn("weft reproduce one --quick: STALE", done.stdout)
        self.assertNotIn("two: STALE", done.stdout)
        self.assertEqual(self.text(), before)

    def test_another_version_of_weft_does_not_make_a_table_stale(self):
        self.page(block("weft reproduce two", table("two", "0.1")))
        self.pages()

    def test_update_writes_what_the_command_prints_and_nothing_else(self):
        self.page(block("weft reproduce one --quick"), block("weft reproduce apart"))
        self.page(block("weft reproduce one --quick"), name="results-y.md")
        self.pages("--update")
        one = block("weft reproduce one --quick", table("one"))
        self.assertEqual(self.text(), f"before\n{one}between\n{block('weft reproduce apart', table('apart'))}after\n")
        self.assertEqual(self.text("results-y.md"), f"before\n{one}after\n")
        self.pages()

    def test_names_and_quick_choose(self):
        self.page(block("weft reproduce one --quick"), block("weft reproduce one --messages 5"),
                  block("weft reproduce two"))
        self.pages("--update", "one")
        self.assertEqual(self.text().count("old"), 1)
        self.pages("--quick")
        self.assertNotIn("reproduce two", self.calls.read_text())
        self.pages("three", code=2)

    def test_jobs_are_those_of_the_command(self):
        self.page(block("weft reproduce one --quick", table("one")))
        self.pages("--jobs", "7")
        self.assertRegex(self.calls.read_text(), r"reproduce one --quick --jobs 7 --markdown -o \S+")

    def test_a_command_that_fails_leaves_its_table_and_the_others_are_written(self):
        self.page(block("weft reproduce one"), block("weft reproduce broken"), block("weft reproduce two"))
        self.assertIn("weft reproduce broken: weft reproduce: it is broken", self.pages("--update", code=3).stderr)
        self.assertIn(block("weft reproduce broken"), self.text())
        self.assertEqual(self.text().count("old"), 1)

    def test_an_end_by_ctrl_c_leaves_what_was_written(self):
        self.page(block("weft reproduce one"), block("weft reproduce ended"), block("weft reproduce two"))
        self.pages("--update", code=130)
        self.assertEqual(self.text().count("old"), 2)
        self.assertNotIn("two", self.calls.read_text())

    def test_the_list_runs_nothing(self):
        self.page(block("weft reproduce one --messages 5"), block("weft reproduce two --quick"))
        self.assertEqual(self.pages("--list").stdout.splitlines(),
                         ["results-x.md: weft reproduce one --messages 5", "results-x.md: weft reproduce two --quick"])
        self.assertEqual(len(self.pages("--list", "--quick").stdout.splitlines()), 1)
        self.assertFalse(self.calls.exists())

    def test_a_total_is_the_sum_over_the_long_tables_that_it_names(self):
        self.page(block("total one two"), block("weft reproduce one"), block("weft reproduce one --quick"),
                  block("weft reproduce three"))
        self.page(block("weft reproduce two"), name="results-y.md")
        self.pages("--update")
        self.assertIn(block("total one two", TOTAL), self.text())

    def test_a_total_is_compared_though_its_tables_are_not_run(self):
        self.page(block("total one two", TOTAL.replace("14", "15")), block("weft reproduce one", table("one")),
                  block("weft reproduce two", table("two")), block("weft reproduce two --quick", table("two")))
        self.assertIn("total one two: STALE", self.pages("--quick", code=1).stdout)
        self.page(block("total one two", TOTAL), block("weft reproduce one", table("one")),
                  block("weft reproduce two", table("two")), block("weft reproduce two --quick", table("two")))
        self.pages("--quick")

    def test_means_within_different_tolerances_are_not_added(self):
        self.page(block("total one two"), block("weft reproduce one", "\n1 of 2 published means within 3 %.\n\n"),
                  block("weft reproduce two"))
        self.pages("--update", "two")
        self.assertIn("\n7 of 8 published means within 10 %; 1 of 2 published means within 3 %; 1 of 2", self.text())

    def test_a_total_of_a_table_without_counts_is_an_error(self):
        self.page(block("total one two"), block("weft reproduce one", table("one")),
                  block("weft reproduce two", "\n"))
        self.assertIn("no table of two with counts", self.pages("one", code=3).stderr)

    def test_means_are_near_within_the_interval_that_ten_values_leave_them(self):
        """1.00 with a range of 0.40 is known to 0.093: from 0.816 to 1.202 is near."""
        cells = ("1.00 (0.80..1.20) → 0.81 ± 0.01", "1.00 (0.80..1.20) → 0.82 ± 0.01",
                 "1.00 (0.80..1.20) → 1.20 ± 0.01", "1.00 (0.80..1.20) → 1.21 ± 0.01", "– → 5.00 ± 0.01")
        self.page(block("intervals one"), block("weft reproduce one", f"\n| a / b | {' | '.join(cells)} |\n"))
        self.pages("--sums", "--update")
        said = "\n2 of 4 published means within 10 % of their own 95 % interval.\n\n"
        self.assertIn(block("intervals one", said), self.text())
        self.assertIn("intervals two", self.page(block("intervals two")) or
                      self.pages("--sums", code=3).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
