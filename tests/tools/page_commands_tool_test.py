#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""page_commands_test.py finds what is wrong on pages.

usage: page_commands_tool_test.py BUILD [TEST]...
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv.pop(1) if len(sys.argv) > 1 else "build"
PROGRAM = pathlib.Path(__file__).with_name("page_commands_test.py")


class Tool(unittest.TestCase):
    def complaint(self, page, *words, code=1):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "page.md").write_text(page)
            done = subprocess.run([PROGRAM, BUILD, "--pages", folder, *words], capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_commands_that_do_what_they_print_pass(self):
        self.assertIn("3 of them ran, 0 complaints", self.complaint(
            "a\n\n    weft topo gen ring --switches 3 -o r.yaml   # text\n\nb\n\n    $ weft topo show r.yaml | head -1\n    …ring…\n\n"
            "<!-- run: ; exit 2 -->\n\n```\n$ weft topo show nothing.yaml\nweft topo show: nothing.yaml: No such …\n```\n", code=0))

    def test_what_is_wrong_is_named_with_its_line(self):
        for page, why in (("a\n\n    weft topo show nothing.yaml\n", "page.md:3: 'weft topo show nothing.yaml' ended with 2"),
                          ("a\n\n    $ echo 2 switches\n    3 switches\n", "prints something else than the page"),
                          ("a\n\n    $ echo more; echo lines\n    more\n", "prints something else than the page"),
                          ("<!-- run: rot -->\n\n    weft topo --help\n", "page.md:3: unknown mark 'rot'"),
                          ("<!-- run: ; shrt x -->\n\n    weft topo --help\n", "unknown option 'shrt' of a mark"),
                          ("<!-- run: root -->\n\n    no command\n", "a mark before a block without commands"),
                          ("```\n<!-- run: root -->\n\nweft topo --help\n```\n", "a mark inside of a block"),
                          ("<!-- run: root -->\n\n    weft run x.yaml --jsn y\n", "weft run x.yaml: --jsn is not in its help"),
                          ("<!-- run: long -->\n\n    weft run x.yaml --set switch.bufer=1\n", "--set switch.bufer=1: no such key"),
                          ("<!-- run: long -->\n\n    weft run topo/none.yaml\n", "topo/none.yaml is not in the tree"),
                          ("<!-- run: long -->\n\n    weft reproduce table-666\n", "weft reproduce table-666: no such experiment")):
            with self.subTest(page=page):
                self.assertIn(why, self.complaint(page))

    def test_times_and_sizes_vary_where_the_mark_says_so(self):
        page = "a\n\n{}    $ echo 3 hosts, 0.2 s, 5.6 MiB\n    3 hosts, 0.17 s, 12 MiB\n"
        self.complaint(page.format("<!-- run: ; vary -->\n\n"), code=0)
        self.complaint(page.format(""))
        self.complaint(page.format("<!-- run: ; vary -->\n\n").replace("3 hosts, 0.17", "4 hosts, 0.17"))


if __name__ == "__main__":
    unittest.main()
