#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""No command writes over a file that it reads, whatever name is used for it: exit code 2, and the file stays.

usage: outputs_test.py WEFT [TEST]...
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "weft"
RUN = """weft: run/1
topology: net.yaml
clock: virtual
routing: {file: routes}
traffic: [{pattern: permutation, file: pairs, load: 10%}]
measure: {duration: 100us, sample: 50us}
"""


class Outputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.weft("topo", "gen", "ring", "--switches", "3", "-o", "net.yaml")
        self.weft("route", "compute", "net.yaml", "--algorithm", "ud", "-o", "routes")
        self.weft("route", "compute", "net.yaml", "--algorithm", "ud", "--tables", "-o", "tables")
        (self.dir / "pairs").write_text("h0 h1\nh1 h2\n")
        (self.dir / "run.yaml").write_text(RUN)
        (self.dir / "base.yaml").write_text(RUN)

    def weft(self, *words, code=0):
        done = subprocess.run([WEFT, *words], capture_output=True, text=True, timeout=240, check=False, cwd=self.dir)
        self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
        return done.stderr

    def refused(self, inputs, *words):
        """OUT of the words is each of the inputs, by its own name, by a link and by a symbolic link."""
        for name in inputs:
            before = (self.dir / name).read_bytes()
            for make in (None, os.link, os.symlink):
                out = f"other-{name}" if make is not None else name
                (self.dir / f"other-{name}").unlink(missing_ok=True)
                if make is not None:
                    make(self.dir / name, self.dir / out)
                error = self.weft(*(word.replace("OUT", out) for word in words), code=2)
                self.assertIn("is also the input", error)
                self.assertEqual((self.dir / name).read_bytes(), before)

    def test_results_and_captures_of_runs(self):
        self.weft("run", "run.yaml", "--json", "x.json")
        for words in (("--json", "OUT"), ("--csv", "OUT"), ("--pcap", "s0:1=OUT")):
            self.refused(("run.yaml", "net.yaml", "routes", "pairs"), "run", "run.yaml", *words)

    def test_topologies_and_routes(self):
        self.refused(("net.yaml",), "topo", "export", "--format", "ibnetdiscover", "net.yaml", "-o", "OUT")
        self.weft("topo", "export", "--format", "ibnetdiscover", "net.yaml", "-o", "net.ib")
        self.refused(("net.ib",), "topo", "import", "--format", "ibnetdiscover", "net.ib", "-o", "OUT")
        self.refused(("net.yaml",), "route", "compute", "net.yaml", "--algorithm", "ud", "-o", "OUT")
        for name, source in (("a.fdbs", "tables"), ("b.lst", "net.yaml")):
            os.rename(self.dir / source, self.dir / name)
            topology, tables = (name, "tables") if source == "net.yaml" else ("net.yaml", name)
            self.assertIn("is also the input", self.weft("route", "export", topology, tables, "--format", "opensm", "-o", name[0], code=2))
            os.rename(self.dir / name, self.dir / source)

    def test_pictures(self):
        self.weft("run", "run.yaml", "--json", "x.svg")
        self.refused(("x.svg",), "plot", "x.svg", "--kind", "throughput-load", "-o", "x.svg")

    def test_folders_of_sweeps(self):
        for name in ("manifest.json", "sweep.csv", "sweep-mean.csv", "sweep.json"):
            (self.dir / "out").mkdir(exist_ok=True)
            os.link(self.dir / "base.yaml", self.dir / "out" / name)
            self.assertIn("is also the input", self.weft("sweep", "base.yaml", "--seeds", "1:2", "-o", "out", code=2))
            self.assertEqual((self.dir / "base.yaml").read_text(), RUN)
            os.unlink(self.dir / "out" / name)


if __name__ == "__main__":
    unittest.main()
