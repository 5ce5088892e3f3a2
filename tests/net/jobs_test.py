#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Several jobs in one run: placements, slowdowns against the job alone, the matrix of interference.

usage: jobs_test.py WEFT [TEST]...
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = sys.argv.pop(1) if len(sys.argv) > 1 else ""
RUN = """
weft: run/1
topology: "rlft:ports=8,stages=2"
clock: virtual
link: {rate: 10Gbps, delay: 100ns}
routing: {algorithm: dmodk}
jobs:
"""
FIRST = "  - {name: one, schedule: ring.goal, hosts: 8, placement: random, baseline: true}\n"
SECOND = "  - {name: two, schedule: all.goal, hosts: 8, placement: random, start: 7us, baseline: true}\n"
NOISE = "  - {name: noise, traffic: {pattern: uniform, load: 50%}, hosts: 6, placement: by-group, baseline: true}\n"


class Jobs(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-jobs-"))
        self.addCleanup(shutil.rmtree, self.dir)
        for kind, name in (("allreduce-ring", "ring"), ("alltoall", "all")):
            self.weft("goal", "gen", kind, "--ranks", "8", "--bytes", "256KiB", "-o", str(self.dir / f"{name}.goal"))

    def weft(self, *words, code=0):
        done = subprocess.run([WEFT, *words], capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def run_jobs(self, *words, jobs=FIRST + SECOND, text=RUN):
        """The result without its cost, and the table."""
        path = self.dir / "result.json"
        (self.dir / "run.yaml").write_text(text + jobs)
        table = self.weft("run", str(self.dir / "run.yaml"), "--json", str(path), *words)
        document = json.loads(path.read_text())
        document.pop("wall")
        return document, table

    def test_two_jobs_have_the_matrix_and_every_number_of_workers_the_same_bytes(self):
        one, table = self.run_jobs()
        first, second = one["jobs"]
        for job, other in ((first, second), (second, first)):
            self.assertGreater(job["alone"]["completion_ns"], 0)
            self.assertEqual(job["slowdown"], job["completion_ns"] / job["alone"]["completion_ns"])
            self.assertEqual([(row["job"], row["slowdown"]) for row in job["beside"]], [(other["name"], job["slowdown"])])
            self.assertEqual(len(set(job["hosts"])), 8)
            self.assertRegex(table, f"\n  job {job['name']} +8 hosts, completed in .*, alone in .*, slowdown ")
        self.assertFalse(set(first["hosts"]) & set(second["hosts"]))
        self.assertEqual(second["start_ns"], 7000)
        self.assertGreater(max(first["slowdown"], second["slowdown"]), 1)
        for workers in ("2", "3", "7"):
            self.assertEqual(self.run_jobs("--workers", workers)[0], one, workers)

    def test_alone_is_what_the_schedule_takes_by_itself_on_these_hosts(self):
        job = self.run_jobs()[0]["jobs"][0]
        places = "".join(f"{rank} {host}\n" for rank, host in enumerate(job["hosts"]))
        (self.dir / "places").write_text(places)
        entry = f"traffic: [{{pattern: goal, file: {self.dir}/ring.goal, ranks: {self.dir}/places}}]\n"
        result = self.run_jobs(jobs=entry, text=RUN.replace("jobs:\n", ""))[0]
        self.assertEqual(result["counters"]["goal_completion_ns"], job["alone"]["completion_ns"])
        # The run has the same ranks and hosts, each with its end.
        ranks = result["schedule"]["ranks"]
        self.assertEqual([rank["host"] for rank in ranks], job["hosts"])
        self.assertEqual(max(rank["completion_ns"] for rank in ranks), job["alone"]["completion_ns"])
        self.assertEqual(result["schedule"]["slowest"][0]["completion_ns"], job["alone"]["completion_ns"])
        self.assertEqual(result["schedule"]["hosts"], [{"host": rank["host"], "completion_ns": rank["completion_ns"]}
                                                       for rank in ranks])

    def test_other_traffic_of_the_file_is_in_no_baseline(self):
        quiet = self.run_jobs()[0]["jobs"]
        other = "traffic: [{pattern: uniform, load: 60%}]\n"
        result = self.run_jobs(jobs=FIRST + SECOND + other)[0]
        for job, alone in zip(result["jobs"], quiet):
            self.assertEqual((job["alone"], job["beside"]), (alone["alone"], alone["beside"]))
            self.assertGreater(job["slowdown"], alone["slowdown"])

    def test_of_three_jobs_each_pair_is_measured_and_traffic_counts_by_its_latency(self):
        result, table = self.run_jobs(jobs=FIRST + SECOND.replace(", baseline: true", "") + NOISE)
        one, two, noise = result["jobs"]
        self.assertEqual([row["job"] for row in one["beside"]], ["two", "noise"])
        self.assertEqual([row["job"] for row in noise["beside"]], ["one", "two"])
        # It is measured only beside jobs with a baseline, and has no slowdown.
        self.assertEqual(([row["slowdown"] for row in two["beside"]], two["alone"], two["slowdown"]), ([None, None], None, None))
        self.assertIsNone(noise["completion_ns"])
        self.assertEqual(noise["slowdown"], noise["latency_ns"] / noise["alone"]["latency_ns"])
        self.assertRegex(table, "\n +slowdown [0-9.]+ with noise only\n")

    def test_a_late_job_on_links_of_its_own_takes_what_it_takes_alone(self):
        jobs = (FIRST + SECOND).replace("random", "packed")
        # A crossbar: jobs share no link.
        first, second = self.run_jobs(jobs=jobs, text=RUN.replace("rlft:ports=8,stages=2", "full:switches=1,hosts=16")
                                      .replace("dmodk", "ud"))[0]["jobs"]
        self.assertEqual((first["slowdown"], second["slowdown"]), (1, 1))

    def test_the_real_clock_runs_jobs_and_their_baselines(self):
        result, _ = self.run_jobs("--clock", "real", "--dilation", "200")
        for job in result["jobs"]:
            self.assertGreater(job["completion_ns"], 0)
            self.assertGreater(job["alone"]["completion_ns"], 0)

    def test_the_explained_file_is_the_same_run(self):
        jobs = FIRST + SECOND + NOISE
        one = self.run_jobs(jobs=jobs)[0]
        text = self.weft("run", "--explain", str(self.dir / "run.yaml"))
        again = self.run_jobs(jobs="", text=text)[0]
        one.pop("config")
        again.pop("config")
        self.assertEqual(one, again)

    def test_a_job_that_does_not_end_is_named(self):
        (self.dir / "all.goal").write_text("num_ranks 1\nrank 0 {\nx: recv 8b from -1\n}\n")
        (self.dir / "run.yaml").write_text(RUN + FIRST + SECOND)
        error = self.weft("run", str(self.dir / "run.yaml"), "-q", "--set", "measure.duration=1ms", code=1)
        self.assertIn("two: rank 0: recv 'x' (line 3) from any tag 0 received no message", error)

    def test_what_does_not_fit_is_refused_with_its_place(self):
        for jobs, expected in (
                ("  - {name: a, hosts: 4}\n", "8:5: job a: 'schedule' or 'traffic' is missing"),
                ("  - {name: a, hosts: 4, schedule: ring.goal, traffic: {pattern: uniform}}\n",
                 "8:5: job a: 'schedule' and 'traffic' cannot be combined"),
                ("  - {name: a, schedule: ring.goal}\n", "8:5: job a: 'hosts', the number of hosts, is missing"),
                (FIRST + FIRST, "9:5: duplicate job one"),
                ("  - {name: a, schedule: ring.goal, hosts: 99}\n", "8:5: job a: 32 of its 99 hosts are free"),
                ("  - {name: a, schedule: ring.goal, hosts: 4}\n", " has 8 ranks, but job a has only 4 hosts with 1 each; set "
                 "ranks-per-host to 2\n"),
                ("  - {name: a, schedule: ring.goal, hosts: 8, placement: near}\n", "placement: near"),
                ("  - {name: a, traffic: {pattern: uniform, to: [h1]}, hosts: 4}\n", "'from' and 'to' are not allowed"),
                ("  - {name: a, traffic: {pattern: hotspot, to: [h1]}, hosts: 4}\n", "'from' and 'to' are not allowed"),
                ("  - {name: a, traffic: {pattern: bit-reversal}, hosts: 4}\n", "sends only to the job's hosts"),
                ("  - {name: a, traffic: {pattern: goal, file: x}, hosts: 4}\n", "set 'schedule' to a schedule file"),
                ("  - {name: a, traffic: {pattern: flows, sizes: hadoop, load: 30%, stop: 1ms}, hosts: 4}\n", "sends only to the job's hosts"),
                (FIRST + "traffic: [{pattern: goal, file: ring.goal}]\n", "only one schedule is allowed"),
                (FIRST + "switch: {switching: wormhole}\n", "jobs are not supported with 'switching: wormhole'")):
            (self.dir / "run.yaml").write_text(RUN + jobs)
            error = self.weft("run", str(self.dir / "run.yaml"), code=2)
            self.assertIn(expected, error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
