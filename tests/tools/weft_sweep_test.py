#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""'weft sweep' with a fabric that answers at once (fake-weft-fabric): what is run, resumed, refused
and reported.

usage: weft_sweep_test.py WEFT [TEST]...
"""
import csv
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
PANDAS = "/usr/bin/python3"
FAKE = pathlib.Path(__file__).resolve().parent / "fake-weft-fabric"
RUN = """
weft: run/1
topology: "rlft:ports=4,stages=2"
clock: real
traffic:
  - {pattern: uniform, from: all, load: 5%, message: 4KiB}
"""
CASES = """
weft: cases/1
cases:
  - {name: "one, plain", set: {switch.vcs: 1, switch.voq: false}}
  - {name: two, set: {switch.vcs: 2}}
"""
LOADS = ("--vary", "traffic[0].load=10%:40%:10%")


class Sweep(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-sweep-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.run_file = self.dir / "run.yaml"
        self.run_file.write_text(RUN)
        self.out = self.dir / "out"
        (self.dir / "programs").mkdir()
        (self.dir / "programs" / "weft-fabric").symlink_to(FAKE)
        self.env = {**os.environ, "FAKE": str(self.dir), "WEFT_PROGRAMS": str(self.dir / "programs")}

    def command(self, *args, out=None):
        return [WEFT, "sweep", str(self.run_file), *args, "-o", str(out or self.out)]

    def sweep(self, *args, code=0, out=None):
        done = subprocess.run(self.command(*args, out=out), capture_output=True, text=True,
                              timeout=240, check=False, env=self.env)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def start_blocked(self, point, *args):
        """A sweep whose fabric waits at this point."""
        self.write("block", point)
        os.mkfifo(self.dir / "blocked")
        process = subprocess.Popen(self.command(*args), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.env)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        child = int((self.dir / "blocked").read_text())
        (self.dir / "block").unlink()
        return process, child

    def write(self, name, text):
        (self.dir / name).write_text(text)

    def calls(self):
        path = self.dir / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def rows(self, name="sweep.csv"):
        with open(self.out / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def files(self):
        return sorted(path.name for path in self.out.iterdir())

    def test_every_combination_runs_once_with_every_seed(self):
        self.sweep(*LOADS, "--vary", "switch.voq=true,false", "--seeds", "3:4")
        self.assertEqual(len(self.calls()), 16)
        self.assertEqual([(row["traffic.0.load_text"], row["traffic.0.load"], row["switch.voq"], row["seed"])
                          for row in self.rows()],
                         [(f"{load}%", str(load / 100), voq, seed) for load in (10, 20, 30, 40)
                          for voq in ("true", "false") for seed in ("3", "4")])
        self.assertEqual(float(self.rows()[0]["accepted"]), 0.1 - 0.003)

    def test_a_program_compares_loads_as_numbers(self):
        self.sweep("--vary", "traffic[0].load=100%,5%,20%", "--seeds", "1:2")
        loads = {float(row["traffic.0.load"]): row["traffic.0.load_text"] for row in self.rows()}
        self.assertEqual([loads[load] for load in sorted(loads)], ["5%", "20%", "100%"])
        self.assertEqual(min(float(row["traffic.0.load"])
                             for row in self.rows("sweep-mean.csv")), 0.05)
        document = json.loads((self.out / "sweep.json").read_text())
        self.assertEqual([row["traffic.0.load"] for row in document["means"]], [1.0, 0.05, 0.2])

    def test_pandas_reads_loads_as_numbers_and_groups_by_them(self):
        # The package is one of the system's Python.
        if subprocess.run([PANDAS, "-c", "import pandas"], capture_output=True, check=False).returncode != 0:
            self.skipTest("python3-pandas is not installed")
        self.sweep("--vary", "traffic[0].load=30%,5%,20%", "--seeds", "1:2")
        done = subprocess.run([PANDAS, "-c", """
