#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs that measure nothing, of each engine: the cause is named, nothing is 0, and the exit code is 1.

usage: weft_run_nothing_test.py WEFT [TEST]...
"""
import csv
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
topology: "full:switches=2,hosts=2"
clock: virtual
traffic: [{pattern: uniform, from: all, load: 10%, message: 4KiB}]
measure: {warmup: 100us, duration: 600us, sample: 100us}
"""
WORMHOLE = ("topology=irregular:switches=8,rate=1280Mbps", "switch={switching: wormhole, flow-control: stop-go}",
            "routing={algorithm: ud}")
GOAL = "num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n"
# Settings, and the cause.
CAUSES = (
    (("traffic.0.message=16MiB",), r"the first message of traffic\[0\] is due after [\d.]+ m?s, but the run ends at "),
    (("traffic.0.load=0.0001%",), r"the first message of traffic\[0\] is due after [\d.]+ m?s, but the run ends at "),
    (("traffic.0.start=5s",), r"traffic\[0\] starts at 5 s, but the run ends at "),
    (("traffic.0.stop=1us",), r"(all \d+ messages of traffic\[0\] that arrived did so before the measurement started"
                              r"|the first message of traffic\[0\] is due after)"),
    (("traffic=[]",), r"there is no traffic$"),
    (("traffic.0={pattern: bit-reversal, from: [h0], load: 10%}",),
     r"no host sends with traffic\[0\]: pattern bit-reversal assigns no messages$"),
)


def table(path):
    return list(csv.DictReader(path.read_text().splitlines()))


