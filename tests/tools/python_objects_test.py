#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs, sweeps and routes from Python, on the virtual clock.

usage: python_objects_test.py WEFT [TEST]...
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

os.environ["WEFT"] = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/python"))
import weft

try:
    import pandas
except ImportError:
    pandas = None
RUN = """
weft: run/1
topology: "rlft:ports=4,stages=2"
clock: virtual
measure: {warmup: 5us, duration: 100us, sample: 20us, links: true}
traffic:
  - {pattern: uniform, from: all, load: 5%, message: 1KiB}
"""


class Networks(unittest.TestCase):
    def test_verdicts_are_those_of_the_command(self):
        for algorithm, without in (("ud", ()), ("minhop", ()), ("ud-itb", ("s1", "s5:1"))):
            with self.subTest(algorithm=algorithm), tempfile.TemporaryDirectory(prefix="weft-objects-") as folder:
                routes = weft.route("torus:dims=4x4", algorithm, without=without, seed=3)
                routes.save(f"{folder}/routes")
                done = subprocess.run([os.environ["WEFT"], "route", "verify", "torus:dims=4x4", f"{folder}/routes", "--json",
                                       *(f"--without={name}" for name in without)], capture_output=True, timeout=240)
                verdict = routes.verify()
                self.assertEqual(verdict.json, json.loads(done.stdout))
                self.assertEqual(bool(verdict), done.returncode == 0)
                self.assertIn("<th>deadlock-free</th>", verdict._repr_html_())

    def test_wrong_requests_are_errors_with_the_commands_message(self):
        for request, why in ((lambda: weft.route("torus:dims=4x4", "uhu"), "^--algorithm 'uhu': expected minhop, "),
                             (lambda: weft.route("torus:dims=4x4", "ud", sed=1), "^unrecognized option '--sed'; nearest is '--seed'"),
                             (lambda: weft.topology("--json"), "^./--json: No such file")):
            with self.subTest(why=why), self.assertRaisesRegex(weft.Error, why) as caught:
                request()
            self.assertEqual(caught.exception.code, weft.Exit.BAD_REQUEST)


