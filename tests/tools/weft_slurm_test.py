#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""'weft sweep --on slurm' with a Slurm of one node: the same bytes as without, also after kills.

usage: weft_slurm_test.py WEFT [TEST]...   77: there is no Slurm, or this is not root
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("tools", "net")]
import labs # pylint: disable=wrong-import-position
import slurm_bed # pylint: disable=wrong-import-position

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
RUN = """
weft: run/1
topology: "rlft:ports=4,stages=2"
clock: virtual
measure: {warmup: 10us, duration: 100us, sample: 50us}
traffic:
  - {pattern: uniform, from: all, load: 5%, message: 4KiB}
"""
POINTS = ("--vary", "traffic[0].load=5%:50%:5%", "--seeds", "1:4") # 40
TABLES = ("sweep.csv", "sweep-mean.csv", "sweep.json")


class OnSlurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(tempfile.mkdtemp(prefix="weft-slurm-"))
        cls.addClassCleanup(shutil.rmtree, cls.top, ignore_errors=True)
        cls.top.chmod(0o755) # munged wants to be reached
        (cls.top / "bed").mkdir()
        cls.slurm = slurm_bed.Slurm(cls.top / "bed")
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()
        (cls.top / "run.yaml").write_text(RUN)

    def command(self, out, *args, points=POINTS):
        return [WEFT, "sweep", str(self.top / "run.yaml"), *points, *args, "-o", str(self.top / out)]

    def sweep(self, out, *args, points=POINTS, code=0):
        done = subprocess.run(self.command(out, *args, points=points), capture_output=True, text=True, timeout=240,
                              check=False, env=self.slurm.env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def results(self, out):
        return len(list((self.top / out).glob("*seed*.json")))

    def wait_results(self, out, count, process):
        labs.wait_path(str(self.top / out / "slurm.jobs"), process)
        labs.wait_file(str(self.top / out / "slurm.jobs"), lambda _: self.results(out) >= count, process)

    def test_a_sweep_that_is_cancelled_and_whose_node_dies_has_the_bytes_of_one_without_slurm(self):
        self.sweep("plain", "--jobs", "2")
        # Cancelled from outside: what is missing has failed, and is done by the same command.
        first = subprocess.Popen(self.command("array", "--on", "slurm", "--grace", "0"), env=self.slurm.env, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_results("array", 2, first)
        self.slurm.ask("scancel", "--name=weft-sweep")
        said = first.communicate(timeout=240)
        self.assertEqual(first.returncode, 1, said)
        self.assertIn("the task ended without a result", said[1])
        self.assertLess(self.results("array"), 40)
        # The node's daemon dies and comes back.
        second = subprocess.Popen(self.command("array", "--on", "slurm", "--grace", "0"), env=self.slurm.env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        had = self.results("array")
        self.wait_results("array", had + 1, second)
        self.slurm.kill_node()
        self.slurm.start_node()
        said = second.communicate(timeout=240)
        if second.returncode != 0: # tasks that were starting may have been lost
            said = self.sweep("array", "--on", "slurm")
        for name in TABLES:
            self.assertEqual((self.top / "plain" / name).read_bytes(), (self.top / "array" / name).read_bytes(), said)

    def test_a_killed_sweep_waits_for_its_tasks_and_sends_none_twice(self):
        points = ("--vary", "traffic[0].load=10%,20%", "--seeds", "1:4")
        first = subprocess.Popen(self.command("killed", "--on", "slurm", "--sbatch", "--begin=now+4", points=points),
                                 env=self.slurm.env, stderr=subprocess.DEVNULL)
        labs.wait_path(str(self.top / "killed/slurm.jobs"), first)
        first.send_signal(signal.SIGKILL)
        first.wait()
        job = (self.top / "killed/slurm.jobs").read_text()
        done = self.sweep("killed", "--on", "slurm", "--sbatch", "--begin=now+4", points=points)
        self.assertIn("8 of 8 points", done.stdout)
        self.assertEqual((self.top / "killed/slurm.jobs").read_text(), job)

    def test_what_sbatch_refuses_ends_the_sweep(self):
        done = self.sweep("refused", "--on", "slurm", "--sbatch", "--partition=none", code=3)
        self.assertIn("invalid partition", done.stderr)
        self.assertIn("sbatch failed", done.stderr)

    def test_a_reproduction_has_the_bytes_of_one_without_slurm(self):
        said = []
        for more in ([], ["--on", "slurm", "--srun", "--nice=0"]):
            cache = self.top / f"cache-{len(more)}"
            done = subprocess.run([WEFT, "reproduce", "table-15", "--quick", "--markdown", "--instances",
                                   "1", "--messages", "2000", "--warmup", "500", *more, "--cache", str(cache), "-o",
                                   str(self.top)], capture_output=True, text=True, timeout=240, check=False,
                                  env=self.slurm.env)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            said.append(done.stdout)
        self.assertEqual(*said)
        self.assertNotEqual(said[0], "")
        self.assertIn("JobName=weft-reproduce", self.slurm.ask("scontrol", "show", "jobs"))


if __name__ == "__main__":
    MISSING = slurm_bed.missing()
    if MISSING is not None or os.getuid() != 0:
        print(f"skipped: {'no ' + MISSING if MISSING else 'only root can be the user of all daemons'}")
        sys.exit(77)
    unittest.main(verbosity=2)
