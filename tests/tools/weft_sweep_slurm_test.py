#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""'weft sweep --on slurm' with programs in the place of Slurm's, which write down what they are asked: what a task is,
and when a point has failed. What needs Slurm itself is in weft_slurm_test.py.

usage: weft_sweep_slurm_test.py WEFT [TEST]...
"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
FAKE = pathlib.Path(__file__).resolve().parent / "fake-weft-fabric"
RUN = """
weft: run/1
topology: "rlft:ports=4,stages=2"
clock: virtual
traffic:
  - {pattern: uniform, from: all, load: 5%, message: 4KiB}
"""
# Each word of a job in its own line, and a free line behind it. The job whose number is in 'last' is refused, which ends
# the sweep without a wait for results.
SBATCH = """#!/bin/sh
printf '%s\\n' "$@" '' >> "$FAKE/jobs"
echo 7
[ "$(grep -c '^$' "$FAKE/jobs")" != "$(cat "$FAKE/last")" ]
"""
# No task is left; what the folder 'late' has comes with the fifth answer.
SQUEUE = """#!/bin/sh
echo >> "$FAKE/asked"
[ "$(wc -l < "$FAKE/asked")" -ne 5 ] || [ ! -d "$FAKE/late" ] || cp "$FAKE"/late/* "$FAKE/out"
"""


class Orders(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-sweep-slurm-"))
        self.addCleanup(shutil.rmtree, self.dir)
        (self.dir / "run.yaml").write_text(RUN)
        (self.dir / "last").write_text("0")
        (self.dir / "programs").mkdir()
        (self.dir / "programs/weft-fabric").symlink_to(FAKE)
        for name, text in (("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", "#!/bin/sh\n")):
            (self.dir / "programs" / name).write_text(text)
            (self.dir / "programs" / name).chmod(0o755)
        self.env = {**os.environ, "FAKE": str(self.dir), "WEFT_PROGRAMS": str(self.dir / "programs"),
                    "PATH": f"{self.dir}/programs:" + os.environ["PATH"]}

    def sweep(self, *words, code=0):
        done = subprocess.run([WEFT, "sweep", *words], capture_output=True, text=True, timeout=240, check=False,
                              env=self.env, cwd=self.dir)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def scripts(self):
        """Returns the script and the arguments of each job."""
        jobs = [job.split("\n") for job in (self.dir / "jobs").read_text().rstrip("\n").split("\n\n")]
        return [job[next(at for at, word in enumerate(job) if word.endswith("slurm.sh")):] for job in jobs]

    def run_task(self, script, task):
        """As a node does that is given nothing of this environment but where the stand-in is."""
        subprocess.run(["sh", str(self.dir / script[0]), *script[1:]], check=True, capture_output=True, timeout=240, cwd="/", env={
            "PATH": "/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": str(task), "FAKE": str(self.dir),
            "WEFT_PROGRAMS": str(self.dir / "programs")})

    def results(self):
        return sorted(file.name for file in (self.dir / "out").glob("[0-9]*.json"))

    def test_a_task_of_the_second_array_without_our_environment_runs_its_own_point(self):
        (self.dir / "last").write_text("2")
        self.sweep("run.yaml", "--seeds", "1:1003", "-o", "out", "--on", "slurm", code=3)
        first, second = self.scripts()
        self.run_task(first, 2)
        self.run_task(second, 2)
        self.assertEqual(self.results(), ["0002_seed=3.json", "1002_seed=1003.json"])

    def test_a_task_runs_its_point_also_if_the_words_end_the_options(self):
        (self.dir / "last").write_text("1")
        for at, words in enumerate((["run.yaml", "--"], ["--", "run.yaml"])):
            (self.dir / "jobs").unlink(missing_ok=True)
            self.sweep("--seeds", f"1{at}:1{at + 2}", "-o", "out", "--on", "slurm", "--restart", *words, code=3)
            self.run_task(self.scripts()[0], 1)
            self.assertEqual(self.results(), [f"1_seed=1{at + 1}.json"])

    def test_a_result_that_is_seen_late_is_none_that_failed(self):
        (self.dir / "late").mkdir()
        self.sweep("run.yaml", "--seeds", "1:1", "-o", "out", "--prepare")
        self.sweep("run.yaml", "--seeds", "1:1", "-o", "out", "--point", "0")
        shutil.move(self.dir / "out/0_seed=1.json", self.dir / "late")
        self.assertIn("1 of 1 points\n", self.sweep("run.yaml", "--seeds", "1:1", "-o", "out", "--on", "slurm"))

    def test_what_another_configuration_left_is_counted_once(self):
        self.sweep("run.yaml", "--seeds", "1:1", "-o", "out")
        result = self.dir / "out/0_seed=1.json"
        other = json.loads(result.read_text())
        del other["sum"]
        other["config"]["seed"] = 9
        result.write_text(json.dumps(other))
        said = self.sweep("run.yaml", "--seeds", "1:1", "-o", "out", "--on", "slurm", "--grace", "0", code=1)
        self.assertIn("1 rerun because the old result had another configuration", said)

    def test_without_slurm_it_says_so(self):
        self.env["PATH"] = "/nowhere"
        self.assertIn("the command sbatch is missing", self.sweep("run.yaml", "--seeds", "1:2", "-o", "out", "--on", "slurm",
                                                            code=2))

    def test_a_point_needs_its_sweep(self):
        words = ("run.yaml", "-o", "out", "--seeds")
        self.sweep(*words, "1:2", "--prepare")
        self.sweep(*words, "1:2", "--point", "1")
        self.assertIn("--point 2: expected a point from 0 to 1", self.sweep(*words, "1:2", "--point", "2", code=2))
        self.assertIn("contains a different sweep", self.sweep(*words, "1:3", "--point", "1", code=2))

    def test_the_grace_is_a_number_of_seconds_and_goes_with_slurm(self):
        for words, why in ((["--on", "slurm", "--grace", "-1"], "--grace -1: expected a whole number from 0 to 86400 seconds"),
                           (["--grace", "5"], "--grace requires --on slurm")):
            self.assertIn(why, self.sweep("run.yaml", "--seeds", "1:1", "-o", "out", *words, code=2))

    def test_further_arguments_of_srun_may_be_long(self):
        srun = self.dir / "programs/srun"
        srun.write_text('#!/bin/sh\necho "$4" > "$FAKE/comment"\nexit 1\n')
        srun.chmod(0o755)
        comment = "x" * 6000
        subprocess.run([WEFT, "reproduce", "table-15", "--quick", "--instances", "1", "--on", "slurm", "--srun",
                        "--comment=" + shlex.quote(comment), "--jobs", "1", "--cache", str(self.dir), "-o",
                        str(self.dir)], capture_output=True, timeout=240, check=False, env=self.env)
        self.assertEqual((self.dir / "comment").read_text(), f"--comment={comment}\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
