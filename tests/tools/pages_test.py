#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""tests/bench/pages with a 'weft' that prints at once: stale results, what is written, and rendered pages.
Also the results of docs/results themselves, and the sums on the page of the thesis.

usage: pages_test.py PAGES [TEST]...
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal

PAGES = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
# Half of the 95 % interval of a mean of ten values by their range: t = 2.262, and their standard deviation is
# about the range divided by 3.078.
HALF_OF_RANGE = 2.262 / (3.078 * 10 ** 0.5)
WEFT = """#!/bin/sh
echo "$*" >> "$(dirname "$0")/calls"
case $2 in
broken) echo "weft reproduce: it is broken" >&2; exit 3;;
ended) exit 130;;
esac
cat <<END
A paper, $2: so it is (weft ${VERSION:-9.9})
Each run: 5 messages.

| factor | 8 switches |
|---|---|
| UD / DFS | 1.10 (1.00..1.20) → ${OURS:-1.40} ± 0.04 (**1.27**) |

| end | | published | ours | ratio | |
|---|---|---|---|---|---|
| H10 | drb / none | at least 0.50 | 0.42 (0.40..0.80) ± 0.24 | - |  |

7 of 8 published means within 10 %; 1 of 2 orders not as published.
Order: UD is above.
END
[ "$2" != apart ]
"""


def module():
    loader = importlib.machinery.SourceFileLoader("pages", PAGES)
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("pages", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(made)
    return made


class Tool(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="pages-"))
        self.addCleanup(shutil.rmtree, self.dir)
        weft = self.dir / "build/tools/weft/weft"
        weft.parent.mkdir(parents=True)
        weft.write_text(WEFT)
        weft.chmod(0o755)
        self.calls = weft.parent / "calls"
        (self.dir / "results").mkdir()

    def pages(self, *args, code=0, **env):
        done = subprocess.run([PAGES, "--build", self.dir / "build", "--results", self.dir / "results", *args],
                              capture_output=True, text=True, timeout=240, check=False, env={**os.environ, **env})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def files(self):
        return {path.name: path.read_text() for path in (self.dir / "results").iterdir()}

    def test_a_new_result_is_written_and_agrees_with_the_next_run(self):
        self.pages("--update", "one --quick", "apart --only A,B")
        self.assertEqual(sorted(self.files()), ["apart-only-A-B.json", "one-quick.json"])
        self.assertIn('["UD / DFS", {"published": 1.10, "min": 1.00, "max": 1.20, "ours": 1.40, "half": 0.04, "ratio": 1.27, '
                      '"apart": true}]', self.files()["one-quick.json"])
        self.assertRegex(self.files()["one-quick.json"], r'"date": "\d{4}-\d\d-\d\d"')
        self.pages()

    def test_another_version_is_not_stale_and_another_value_is(self):
        self.pages("--update", "one --quick", "two -x")
        before = self.files()
        self.pages(VERSION="0.1")
        done = self.pages("one", code=1, OURS="1.41")
        self.assertIn("weft reproduce one --quick: STALE", done.stdout)
        self.assertIn('"ours": 1.41', done.stdout)
        self.assertEqual(self.files(), before)
        self.pages("--update", "one", OURS="1.41")
        self.assertEqual([name for name, text in self.files().items() if text != before[name]], ["one-quick.json"])

    def test_names_and_quick_choose(self):
        self.pages("--update", "one --quick", "one --messages 5", "two -x")
        self.calls.unlink()
        self.pages("--quick")
        self.assertEqual(len(self.calls.read_text().splitlines()), 1)
        self.assertEqual(len(self.pages("--list", "one").stdout.splitlines()), 2)
        self.pages("three", code=2)

    def test_jobs_are_those_of_the_command(self):
        self.pages("--update", "--jobs", "7", "one --quick")
        self.assertRegex(self.calls.read_text(), r"reproduce one --quick --jobs 7 --markdown -o \S+")

    def test_a_command_that_fails_leaves_its_file_and_the_others_are_written(self):
        done = self.pages("--update", "one -x", "broken -x", "two -x", code=3)
        self.assertIn("weft reproduce broken -x: weft reproduce: it is broken", done.stderr)
        self.assertEqual(sorted(self.files()), ["one-x.json", "two-x.json"])

    def test_an_end_by_ctrl_c_leaves_what_was_written(self):
        self.pages("--update", "one -x", "ended -x", "two -x", code=130)
        self.assertEqual(sorted(self.files()), ["one-x.json"])

    def test_a_rendered_page_has_the_tables_of_a_paper(self):
        self.pages("--update", "one -x", "two -x")
        self.pages("--render", str(self.dir / "out"))
        page = (self.dir / "out/a-paper.md").read_text()
        self.assertEqual(page.count("| UD / DFS | 1.10 (1.00..1.20) → 1.40 ± 0.04 (**1.27**) |"), 2)
        self.assertIn("| H10 | drb / none | at least 0.50 | 0.42 (0.40..0.80) ± 0.24 | - |  |", page)
        self.assertIn("7 of 8 published means within 10 %; 1 of 2 orders not as published.", page)


