#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Manual pages: the formatter finds no fault, and those of files have all keys.

usage: man_pages_test.py WEFT [TEST]...
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = sys.argv.pop(1) if len(sys.argv) > 1 else "weft"
TOP = pathlib.Path(__file__).resolve().parents[2]
SECTION_5 = ("weft-lab", "weft-result", "weft-routes", "weft-run", "weft-topology")


def made(name):
    return subprocess.run([TOP / "tools/man-page", TOP / "docs/reference", f"{name}.5"], capture_output=True, text=True,
                          check=True).stdout


class Pages(unittest.TestCase):
    def test_the_formatter_warns_of_no_page(self):
        if shutil.which("man") is None or shutil.which("groff") is None:
            self.skipTest("no man or groff")
        with tempfile.TemporaryDirectory() as folder:
            for name in SECTION_5:
                pathlib.Path(folder, f"{name}.5").write_text(made(name))
            pages = sorted((TOP / "docs/man").iterdir()) + sorted(pathlib.Path(folder).iterdir())
            self.assertGreaterEqual(len(pages), 18)
            for page in pages:
                done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)], text=True,
                                      capture_output=True, check=False,
                                      env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "120", "MANROFFSEQ": ""})
                self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    def test_every_key_is_on_the_page_of_its_file(self):
        pages = {name: re.sub(r"\\f[BIR]", "", made(f"weft-{name}")).replace("\\-", "-") for name in ("run", "lab", "topology")}
        # A lab file has the sections of a run file.
        pages["lab"] += pages["run"]
        lines = subprocess.run([WEFT, "complete", "keys"], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertGreater(len(lines), 150)
        for line in lines:
            file, key = line.split()[:2]
            last = key.split(".")[-1].rstrip("[]")
            self.assertTrue(re.search(rf"(?<![\w-]){re.escape(last)}(?![\w-])", pages[file]), f"{key} is not in weft-{file}(5)")

    def test_no_markdown_is_left(self):
        for name in SECTION_5:
            self.assertNotRegex(made(name), r"(?m)^\|.*\|$|```|^#+ [A-Z]|\]\(", name)

    def test_the_sections_have_the_titles_of_the_pages(self):
        self.assertIn('.SH "THE TOPOLOGY FILE"', made("weft-topology"))
        self.assertIn("dragonfly", made("weft-topology"))


if __name__ == "__main__":
    unittest.main()