import pandas, sys
table = pandas.read_csv(sys.argv[1])
print(table["traffic.0.load"].dtype, sorted(table[table["traffic.0.load"] > 0.1]["traffic.0.load_text"]))
print(table.groupby("traffic.0.load").accepted.mean().round(6).to_dict())
""", str(self.out / "sweep.csv")], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "float64 ['20%', '20%', '30%', '30%']\n"
                         f"{{0.05: {0.05 - 0.0015}, 0.2: {0.2 - 0.0015}, 0.3: {0.3 - 0.0015}}}\n")

    def test_entries_of_traffic_have_columns_of_their_own(self):
        self.write("entries", "traffic.0.load=20%")
        self.sweep("--vary", "traffic[0].load=20%,30%", "--seeds", "1:2")
        rows, means = self.rows(), self.rows("sweep-mean.csv")
        self.assertEqual([(row["traffic.0_accepted"], row["traffic.1_accepted"], row["traffic.1_total_ns_p999"])
                          for row in rows], [("0.1", "0.0666666667", "1800")] * 2 + [("", "", "")] * 2)
        self.assertEqual((means[0]["traffic.1_total_ns_mean"], means[0]["traffic.1_total_ns_mean_ci95"]), ("600", "0"))
        self.assertEqual(means[1]["traffic.1_total_ns_mean"], "")
        self.assertEqual(list(rows[0])[-1], "traffic.0.load_text")
        self.sweep("--vary", "traffic[0].load=30%,40%", out=self.dir / "plain")
        self.assertNotIn("traffic.0_accepted", (self.dir / "plain/sweep.csv").read_text())

    def test_points_have_speaking_names(self):
        self.sweep(*LOADS, "--seeds", "3:4")
        self.assertEqual(self.files()[:3], ["0_load=10%_seed=3.json", "1_load=10%_seed=4.json",
                                            "2_load=20%_seed=3.json"])
        self.assertEqual(self.files()[8:],
                         ["manifest.json", "sweep-mean.csv", "sweep.csv", "sweep.json"])

    def test_what_is_written_does_not_depend_on_jobs(self):
        for jobs in ("1", "3"):
            self.sweep(*LOADS, "--seeds", "1:3", "--jobs", jobs, out=self.dir / jobs)
        for name in ("sweep.csv", "sweep-mean.csv", "sweep.json", "manifest.json"):
            self.assertEqual((self.dir / "1" / name).read_bytes(),
                             (self.dir / "3" / name).read_bytes(), name)

    def test_means_and_intervals_are_over_the_seeds(self):
        self.sweep(*LOADS, "--seeds", "1:3")
        row = self.rows("sweep-mean.csv")[1]
        self.assertEqual((row["traffic.0.load_text"], row["seeds"]), ("20%", "3"))
        # 0.199, 0.198, 0.197: t(2) * 0.001 / sqrt 3
        self.assertAlmostEqual(float(row["accepted"]), 0.198)
        self.assertAlmostEqual(float(row["accepted_ci95"]), 4.302653 * 0.001 / 3 ** 0.5, places=8)
        self.assertEqual(row["packets_delivered"], "30")

    def test_json_on_standard_output_is_a_document_and_nothing_else(self):
        document = json.loads(self.sweep(*LOADS, "--json").stdout)
        self.assertEqual(document, json.loads((self.out / "sweep.json").read_text()))
        self.assertEqual([row["traffic.0.load_text"] for row in document["points"]],
                         ["10%", "20%", "30%", "40%"])
        self.assertEqual(document["missing"], [])

    def test_the_document_has_the_means_and_intervals_of_the_table(self):
        self.sweep(*LOADS, "--seeds", "1:3")
        means = json.loads((self.out / "sweep.json").read_text())["means"]
        rows = self.rows("sweep-mean.csv")
        self.assertEqual([list(mean) for mean in means], [list(row) for row in rows])
        for mean, row in zip(means, rows):
            self.assertEqual((mean["traffic.0.load_text"], mean["seeds"]), (row["traffic.0.load_text"], 3))
            for name in ("accepted", "accepted_ci95", "total_ns_mean_ci95", "lost"):
                self.assertAlmostEqual(mean[name], float(row[name]), places=8)

    def test_folders_above_are_made_too(self):
        self.sweep(*LOADS, out=self.dir / "a" / "b" / "c")
        self.assertTrue((self.dir / "a" / "b" / "c" / "sweep.csv").exists())

    def test_a_folder_that_cannot_be_is_a_bad_request_that_names_it(self):
        self.write("file", "")
        for folder, why in (("file/b", "the folder cannot be created: Not a directory"),
                            ("file", "Not a directory")):
            with self.subTest(folder=folder):
                path = self.dir / folder
                self.assertEqual(self.sweep(*LOADS, out=path, code=2).stderr,
                                 f"weft sweep: {path}: {why}\n")
        done = subprocess.run([WEFT, "sweep", str(self.run_file), *LOADS, "-o", ""],
                              capture_output=True, text=True, check=False, env=self.env)
        self.assertEqual((done.returncode, done.stderr),
                         (2, "weft sweep: -o '': expected a folder\n"))
        self.assertEqual(self.calls(), [])

    def test_set_holds_for_all_points(self):
        self.sweep(*LOADS, "--set", "switch.vcs=2")
        self.assertTrue(all(call.startswith("switch.vcs=2 ") for call in self.calls()))
        manifest = json.loads((self.out / "manifest.json").read_text())
        self.assertEqual(manifest["configuration"]["switch"]["vcs"], 2)

    def test_a_line_for_each_point_on_a_pipe(self):
        lines = self.sweep(*LOADS, "--jobs", "1").stderr.splitlines()
        points = [line for line in lines if line.startswith("[")]
        self.assertEqual(len(points), 4)
        self.assertRegex(points[2], r"^\[3/4\] load=30%: offered 30.0 %, accepted 29.9 %, "
                                    r"total latency 222 ns \([\d.]+ m?s\)$")

    def test_a_bar_on_a_terminal(self):
        master, slave = pty.openpty()
        with subprocess.Popen(self.command(*LOADS), stdout=subprocess.DEVNULL, stderr=slave, env=self.env) as process:
            os.close(slave)
            text = b""
            try:
                while chunk := os.read(master, 4096):
                    text += chunk
            except OSError:  # the terminal closes
                pass
        os.close(master)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"4/4 [", text)
        self.assertNotIn(b"\\x1b", text)
        self.assertRegex(text, rb"2/4 \[\d\d:\d\d<\d\d:\d\d, .* 1 running")
        self.assertNotIn(b"total latency", text)

    def test_one_at_a_time_on_the_real_clock_and_it_says_so(self):
        self.assertIn("one point at a time", self.sweep(*LOADS).stderr)
        done = self.sweep(*LOADS, "--jobs", "2", out=self.dir / "two")
        self.assertIn("2 points at a time on the real clock disturb each other", done.stderr)

    def test_after_a_kill_it_goes_on_with_what_is_missing(self):
        process, child = self.start_blocked("traffic.0.load=30%", *LOADS, "--jobs", "1")
        end = os.pidfd_open(child)
        self.addCleanup(os.close, end)
        process.kill()
        process.wait()
        self.assertTrue(select.select([end], [], [], 240)[0], "the point has outlived the sweep")
        before = {name: (self.out / name).read_bytes() for name in self.files() if name[0] == "0"}
        done = self.sweep(*LOADS, "--jobs", "1")
        self.assertEqual(self.calls(), [f"traffic.0.load={load}%" for load in (10, 20, 30, 30, 40)])
        self.assertIn("4 of 4 points, 2 already there", done.stdout)
        for name, text in before.items():
            self.assertEqual((self.out / name).read_bytes(), text)

    def test_ctrl_c_ends_the_points_and_says_how_to_go_on(self):
        process, child = self.start_blocked("traffic.0.load=20%", *LOADS, "--jobs", "1")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 130)
        self.assertFalse(os.path.exists(f"/proc/{child}"))
        self.assertIn("run the same command again for the 3 points that are missing", err)
        self.assertIn("1 of 4 points", out)
        self.assertEqual(len(self.rows()), 1)
        self.assertFalse([name for name in self.files() if name.endswith((".part", ".log"))])
        self.sweep(*LOADS)
        self.assertEqual(len(self.rows()), 4)

    def test_a_second_ctrl_c_ends_a_point_that_does_not_listen(self):
        self.write("deaf", "traffic.0.load=20%")
        os.mkfifo(self.dir / "asked")
        process, child = self.start_blocked("traffic.0.load=20%", *LOADS, "--jobs", "1")
        process.send_signal(signal.SIGINT)
        self.assertEqual((self.dir / "asked").read_text(), "once")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=240)
        self.assertEqual(process.returncode, 130)
        self.assertFalse(os.path.exists(f"/proc/{child}"))
        self.assertFalse([name for name in self.files() if name.endswith((".part", ".log"))])

    def test_a_whole_sweep_runs_nothing_again(self):
        self.sweep(*LOADS)
        self.sweep(*LOADS)
        self.assertEqual(len(self.calls()), 4)

    def test_half_a_result_is_run_again(self):
        self.sweep(*LOADS)
        (self.out / "2_load=30%.json").write_text('{"throughput": {')
        self.sweep(*LOADS)
        self.assertEqual(self.calls()[4:], ["traffic.0.load=30%"])

    def test_a_result_edited_by_hand_is_noticed_and_run_again(self):
        """Any figure of any point, and a point without its sum."""
        self.sweep(*LOADS)
        point = self.out / "2_load=30%.json"
        before = point.read_text()
        edits = [(" 10,", " 11,"), ('"lost": 0', '"lost": 1'), ("fake", "other"), ('"t_ns": 2000000', '"t_ns": 2000001')]
        for old, new in edits:
            self.assertIn(old, before)
            point.write_text(before.replace(old, new, 1))
            picture = subprocess.run([WEFT, "plot", str(self.out), "--kind", "latency-throughput", "-o", str(self.dir / "x.svg")],
                                     capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual(picture.returncode, 2)
            self.assertIn(f"{point}: the file was changed after the run", picture.stderr)
            self.assertIn("3 already there, 1 rerun because the old result had been changed",
                          self.sweep(*LOADS).stdout)
            self.assertEqual(point.read_text(), before)
        point.write_text(re.sub(r',\n  "sum": .*', "", before))
        self.assertIn("1 rerun because", self.sweep(*LOADS).stdout)
        self.assertEqual(self.calls()[4:], ["traffic.0.load=30%"] * 5)
        point.write_text(before.replace('"wall": {"seconds": 0.1}', '"wall": {"seconds": 0.2}'))
        self.assertIn("4 already there", self.sweep(*LOADS).stdout)

    def test_a_changed_run_file_is_refused_with_the_key(self):
        self.sweep(*LOADS)
        self.run_file.write_text("# a comment changes nothing\n" + RUN)
        self.sweep(*LOADS)
        self.run_file.write_text(RUN + "switch: {vcs: 4}\n")
        done = self.sweep(*LOADS, code=2)
        self.assertIn("contains a different sweep:\n  switch.vcs is now 4; it was 1\nto keep it, choose another folder "
                      "with -o; to continue it, use its options and files; to delete its results and start over, add "
                      "--restart\n", done.stderr)
        self.assertEqual(len(self.calls()), 4)

    def test_another_vary_is_refused_and_restart_begins_anew(self):
        self.sweep(*LOADS)
        other = ("--vary", "traffic[0].load=10%,20%")
        self.assertIn("  --vary traffic.0.load is now 10%, 20%; it was 10%, 20%, 30%, 40%\nto keep it",
                      self.sweep(*other, code=2).stderr)
        self.assertIn("  --seeds is now 1:2; it was not set\n", self.sweep(*LOADS, "--seeds", "1:2", code=2).stderr)
        self.sweep(*other, "--restart")
        self.assertEqual(len(self.calls()), 6)
        self.assertEqual(self.files(), ["0_load=10%.json", "1_load=20%.json", "manifest.json",
                                        "sweep-mean.csv", "sweep.csv", "sweep.json"])

    def test_a_changed_topology_file_is_refused(self):
        topology = self.dir / "t.yaml"
        text = subprocess.run([WEFT, "topo", "gen", "ring", "--switches", "3", "--hosts", "1"],
                              capture_output=True, text=True, check=True).stdout
        topology.write_text(text)
        self.run_file.write_text(RUN.replace("rlft:ports=4,stages=2", "t.yaml"))
        self.sweep(*LOADS)
        topology.write_text(text + "# and this\n")
        self.assertIn("t.yaml has changed since the sweep there started",
                      self.sweep(*LOADS, code=2).stderr)

    def test_a_damaged_manifest_is_refused_and_restart_takes_nothing_over(self):
        self.sweep(*LOADS)
        for text, why in (("garbage", "no manifest of a sweep"), ("{}", "expected weft: sweep/1"),
                          ('{"weft": "sweep/9", "points": []}', "expected weft: sweep/1")):
            (self.dir / "calls").unlink(missing_ok=True)
            (self.out / "manifest.json").write_text(text)
            done = self.sweep(*LOADS, code=2)
            self.assertIn(why, done.stderr)
            self.assertIn("start over, add --restart", done.stderr)
            self.assertEqual(self.calls(), [])
            self.assertNotIn("already there", self.sweep(*LOADS, "--restart").stdout)
            self.assertEqual(len(self.calls()), 4)

    def test_results_without_a_manifest_are_refused_and_restart_takes_nothing_over(self):
        self.sweep(*LOADS)
        (self.out / "manifest.json").unlink()
        done = self.sweep(*LOADS, code=2)
        self.assertIn("contains 0_load=10%.json, but no manifest.json",
                      done.stderr)
        self.assertEqual(len(self.calls()), 4)
        self.sweep(*LOADS, "--restart")
        self.assertEqual(len(self.calls()), 8)

    def test_restart_after_an_interrupted_restart_takes_nothing_of_before_over(self):
        self.sweep(*LOADS)
        (self.out / "manifest.json").unlink()
        (self.dir / "calls").unlink()
        process, _ = self.start_blocked("traffic.0.load=20%", *LOADS, "--restart", "--jobs", "1")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=240)
        self.sweep(*LOADS)
        self.assertEqual(self.calls(), [f"traffic.0.load={load}%" for load in (10, 20, 20, 30, 40)])

    def test_files_that_are_no_points_stay_whatever_the_manifest_says(self):
        self.sweep(*LOADS)
        kept = {"notes.txt": "mine", "4_load=50%.json": "{}", "more.json": "{}"}
        for name, text in kept.items():
            (self.out / name).write_text(text)
        self.sweep(*LOADS, "--restart")
        (self.dir / "outside.json").write_text("{}")
        manifest = json.loads((self.out / "manifest.json").read_text())
        manifest["points"] += [{"file": "notes.txt"}, {"file": "../outside.json"}, {"file": 7}, 7]
        (self.out / "manifest.json").write_text(json.dumps(manifest))
        self.sweep(*LOADS, "--restart")
        (self.out / "manifest.json").write_text("garbage")
        self.sweep(*LOADS, "--restart")
        for name, text in kept.items():
            self.assertEqual((self.out / name).read_text(), text)
        self.assertTrue((self.dir / "outside.json").exists())

    def test_results_of_another_build_are_refused(self):
        self.sweep(*LOADS)
        program = self.dir / "programs" / "weft-fabric"
        program.unlink()
        program.write_text(FAKE.read_text() + "# rebuilt\n")
        program.chmod(0o755)
        done = self.sweep(*LOADS, code=2)
        self.assertIn("weft-fabric is a different build from the one that the sweep there started with\n",
                      done.stderr)
        self.sweep(*LOADS, "--restart")
        self.assertEqual(len(self.calls()), 8)

    def test_a_sweep_of_a_version_that_did_not_note_the_build_is_refused(self):
        self.sweep(*LOADS)
        manifest = json.loads((self.out / "manifest.json").read_text())
        del manifest["program"]
        (self.out / "manifest.json").write_text(json.dumps(manifest))
        self.assertIn("does not record its build of weft-fabric\nto keep it",
                      self.sweep(*LOADS, code=2).stderr)

    def test_a_result_of_another_configuration_under_a_points_name_is_run_again(self):
        self.sweep(*LOADS)
        shutil.copy(self.out / "0_load=10%.json", self.out / "2_load=30%.json")
        done = self.sweep(*LOADS)
        self.assertEqual(self.calls()[4:], ["traffic.0.load=30%"])
        self.assertIn("3 already there, 1 rerun because the old result had another "
                      "configuration", done.stdout)
        self.assertEqual([row["offered"] for row in self.rows()], ["0.1", "0.2", "0.3", "0.4"])

    def test_a_log_that_cannot_be_opened_ends_the_sweep_and_its_running_points(self):
        (self.out / "1_load=20%.log").mkdir(parents=True)
        self.write("block", "traffic.0.load=10%")
        said = self.sweep(*LOADS, "--jobs", "2", code=2).stderr
        self.assertRegex(said, r"weft sweep: \S*/1_load=20%.log: Is a directory\n$")
        self.assertEqual(self.files(), ["1_load=20%.log", "manifest.json"])

    def test_a_failing_point_is_reported_and_the_rest_goes_on(self):
        self.write("fail", "traffic.0.load=20%")
        done = self.sweep(*LOADS, code=1)
        self.assertIn("[2/4] load=20%: failed: ", done.stderr)
        self.assertIn("weft-fabric: out of memory", done.stderr)
        self.assertIn("3 of 4 points, 1 failed", done.stdout)
        self.assertEqual([row["traffic.0.load_text"] for row in self.rows()], ["10%", "30%", "40%"])
        self.assertEqual((self.out / "1_load=20%.log").read_text(), "weft-fabric: out of memory\n")
        self.assertEqual(json.loads((self.out / "sweep.json").read_text())["missing"],
                         ["1_load=20%"])
        (self.dir / "fail").unlink()
        self.sweep(*LOADS)
        self.assertEqual(self.calls()[4:], ["traffic.0.load=20%"])
        self.assertNotIn("1_load=20%.log", self.files())

    def test_half_a_result_of_a_run_is_a_failure(self):
        self.write("break", "traffic.0.load=20%")
        self.assertIn("load=20%: failed: no complete result", self.sweep(*LOADS, code=1).stderr)
        self.assertFalse([name for name in self.files() if name.startswith("1_load=20%.json")])

    def test_a_result_with_a_loss_stays_and_makes_the_answer_bad(self):
        self.write("lose", "traffic.0.load=20%")
        done = self.sweep(*LOADS, code=1)
        self.assertIn("4 of 4 points, 1 with packets lost", done.stdout)
        self.assertEqual([row["lost"] for row in self.rows()], ["0", "1", "0", "0"])
        self.sweep(*LOADS, code=1)
        self.assertEqual(len(self.calls()), 4)

    def test_a_deadlock_that_ends_a_run_is_a_result(self):
        self.write("stick", "traffic.0.load=20%")
        done = self.sweep(*LOADS, code=1)
        self.assertIn("4 of 4 points, 1 with packets lost, duplicated, out of order or in deadlock",
                      done.stdout)
        self.assertEqual([row["deadlock"] for row in self.rows()], ["0", "1", "0", "0"])
        self.sweep(*LOADS, code=1)
        self.assertEqual(len(self.calls()), 4)

    def test_a_deadlock_in_a_run_that_ctrl_c_ended_is_none(self):
        self.write("stick", "traffic.0.load=20%")
        process, _ = self.start_blocked("traffic.0.load=20%", *LOADS, "--jobs", "1")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=240)
        self.assertEqual(process.returncode, 130)
        self.assertEqual([row["traffic.0.load_text"] for row in self.rows()], ["10%"])

    def test_a_folder_belongs_to_one_sweep_at_a_time(self):
        process, _ = self.start_blocked("traffic.0.load=20%", *LOADS, "--jobs", "1")
        self.assertIn("another sweep is running there", self.sweep(*LOADS, code=3).stderr)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=240)

    def test_a_program_that_cannot_be_started_ends_the_sweep(self):
        program = self.dir / "programs" / "weft-fabric"
        program.unlink()
        program.write_text("#!/no/such/interpreter\n")
        program.chmod(0o755)
        self.assertIn("cannot start", self.sweep(*LOADS, code=3).stderr)

    def test_a_bad_value_is_refused_as_one_of_the_option_that_said_it(self):
        for args, text in (
                (("--vary", "switch.buffer=64KiB,big"),
                 "weft sweep: --vary switch.buffer: 'buffer: big': expected a size with its unit"),
                (("--vary", "traffic.0.lod=10%"), "weft sweep: --vary traffic.0.lod: unknown"),
                (("--set", "switch.buffer=big", *LOADS),
                 "weft sweep: --set switch.buffer: 'buffer: big': expected a size with its unit"),
                (("--vary", "switch.buffer=1MiB", "--set", "seed=x"), "weft sweep: --set seed: ")):
            with self.subTest(args=args):
                self.assertTrue(self.sweep(*args, code=2).stderr.startswith(text))

    def test_a_value_of_the_file_that_does_not_go_with_a_varied_one_is_refused_with_the_point(self):
        done = self.sweep("--vary", "switch.mtu=4KiB,2KiB", "--set", "traffic.0.load=9%", code=2)
        self.assertTrue(done.stderr.endswith(" (at point mtu=2KiB)\n"), done.stderr)

    def test_a_case_sets_all_its_keys(self):
        self.write("cases.yaml", CASES)
        self.sweep("--cases", str(self.dir / "cases.yaml"), "--vary", "traffic.0.load=10%,20%",
                   "--jobs", "1")
        self.assertEqual(self.calls(), [
            "switch.vcs=1 switch.voq=false traffic.0.load=10%",
            "switch.vcs=1 switch.voq=false traffic.0.load=20%",
            "switch.vcs=2 traffic.0.load=10%", "switch.vcs=2 traffic.0.load=20%"])
        self.assertEqual([row["case"] for row in self.rows()], ["one, plain"] * 2 + ["two"] * 2)
        manifest = json.loads((self.out / "manifest.json").read_text())
        self.assertEqual(manifest["cases"][0],
                         {"name": "one, plain", "set": ["switch.vcs=1", "switch.voq=false"]})

    def test_a_changed_case_is_refused_with_the_place(self):
        self.write("cases.yaml", CASES)
        args = ("--cases", str(self.dir / "cases.yaml"))
        self.sweep(*args)
        self.write("cases.yaml", CASES + "# a comment changes nothing\n")
        self.sweep(*args)
        self.write("cases.yaml", CASES.replace("vcs: 2", "vcs: 3"))
        self.assertIn('case \'two\' is now switch.vcs=3; it was switch.vcs=2\n', self.sweep(*args, code=2).stderr)

    def test_bad_cases_are_refused_with_their_place(self):
        for text, why in (
                ("weft: run/1\n", "expected 'weft: cases/1'"),
                ("weft: cases/1\n", "key 'cases' is missing"),
                ("weft: cases/1\ncases: []\n", "cases.yaml:2:8: expected 1 to 1000 cases"),
                ("weft: cases/1\nmore: 1\n", "cases.yaml:2:1: unknown key 'more'; known keys: weft, cases"),
                ("weft: cases/1\ncases: [7]\n", "cases.yaml:2:9:"),
                ("weft: cases/1\ncases: [{name: a}]\n", "'set' is missing"),
                ("weft: cases/1\ncases: [{set: {seed: 1}}]\n", "'name' is missing"),
                ("weft: cases/1\ncases: [{name: '', set: {}}]\n", "a non-empty name"),
                ("weft: cases/1\ncases: [{name: a, set: {}, sets: {}}]\n", "unknown key 'sets'"),
                ("weft: cases/1\ncases: [{name: a, set: {seed: 1}}]\n", "expected --seeds LO:HI"),
                ("weft: cases/1\ncases: [{name: a, set: {switch.vcs: [1]}}]\n", "cases.yaml:2:37:"),
                ("weft: cases/1\ncases: [{name: a, set: {}}, {name: a, set: {}}]\n",
                 "two cases have the name 'a'"),
                ("weft: cases/1\ncases: [{name: a, set: {switch.vcz: 1}}]\n",
                 "--cases switch.vcz: unknown key 'vcz' in 'switch'"),
                ("weft: cases/1\ncases: [{name: a, set: {'traffic[0].load': 1%}}]\n",
                 "--vary traffic.0.load: the case 'a' also sets this key")):
            with self.subTest(text=text):
                self.write("cases.yaml", text)
                done = self.sweep("--cases", str(self.dir / "cases.yaml"), *LOADS, code=2)
                self.assertIn(why, done.stderr)
        self.assertIn("No such file",
                      self.sweep("--cases", str(self.dir / "none.yaml"), code=2).stderr)
        self.assertEqual(self.calls(), [])

    def test_skip_invalid_leaves_bad_points_out_and_says_why(self):
        args = ("--vary", "switch.buffer=1KiB,64KiB", "--vary", "traffic.0.load=10%,20%")
        self.sweep(*args, code=2)
        done = self.sweep(*args, "--skip-invalid")
        self.assertIn("weft sweep: skipped: buffer=1KiB, load=10%: ", done.stderr)
        self.assertIn("must hold a frame of switch.mtu", done.stderr)
        self.assertIn("2 of 4 points, 2 skipped because they are not valid", done.stdout)
        self.assertEqual([row["switch.buffer_text"] for row in self.rows()], ["64KiB"] * 2)
        document = json.loads((self.out / "sweep.json").read_text())
        self.assertEqual(document["missing"], [])
        self.assertEqual([point["point"] for point in document["skipped"]],
                         ["0_buffer=1KiB_load=10%", "1_buffer=1KiB_load=20%"])
        self.sweep(*args, "--skip-invalid")
        self.assertEqual(len(self.calls()), 2)
        self.assertIn("none of 1 points is valid", self.sweep(
            "--vary", "switch.buffer=1KiB", "--skip-invalid", code=2).stderr)

    def test_skip_invalid_holds_for_points_that_the_fabric_refuses(self):
        self.write("refuse", "traffic.0.load=20%")
        self.sweep(*LOADS, code=1)
        done = self.sweep(*LOADS, "--skip-invalid")
        self.assertIn("load=20%: skipped: exit code 2: weft-fabric: that does not go together",
                      done.stderr)
        self.assertIn("3 of 4 points, 1 skipped", done.stdout)
        self.assertNotIn("1_load=20%.log", self.files())
        self.write("refuse", "")
        self.write("fail", "traffic.0.load=20%")
        self.sweep(*LOADS, "--skip-invalid", code=1)

    def test_skip_invalid_is_an_error_if_the_fabric_refuses_all_points(self):
        self.write("refuse", "traffic.0.load=20%")
        one = ("--vary", "traffic.0.load=20%")
        done = self.sweep(*one, "--skip-invalid", code=2)
        self.assertIn("weft sweep: --skip-invalid: none of 1 points is valid", done.stderr)
        done = self.sweep(*one, "--set", "clock=virtual", "--skip-invalid", "--dry-run", code=2)
        self.assertIn("none of the sampled points is valid", done.stdout)

    def test_dry_run_counts_points_and_estimates_from_short_runs(self):
        done = self.sweep(*LOADS, "--seeds", "1:3", "--set", "clock=virtual", "--dry-run",
                          "--jobs", "2")
        time = r"([\d.]+) (?:ms|s|min|h)"
        self.assertRegex(done.stdout, rf"^12 points, about {time} to {time} of CPU time, about {time} to {time} with 2 at a time "
                         r"\(from short runs of 6 points; the longest if the machine's load stays [\d.]+\)$")
        self.assertFalse(self.out.exists())
        self.assertTrue(all("measure.duration=" in call for call in self.calls()))
        self.write("fail", "traffic.0.load=10%")
        self.assertIn("load=10%, seed=1: no complete result: weft-fabric: out of memory", self.sweep(
            *LOADS, "--seeds", "1:3", "--set", "clock=virtual", "--dry-run", code=3).stderr)

    def estimated(self, start, run):
        """CPU seconds that a dry run finds for two points of 1 ms."""
        self.write("start", str(start))
        self.write("run", str(run))
        done = self.sweep("--seeds", "1:2", "--set", "clock=virtual", "--set", "measure.duration=1ms", "--set", "measure.sample=1ms",
                          "--set", "measure.warmup=0s", "--dry-run")
        found = re.match(r"2 points, about ([\d.]+) (ms|s|min|h) to ", done.stdout)
        return float(found[1]) * {"ms": 1e-3, "s": 1, "min": 60, "h": 3600}[found[2]]

    def test_what_a_run_needs_before_it_begins_is_not_taken_to_grow_with_it(self):
        self.assertLess(self.estimated(0.15, 0), 10)

    def test_a_run_that_grows_with_its_time_is_estimated(self):
        seconds = self.estimated(0, 20)
        self.assertGreater(seconds, 20)
        self.assertLess(seconds, 80)

    def test_dry_run_on_the_real_clock_runs_nothing(self):
        done = self.sweep(*LOADS, "--set", "measure.duration=59s", "--dry-run")
        self.assertEqual(done.stdout, "4 points, about 4.00 min, 1 at a time on the real clock\n")
        self.assertEqual(self.calls(), [])

    def test_modules_that_the_tables_need_are_missed_before_the_first_run(self):
        python = self.dir / "python"
        python.write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")
        python.chmod(0o755)
        self.env["WEFT_PYTHON"] = str(python)
        self.assertEqual(self.sweep(*LOADS, "--seeds", "1:2", code=3).stderr, "weft sweep: missing Python modules: "
                         "scipy; to install: apt install python3-scipy\n")
        self.assertEqual(self.calls(), [])
        self.sweep(*LOADS)

    def test_one_number_for_seeds_is_said_to_be_one_seed(self):
        hint = "weft sweep: --seeds: one seed, the number 4; a range is 1:4\n"
        self.assertIn(hint, self.sweep("--seeds", "4").stderr)
        self.assertEqual(self.calls(), ["seed=4"])
        self.assertNotIn("--seeds", self.sweep("--seeds", "4:5", out=self.dir / "two").stderr)

    def test_bad_requests_are_refused_before_anything_runs(self):
        for args, text in (
                (("--vary", "traffic.0.load=10%:x"), "expected LO:HI:STEP"),
                (("--vary", "traffic.0.lod=10%"), "unknown key"),
                (("--vary", "traffic.7.load=10%"), "the list has no such element"),
                (("--vary", "traffic.0.load=10%,200%"), "load: 200%"),
                (("--vary", "switch.buffer=64KiB,1KiB"), "must hold a frame of switch.mtu"),
                (("--vary", "seed=1:3:1"), "expected --seeds LO:HI"),
                (("--seeds", "3:1"), "--seeds 3:1"),
                (("--jobs", "0", *LOADS), "--jobs 0"),
                ((), "--vary, --cases or --seeds is missing"),
                (("--dry-run", "--json", *LOADS), "--dry-run cannot be combined with --restart or --json"),
                (("more.yaml", *LOADS), "expected one run file; found a second: 'more.yaml'")):
            with self.subTest(args=args):
                done = self.sweep(*args, code=2)
                self.assertIn(text, done.stderr)
        self.assertEqual(self.calls(), [])
        self.assertFalse(self.out.exists())
        done = subprocess.run([WEFT, "sweep", str(self.run_file), *LOADS], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "weft sweep: -o DIR is missing\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