@unittest.skipIf(pandas is None, "python3-pandas is not installed")
class Objects(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-objects-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.run_file = self.dir / "run.yaml"
        self.run_file.write_text(RUN)

    def test_a_run_has_its_figures(self):
        low, high = (weft.run(self.run_file, {"traffic.0.load": load}) for load in ("10%", "60%"))
        self.assertLess(low.accepted, high.accepted)
        self.assertEqual(low.latency["p99"], low.json["latency_ns"]["total"]["p99"])
        for name, value in low.json["latency_ns"]["total"].items():
            self.assertEqual(getattr(low.latency, name), value)
        with self.assertRaisesRegex(AttributeError, "'p98': expected mean, "):
            low.latency.p98
        self.assertEqual(len(low.series), len(low.json["series"]))
        self.assertEqual(len(low.links), len(low.json["links"]))
        self.assertRegex(repr(low), r"^Result\(offered [\d.]+ %, accepted [\d.]+ %, mean latency [\d.]+ (ns|µs)\)$")
        self.assertIn("<th>accepted</th>", low._repr_html_())

    def test_a_refused_run_is_an_error_with_the_programs_message(self):
        with self.assertRaises(weft.Error) as caught:
            weft.run(self.run_file, {"traffic.0.lod": "10%"})
        self.assertIn("unknown key 'lod'", str(caught.exception))
        self.assertEqual(caught.exception.code, weft.Exit.BAD_REQUEST)

    def test_a_sweep_has_the_tables_of_the_command(self):
        vary = {"switch.voq": [True, False], "traffic[0].load": weft.span("10%", "30%", "10%")}
        own = weft.sweep(self.run_file, vary, seeds=range(1, 3), out=self.dir / "own")
        subprocess.run([os.environ["WEFT"], "sweep", str(self.run_file), "--vary", "switch.voq=true,false", "--vary",
                        "traffic[0].load=10%:30%:10%", "--seeds", "1:2", "-o", str(self.dir / "command")], check=True,
                       capture_output=True, timeout=240)
        for name in ("sweep.csv", "sweep-mean.csv", "sweep.json"):
            self.assertEqual((self.dir / "own" / name).read_bytes(), (self.dir / "command" / name).read_bytes())
        self.assertEqual([str(own.frame[name].dtype) for name in ("switch.voq", "traffic.0.load", "seed")],
                         ["bool", "float64", "int64"])
        self.assertEqual((len(own.frame), len(own.mean), own.missing), (12, 6, []))
        found = weft.read(self.dir / "command")
        self.assertTrue(found.frame.equals(own.frame))
        self.assertIn("12 points", repr(found))
        self.assertIn("accepted_ci95", found._repr_html_())

    def test_cases_have_the_same_tables_from_a_file(self):
        cases = {"plain": {"switch.voq": False}, "voq": {"switch.voq": True, "switch.vcs": 2}}
        path = self.dir / "cases.yaml"
        path.write_text("weft: cases/1\ncases:\n- {name: plain, set: {switch.voq: false}}\n"
                        "- {name: voq, set: {switch.voq: true, switch.vcs: 2}}\n")
        own = weft.sweep(self.run_file, {"traffic.0.load": ["10%", "20%"]}, cases=cases, out=self.dir / "own")
        read = weft.sweep(self.run_file, {"traffic.0.load": ["10%", "20%"]}, cases=path, out=self.dir / "read")
        self.assertEqual((self.dir / "own/sweep.csv").read_bytes(), (self.dir / "read/sweep.csv").read_bytes())
        self.assertEqual(list(own.frame["case"]), ["plain", "plain", "voq", "voq"])
        self.assertTrue(read.frame.equals(own.frame))

    def test_a_sweep_draws_the_figure_of_the_command(self):
        found = weft.sweep(self.run_file, {"switch.voq": [True, False], "traffic.0.load": ["10%", "20%", "30%"]},
                           out=self.dir / "out")
        found.save(self.dir / "own.svg", "throughput-load", where={"switch.voq": True}, size="3.4x2.5in")
        subprocess.run([os.environ["WEFT"], "plot", str(self.dir / "out"), "--kind", "throughput-load", "--where",
                        "switch.voq=true", "--size", "3.4x2.5in", "-o", str(self.dir / "command.svg")], check=True,
                       timeout=240)
        self.assertEqual((self.dir / "own.svg").read_bytes(), (self.dir / "command.svg").read_bytes())
        self.assertEqual(found.plot()._repr_png_()[:4], b"\x89PNG")
        with self.assertRaisesRegex(weft.Error, "--kind pie: expected one of latency-throughput"):
            found.plot("pie")

    def test_seeds_and_values_are_checked(self):
        for words, why in (({"seeds": [1, 3]}, "seeds: expected consecutive numbers"),
                           ({"seeds": 4}, "seeds: expected consecutive numbers, such as range(1, 6)"),
                           ({"vary": {"switch.vcs": []}}, "vary switch.vcs: expected at least one value"),
                           ({"cases": {"a": {"switch.vcs": 2}}}, "the case 'a' also sets this key"),
                           ({"cases": {}}, "cases: expected 1 to 1000 cases"),
                           ({"vary": None}, "is missing"),
                           ({"jobs": -1}, "jobs: -1: expected 0 to 256"),
                           ({"vary": None, "seeds": range(100001)}, "100001 points: expected at most 100000")):
            with self.subTest(words=words), self.assertRaises(weft.Error) as caught:
                weft.sweep(self.run_file, **{"vary": {"switch.vcs": [1]}, "out": self.dir / "out", **words})
            self.assertIn(why, str(caught.exception))
        self.assertFalse((self.dir / "out").exists())

    def test_modules_that_results_need_are_missed_before_the_runs(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            for call, names in ((lambda: weft.run(self.run_file), "pandas"), (lambda: weft.sweep(
                    self.run_file, {"switch.vcs": [1]}, out=self.dir / "out"), "pandas, scipy")):
                with self.assertRaisesRegex(weft.Error, f"missing Python modules: {names}; to install: apt install "):
                    call()
        self.assertFalse((self.dir / "out").exists())

    def test_what_is_no_result_is_refused(self):
        with self.assertRaisesRegex(weft.Error, "not a result of 'weft run'"):
            weft.read(self.run_file)
        with self.assertRaisesRegex(weft.Error, "sweep.json: No such file"):
            weft.read(self.dir)


if __name__ == "__main__":
    unittest.main(verbosity=2)
