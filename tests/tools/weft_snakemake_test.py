#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""topo/Snakefile: the same bytes as 'weft sweep' without it.

usage: weft_snakemake_test.py WEFT [TEST]...   77: there is no Snakemake
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
RUN = """
weft: run/1
topology: "rlft:ports=4,stages=2"
clock: virtual
measure: {warmup: 10us, duration: 100us, sample: 50us}
traffic:
  - {pattern: uniform, from: all, load: 5%, message: 4KiB}
"""
POINTS = ["--vary", "traffic[0].load=10%:30%:10%", "--seeds", "1:2"]
SNAKEFILE = pathlib.Path(__file__).resolve().parents[2] / "topo/Snakefile"
TABLES = ("sweep.csv", "sweep-mean.csv", "sweep.json")


class WithSnakemake(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="weft-snakemake-")
        self.addCleanup(shutil.rmtree, self.top)
        pathlib.Path(self.top, "run.yaml").write_text(RUN)
        self.env = {**os.environ, "HOME": self.top}

    def snakemake(self, *words, out="snake"):
        done = subprocess.run(["snakemake", "--snakefile", str(SNAKEFILE), "--cores", "2", "--directory", self.top, *words,
                               "--config", f"weft={WEFT}", "run=run.yaml", f"out={out}", "args=" + " ".join(POINTS)],
                              capture_output=True, text=True, timeout=240, check=False, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr + done.stdout

    def test_a_sweep_has_the_bytes_of_one_without(self):
        subprocess.run([WEFT, "sweep", f"{self.top}/run.yaml", *POINTS, "-o", f"{self.top}/plain"], check=True,
                       capture_output=True, timeout=240)
        self.snakemake()
        for name in TABLES:
            self.assertEqual(pathlib.Path(self.top, "plain", name).read_bytes(),
                             pathlib.Path(self.top, "snake", name).read_bytes())
        self.assertIn("Nothing to be done", self.snakemake())

    def test_a_folder_may_be_in_the_home(self):
        self.snakemake("--until", "prepare", out="~/swept")
        self.assertTrue(os.path.exists(f"{self.top}/swept/manifest.json"))
        self.assertFalse(os.path.exists(f"{self.top}/~"))


if __name__ == "__main__":
    if shutil.which("snakemake") is None:
        print("skipped: no snakemake")
        sys.exit(77)
    unittest.main(verbosity=2)