class Cells(unittest.TestCase):
    def test_a_cell_is_the_same_text_again(self):
        draw, tool = random.Random(7), module()

        def number():
            return f"{draw.uniform(-9, 99):.{draw.randrange(4)}f}"

        forms = ("{}", "{} ± {}", "{} ({}..{})", "{} ({}..{}) ± {}", "– → {}", "– → {} ± {}", "{} → {} ({})", "at most {}",
                 "{} ({}..{}) → {} ± {} (**{}**)", "at least {}", "never", "-", "", "{} (3 of 4)", "'{} ms'", "{} → **not measured**")
        for _ in range(3000):
            form = draw.choice(forms)
            text = form.format(*(number() for _ in range(form.count("{}"))))
            self.assertEqual(tool.text_of(tool.cell_of(text)), text)
            self.assertEqual(tool.json.loads(tool.dump(tool.cell_of(text)), parse_float=Decimal, parse_int=Decimal),
                             tool.cell_of(text))
        self.assertEqual(tool.cell_of("1.10 (1.00..1.20) → 1.4 ± 0.04 (1.27)"),
                         {"published": Decimal("1.10"), "min": 1, "max": Decimal("1.20"), "ours": Decimal("1.4"),
                          "half": Decimal("0.04"), "ratio": Decimal("1.27")})


class Results(unittest.TestCase):
    def setUp(self):
        self.tool = module()
        self.results = [self.tool.load(path) for path in sorted((DOCS / "results").iterdir())]

    def long_results(self, names):
        found = [r for r in self.results if self.tool.asked(r["command"]).split()[0] in names and "--quick" not in r["command"]]
        self.assertEqual(len(found), len(names))
        return found

    def sums(self, *names, kind):
        counts = [result["counts"][kind] for result in self.long_results(names)]
        return "{} of {}".format(*map(sum, zip(*counts)))

    def test_each_file_is_as_the_tool_writes_it(self):
        self.assertGreater(len(self.results), 100)
        for result in self.results:
            path = DOCS / "results" / self.tool.path_of(argparse_of(DOCS / "results"), result["command"]).name
            self.assertEqual(path.read_text(), self.tool.document(result))
            for table in result["tables"]:
                self.assertEqual({len(row) for row in table["rows"]}, {len(table["columns"])}, result["command"])

    def test_the_page_of_the_thesis_has_the_sums_of_its_results(self):
        page = " ".join((DOCS / "explanation/papers/itb.md").read_text().split())
        tables = [f"table-{number}" for number in (2, 3, 4, 6, 9, 15, 18, 20, 22)]
        factor, latency = "published means within 10 %", "published means within 3 %"
        increases = [f"table-{number}" for number in (8, 11, 16, 19, 21, 23)]
        other = [f"table-{number}" for number in (5, 7, 10, 17)]
        regular = [*(f"figure-{number}" for number in (77, 81, 84, 85, 86)), "table-12", "table-13", "table-14"]
        self.assertIn(f"{self.sums(*tables, kind=factor)} published throughput ratios agree within 10 %", page)
        self.assertIn(f"and {self.sums(*increases, kind=latency)} latency increases agree within 3 %", page)
        self.assertIn(f"{self.sums(*other, kind=factor)} ratios agree. On regular networks, {self.sums(*regular, kind=factor)} agree.", page)

    def test_seven_of_the_nine_means_that_differ_are_near_within_their_interval(self):
        near, means = 0, 0
        for result in self.long_results([f"table-{number}" for number in (2, 3, 4, 6, 9, 15, 18, 20, 22)]):
            for cell in (cell for table in result["tables"] for row in table["rows"] for cell in row):
                if isinstance(cell, dict) and {"published", "min", "ours"} <= cell.keys():
                    half = HALF_OF_RANGE * float(cell["max"] - cell["min"])
                    means += 1
                    near += 0.9 * (float(cell["published"]) - half) <= float(cell["ours"]) <= 1.1 * (float(cell["published"]) + half)
        self.assertEqual((near, means), (92, 94))
        self.assertIn("Seven of the nine means", " ".join((DOCS / "explanation/papers/itb.md").read_text().split()))


def argparse_of(folder):
    """The options of the tool, with this folder of results."""
    return type("Options", (), {"results": folder})


if __name__ == "__main__":
    unittest.main(verbosity=2)