class Nothing(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-nothing-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.file = self.dir / "run.yaml"
        self.file.write_text(RUN)

    def weft(self, *args, code):
        done = subprocess.run([WEFT, *args], capture_output=True, text=True, timeout=240, check=False)
        if done.returncode == 3:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, code, (args, done.stderr))
        return done

    def measure(self, sets, *args, code=1):
        """The result, and what was written to standard error."""
        sets = [word for one in sets for word in ("--set", one)]
        done = self.weft("run", str(self.file), "--json", str(self.dir / "r.json"), "--csv", str(self.dir / "r.csv"),
                         *sets, *args, code=code)
        return json.loads((self.dir / "r.json").read_text()), done

    def check(self, sets, cause, *args):
        result, done = self.measure(sets, *args)
        self.assertRegex(result["nothing_measured"], cause)
        self.assertIn(f"nothing was measured: {result['nothing_measured']}\n", done.stderr)
        self.assertRegex(done.stdout, r"accepted - of")
        self.assertEqual(result["measured_messages"], 0)
        for name, latency in result["latency_ns"].items():
            latency.pop("frames", None)  # that waited: 0
            self.assertEqual(set(latency.values()), {None}, name)
        for throughput in [result["throughput"], *(entry["throughput"] for entry in result["traffic"])]:
            self.assertEqual({throughput[key] for key in throughput if key not in ("offered", "edges")}, {None})
        self.assertNotRegex(done.stdout, r"(?m)^  traffic\[.*accepted [\d.]")
        for key in ("latency_ns", "released_latency_ns"):
            self.assertEqual({sample[key] for sample in result["series"]} - {None}, set(), key)
        rows = table(self.dir / "r.csv")
        self.assertEqual({row["latency_ns"] for row in rows} - {""}, set())
        self.assertEqual((result["saturated"], result["steady"]), (None, None))

    def test_each_cause_on_the_virtual_clock(self):
        for sets, cause in CAUSES + (
                (("link.delay=400us",), r"a message of traffic\[0\] takes at least 803\.3 us \(4096 bytes at 10Gbps, "
                                        r"two host links with a delay of 400us\), but the run ends at 600 us$"),):
            with self.subTest(sets):
                self.check(sets, cause)

    def test_each_cause_of_wormhole_switching(self):
        for sets, cause in CAUSES:
            with self.subTest(sets):
                self.check((*WORMHOLE, *sets), cause)

    def test_each_cause_on_the_real_clock(self):
        for sets, cause in CAUSES:
            with self.subTest(sets):
                self.check(("link.rate=100Mbps", "measure.duration=1ms", *sets), cause, "--clock", "real")

    def test_an_empty_schedule(self):
        (self.dir / "empty.goal").write_text(GOAL)
        self.check((f"traffic=[{{pattern: goal, file: {self.dir}/empty.goal}}]",), "is a schedule without messages$")

    def test_a_schedule_that_does_not_get_to_its_end(self):
        (self.dir / "late.goal").write_text(GOAL.replace("{\n}", "{\nl1: calc 9000000\nl2: send 8b to 1\nl2 requires l1\n}", 1))
        late = f"traffic=[{{pattern: goal, file: {self.dir}/late.goal}}]"
        self.check((late,), r"nothing of traffic\[0\] was sent before the end at 600 us$")
        beside = late.replace("late.goal}]", "late.goal}, {pattern: uniform, load: 0.0001%, from: [h2], to: [h3]}]")
        result, _ = self.measure((beside,))
        self.assertRegex(result["traffic"][1]["nothing_measured"], r"the first message of traffic\[1\] is due after")
        self.check((late, "traffic[0].start=1ms"), r"traffic\[0\] starts at 1 ms, but the run ends at 600 us$")

    def test_a_schedule_that_only_computes_has_a_time(self):
        (self.dir / "calc.goal").write_text(GOAL.replace("{\n}", "{\nl1: calc 100\n}", 1))
        result, _ = self.measure((f"traffic=[{{pattern: goal, file: {self.dir}/calc.goal}}]",), code=0)
        self.assertIsNone(result["nothing_measured"])

    def test_an_entry_without_a_message_beside_others_is_named(self):
        result, done = self.measure(("traffic.1={pattern: uniform, from: all, load: 5%, start: 9ms}",), code=0)
        self.assertIsNone(result["nothing_measured"])
        self.assertEqual([entry["nothing_measured"] for entry in result["traffic"]],
                         [None, "traffic[1] starts at 9 ms, but the run ends at 600 us"])
        self.assertIsNone(result["traffic"][1]["throughput"]["accepted"])
        self.assertRegex(done.stdout, r"(?m)^  nothing measured +traffic\[1\] starts at 9 ms")

    def test_fewer_than_100_messages_are_said(self):
        few, some = (self.measure((f"measure.duration={time}",), code=0) for time in ("600us", "3ms"))
        self.assertLess(few[0]["traffic"][0]["measured_messages"], 100)
        self.assertRegex(few[1].stdout, r"(?m)^  messages measured +traffic\[0\]: \d\d, fewer than 100")
        self.assertEqual(few[0]["steady_needs"]["reason"], "fewer than 100 messages were measured")
        self.assertGreater(few[0]["steady_needs"]["measured_ns"], 500000)
        self.assertGreater(some[0]["traffic"][0]["measured_messages"], 100)
        self.assertNotIn("fewer than 100", some[1].stdout)

    def test_a_point_of_a_sweep_is_empty_and_bad(self):
        done = self.weft("sweep", str(self.file), "--vary", "traffic.0.start=0s,9ms", "-o", str(self.dir / "out"), code=1)
        self.assertIn("nothing was measured: traffic[0] starts at 9 ms", done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^2 of 2 points, 1 with nothing measured$")
        good, bad = table(self.dir / "out/sweep.csv")
        self.assertNotEqual((good["accepted"], good["total_ns_mean"]), ("", ""))
        self.assertEqual((bad["accepted"], bad["total_ns_mean"], bad["network_ns_p99"], bad["steady"],
                          bad["flits_per_ns_per_switch"]), ("",) * 5)
        means = table(self.dir / "out/sweep-mean.csv")
        self.assertEqual(means[1]["accepted"], "")


if __name__ == "__main__":
    unittest.main()
