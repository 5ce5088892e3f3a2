#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""'weft reproduce' with a fabric that saturates where its algorithm says: what is searched, kept,
compared and refused.

usage: weft_reproduce_test.py WEFT [TEST]...
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
RUN = """
weft: run/1
topology: "irregular:switches=8,degree=4,hosts=4,ports=8,seed=1"
clock: virtual
traffic: [{pattern: uniform, from: all, load: 5%, message: 512B}]
"""
EXPERIMENT = """
weft: reproduce/1
paper: A paper
place: table 1
title: what it says
time: 1 min
measure: saturation-throughput
run: run.yaml
published: rows.csv
load: 20%
warmup: 1000
messages: 1000
networks:
  - {name: small, n: 2, set: ["topology=irregular:switches=8,degree=4,hosts=4,ports=8,seed={n}"]}
algorithms:
  - {name: UD, set: [routing.algorithm=ud]}
  - {name: DFS, set: [routing.algorithm=dfs]}
quick: {n: 1, warmup: 10, messages: 10, tolerance: 40%}
"""
ROWS = """quantity,case,network,algorithm,over,min,max,mean
factor,,small,DFS,UD,1.4,1.6,1.5
value,,small,UD,,,,0.2
"""
# In awk, which starts a dozen times as fast as Python: a measurement runs it for each of its points.
FABRIC = r"""#!/bin/sh
exec awk '
function real(value) { return value == "" ? "null" : sprintf("%.17g", value) }
function first(file,    line) { return (getline line < (folder file)) >= 0 ? line "" : absent }
BEGIN {
    folder = ENVIRON["FAKE"] "/"; absent = "\034"
    for (i = 1; i < ARGC; i++) {
        words = words " " ARGV[i]
        if (ARGV[i - 1] == "--json") output = ARGV[i]
        if (ARGV[i - 1] == "--set") {
            at = index(ARGV[i], "="); key = substr(ARGV[i], 1, at - 1); sets[key] = substr(ARGV[i], at + 1)
            value = sets[key]; gsub(/["\\]/, "\\\\&", value)
            call = call (call == "" ? "" : ", ") "\"" key "\": \"" value "\""
        }
    }
    print "{" call "}" >> (folder "calls")
    fail = first("fail")
    if (fail != absent && index(words, fail)) { print "weft-fabric: it is broken" > "/dev/stderr"; exit 1 }
    load = ("traffic.0.load" in sets ? sets["traffic.0.load"] : "100%") / 100
    ud = sets["routing.algorithm"] == "ud"
    split(ud ? "0.9 0.1 0.1 0.1" : "0.9 0.1 0.5 0.9", course, " ")
    capacity = ud ? 0.2 : 0.3
    if ((long = first("lengths")) != absent) { # capacity of ud, share that short runs lose, least length of a long run
        split(long, part, " ")
        if (ud) capacity = part[1]
        kept = (sets["measure.duration"] - sets["measure.warmup"]) * load < part[3] ? 1 - part[2] : 1
    } else kept = 1
    accepted = load < capacity ? load : capacity
    accepted *= kept
    stick = first("stick"); stuck = stick != absent && load > stick + 0
    printf "{\"weft\": \"result/1\", \"throughput\": {\"offered\": %s, \"released\": %s, \"flits_per_ns_per_switch\": %s}, ",
        real(load), real(accepted), real(accepted) > output
    printf "\"latency_ns\": {\"network_released\": {\"mean\": %s}, \"total_released\": {\"mean\": 200}}, ",
        real(100 / (1.01 - load)) > output
    printf "\"messages\": {\"dropped\": 0}, \"checks\": {\"deadlock\": %s}, \"incomplete\": %s, ", (stuck ? "true" : "false"),
        (stuck ? "true" : "false") > output
    printf "\"links\": [{\"from\": \"h0:0\", \"to\": \"s0:0\", \"utilisation\": 1}, " > output
    printf "{\"from\": \"s0:1\", \"to\": \"s1:1\", \"utilisation\": 0.2, \"blocked\": 0.1}, " > output
    printf "{\"from\": \"s1:1\", \"to\": \"s0:1\", \"utilisation\": 0.4, \"blocked\": 0.3}], " > output
    printf "\"counters\": {\"goal_unfinished\": 0, \"goal_completion_ns\": 3000000}, \"series\": [" > output
    for (i = 1; i <= 4; i++)
        printf "%s{\"t_ns\": %d, \"released\": %s, \"released_latency_ns\": %d}", (i > 1 ? ", " : ""), i * 1000000, course[i],
            100 * i > output
    print "]}" > output
    exit stuck
}' "$@"
"""
HOT_SPOT = """cases:
  - {name: hot, set: [measure.duration=4ms, measure.sample=1ms, traffic.1.pattern=hotspot, traffic.1.from=10%,
      "traffic.1.to=[h4]", traffic.1.start=1ms, traffic.0.from=rest, traffic.0.load=100%]}
"""
CLAIMS = """quantity,case,network,algorithm,over,min,max,mean
minimum,hot,small,UD,,,,0.1
back,hot,small,DFS,,,2,
end,hot,small,UD,,,0.2,
end,hot,small,DFS,UD,1,,
"""


def span(call):
    """What is measured of a run, in ns at full load: proportional to its messages."""
    return float(call["traffic.0.load"].rstrip("%")) / 100 * (
        float(call["measure.duration"].rstrip("ns")) - float(call["measure.warmup"].rstrip("ns")))


class Reproduce(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-reproduce-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.write("run.yaml", RUN)
        self.write("e.yaml", EXPERIMENT)
        self.write("rows.csv", ROWS)
        (self.dir / "programs").mkdir()
        fabric = self.dir / "programs" / "weft-fabric"
        fabric.write_text(FABRIC)
        fabric.chmod(0o755)
        self.env = {**os.environ, "FAKE": str(self.dir), "WEFT_PROGRAMS": str(fabric.parent)}

    def write(self, name, text):
        (self.dir / name).write_text(text)

    def calls(self):
        path = self.dir / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def weft(self, *args, code=0):
        done = subprocess.run([WEFT, "reproduce", *args], capture_output=True, text=True, timeout=240,
                              check=False, env=self.env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def run_it(self, *args, code=0):
        return self.weft(str(self.dir / "e.yaml"), "--cache", str(self.dir / "cache"), "-o",
                         str(self.dir), *args, code=code)

    def test_the_factor_is_found_and_stands_beside_the_published_one(self):
        document = json.loads(self.run_it("--json").stdout)
        factor, value = document["rows"]
        self.assertEqual(factor["published"], {"min": 1.4, "max": 1.6, "mean": 1.5})
        self.assertAlmostEqual(factor["ours"]["mean"], 1.5, delta=0.04)
        self.assertEqual(factor["ours"]["instances"], 2)
        self.assertIsNotNone(factor["ours"]["half_width"])
        self.assertAlmostEqual(value["ours"]["mean"], 0.2, delta=0.005)
        self.assertTrue(document["good"])
        text = self.run_it().stdout
        self.assertRegex(text, r"DFS / UD +\| 1\.50 \(1\.40\.\.1\.60\) +\| 1\.\d\d .* ± \d\.\d\d +\| \d\.\d\d +\| near")

    def test_a_missed_factor_is_a_bad_answer(self):
        self.write("rows.csv", ROWS.replace("1.4,1.6,1.5", ",,2.5"))
        self.assertIn("apart", self.run_it(code=1).stdout)

    def test_the_published_order_is_held_against_ours(self):
        self.write("rows.csv", ROWS + "factor,,small,UD,DFS,,,0.67\n")
        self.run_it()
        self.write("e.yaml", EXPERIMENT + "tolerance: 90%\n")
        self.write("rows.csv", "quantity,case,network,algorithm,over,min,max,mean\n"
                   "factor,,small,UD,UD,,,1.2\nfactor,,small,DFS,UD,,,1.1\n")
        self.assertIn("UD / UD is published above DFS / UD, here below", self.run_it(code=1).stdout)

    def test_another_build_of_the_fabric_does_not_answer_with_the_results_of_the_last_one(self):
        self.run_it()
        known = len(self.calls())
        fabric = self.dir / "programs" / "weft-fabric"
        fabric.write_text(FABRIC + "# rebuilt\n")
        self.run_it()
        self.assertEqual(len(self.calls()), 2 * known)
        fabric.write_text(FABRIC)
        self.run_it()
        self.assertEqual(len(self.calls()), 2 * known)

    def test_a_search_of_long_runs_is_led_by_short_ones(self):
        self.write("e.yaml", EXPERIMENT.replace("messages: 1000\n", "messages: 200000\n", 1))
        factor = json.loads(self.run_it("--json").stdout)["rows"][0]
        self.assertAlmostEqual(factor["ours"]["mean"], 1.5, delta=0.04)
        spans = list(map(span, self.calls()))
        long = [span for span in spans if span > max(spans) / 2]
        self.assertEqual(len(long), 8, "the last step below and the first above, in each of four trials")
        self.assertGreater(len(spans), 3 * len(long) / 2)

    def test_long_runs_decide_by_their_own_messages(self):
        """0.4 % less than offered is saturation in a run of 200,000 messages, and not in one of 20,000."""
        step = 0.001 * 1.025 ** 214
        self.write("e.yaml", EXPERIMENT.replace("messages: 1000\n", "messages: 200000\n", 1))
        self.run_it("--json")
        longest = max(map(span, self.calls()))
        for capacity, lost in ((0.996 * step, 0), (1, 0.004)):
            known = len(self.calls())
            (self.dir / "lengths").write_text(f"{capacity} {lost} {longest / 2}")
            rows = json.loads(self.run_it("--json", "--again", code=capacity == 1).stdout)["rows"]
            expected = step / 1.025 if capacity < 1 else 0.001 * 1.025 ** 279
            self.assertAlmostEqual(rows[1]["ours"]["mean"], expected, delta=0.002 * expected)
            long = [call for call in self.calls()[known:] if span(call) > longest / 2]
            self.assertLessEqual(len(long), 10, "short runs lead near")

    def test_what_is_known_is_not_run_again_unless_asked(self):
        self.run_it()
        first = len(self.calls())
        self.assertGreater(first, 8)
        self.run_it()
        self.assertEqual(len(self.calls()), first)
        self.write("e.yaml", EXPERIMENT.replace("A paper", "Another that shares its points"))
        self.run_it()
        self.assertEqual(len(self.calls()), first)
        self.run_it("--again")
        self.assertEqual(len(self.calls()), 2 * first)

    def test_an_edited_topology_file_is_another_network(self):
        text = subprocess.run([WEFT, "topo", "gen", "ring", "--switches", "4", "--hosts", "2"],
                              capture_output=True, text=True, check=True).stdout
        self.write("net.yaml", text)
        network = 'irregular:switches=8,degree=4,hosts=4,ports=8,seed='
        self.write("run.yaml", RUN.replace(network + "1", "net.yaml"))
        self.write("e.yaml", EXPERIMENT.replace(f'n: 2, set: ["topology={network}{{n}}"]', "n: 1"))
        self.run_it()
        known = len(self.calls())
        self.run_it()
        self.assertEqual(len(self.calls()), known)
        self.write("net.yaml", text + "# and this\n")
        self.run_it()
        self.assertEqual(len(self.calls()), 2 * known)
        self.write("net.yaml", text)
        self.run_it()
        self.assertEqual(len(self.calls()), 2 * known)

    def write_completion(self, traffic, more=""):
        self.write("run.yaml", RUN.replace("uniform, from: all, load: 5%, message: 512B", traffic))
        self.write_measure("completion", "quantity,case,network,algorithm,over,min,max,mean\n"
                           "value,,small,UD,,,3.5,\n", more)

    def test_edited_schedules_ranks_and_permutations_are_others(self):
        goal = subprocess.run([WEFT, "goal", "gen", "transpose", "--ranks", "4", "--bytes", "64"],
                              capture_output=True, text=True, check=True).stdout
        ranks = "0 h0\n1 h1\n2 h2\n3 h3\n"
        self.write("x.goal", goal)
        self.write("x.ranks", ranks)
        self.write_completion("goal, file: x.goal, ranks: x.ranks")
        self.run_it()
        self.assertEqual(len(self.calls()), 2)
        self.run_it()
        self.assertEqual(len(self.calls()), 2)
        self.write("x.ranks", ranks.replace("h3", "h4"))
        self.run_it()
        self.assertEqual(len(self.calls()), 4)
        self.write("x.goal", goal + "// and this\n")
        self.run_it()
        self.assertEqual(len(self.calls()), 6)
        self.write("x.perm", "h0 h1\n")
        self.write("run.yaml", RUN.replace("uniform, from: all", "permutation, file: x.perm"))
        self.run_it()
        self.assertEqual(len(self.calls()), 8)
        self.write("x.perm", "h0 h2\n")
        self.run_it()
        self.assertEqual(len(self.calls()), 10)

    def test_a_file_that_is_gone_is_named(self):
        self.write("x.perm", "h0 h1\n")
        self.write_completion("permutation, file: x.perm, load: 5%")
        self.run_it()
        (self.dir / "x.perm").unlink()
        self.assertIn("x.perm: No such file", self.run_it(code=1).stdout)

    def test_a_schedule_of_another_generator_is_not_taken(self):
        self.write_completion("goal, file: x",
                              "schedule: {kind: transpose, ranks: 9, rounds: 2, bytes: 4KiB}\n")
        self.run_it()
        schedule = pathlib.Path(self.calls()[0]["traffic.0.file"])
        text = schedule.read_text()
        schedule.write_text("num_ranks 9\n")
        (schedule.parent / "transpose-9x2-4096b-0ns.goal").write_text("num_ranks 9\n")
        self.run_it()
        self.assertEqual(len(self.calls()), 2)
        self.assertEqual(schedule.read_text(), text)
        self.assertEqual({call["traffic.0.file"] for call in self.calls()}, {str(schedule)})
        self.assertFalse(list(schedule.parent.glob("*.part")))

    def test_points_have_the_messages_that_they_are_asked_for(self):
        self.run_it()
        for call in self.calls():
            load = float(call["traffic.0.load"].rstrip("%")) / 100
            warmup, duration = (float(call["measure." + key].removesuffix("ns"))
                                for key in ("warmup", "duration"))
            per_ns = 32 * load * 1.25 / 512  # 32 hosts, 10 Gbps
            self.assertAlmostEqual(warmup * per_ns, 1000, delta=1)
            self.assertAlmostEqual((duration - warmup) * per_ns, 1000, delta=1)

    def test_instances_differ_in_their_number(self):
        self.run_it()
        self.assertEqual({call["topology"][-6:] for call in self.calls()}, {"seed=1", "seed=2"})
        (self.dir / "calls").unlink()
        self.run_it("--quick")
        self.assertEqual({call["topology"][-6:] for call in self.calls()}, {"seed=1"})

    def test_a_latency_is_one_point_at_its_load(self):
        self.write("e.yaml", EXPERIMENT.replace("saturation-throughput", "latency").replace("20%", "1%"))
        self.write("rows.csv", ROWS.replace("factor", "percent").replace("1.4,1.6,1.5", ",,0"))
        document = json.loads(self.run_it("--json").stdout)
        self.assertEqual({call["traffic.0.load"] for call in self.calls()}, {"1.0000%"})
        self.assertEqual(len(self.calls()), 4)
        self.assertAlmostEqual(document["rows"][1]["ours"]["mean"], 100)

    def write_measure(self, measure, rows, more=""):
        self.write("e.yaml", EXPERIMENT.replace("saturation-throughput", measure).replace("n: 2", "n: 1") + more)
        self.write("rows.csv", rows)

    def test_a_course_is_listed_judged_and_drawn(self):
        self.write_measure("efficiency", CLAIMS, HOT_SPOT)
        text = self.run_it().stdout
        self.assertRegex(text, r"UD, small, hot +\| 0\.\d+ +\| 0\.900 +\| 0\.100 +\| - +\| - +\| 0\.100 +\| never")
        self.assertRegex(text, r"DFS / UD +\| at least 1\.00 +\| 9\.00 +\| 9\.00 +\| holds")
        self.assertTrue((self.dir / "e-small-hot.png").exists())
        self.assertEqual({call["traffic.0.load"] for call in self.calls()}, {"100%"})
        self.write("rows.csv", CLAIMS.replace(",,0.2,", ",,0.05,"))
        document = json.loads(self.run_it("--json", code=1).stdout)
        self.assertEqual([row["within"] for row in document["rows"]], [True, True, False, True])
        course = {trial["algorithm"]: trial["course"] for trial in document["trials"]}
        self.assertEqual((course["UD"]["back_ms"], course["DFS"]["back_ms"]), (None, 2))
        self.assertEqual(len(course["UD"]["samples"]), 4)

    def test_every_load_of_a_throughput_is_run_for_all_entries(self):
        self.write_measure("throughput", "quantity,case,network,algorithm,over,min,max,mean\n"
                           "factor,hot,small,DFS,UD,,,1.5\n", HOT_SPOT + "loads: 4\n")
        text = self.run_it().stdout
        self.assertRegex(text, r"DFS, small, hot \| 0\.250 \| 0\.300 \| 0\.300 \| 0\.300")
        self.assertEqual({(call["traffic.0.load"], call["traffic.1.load"]) for call in self.calls()},
                         {(f"{load}.0000%",) * 2 for load in (25, 50, 75, 100)})

    def test_a_schedule_is_made_and_its_time_compared(self):
        self.write("run.yaml", RUN.replace("uniform, from: all, load: 5%, message: 512B", "goal, file: x"))
        self.write_measure("completion", "quantity,case,network,algorithm,over,min,max,mean\n"
                           "value,,small,UD,,,3.5,\n",
                           "schedule: {kind: transpose, ranks: 9, rounds: 2, bytes: 4KiB}\n")
        self.assertRegex(self.run_it().stdout, r"UD, small +\| 3\.000")
        schedule = pathlib.Path(self.calls()[0]["traffic.0.file"])
        self.assertEqual(schedule.parent, self.dir / "cache")
        self.assertIn("num_ranks 9", schedule.read_text())

    def test_only_what_is_named_is_run(self):
        self.run_it("--only", "UD,small")
        self.assertEqual({call["routing.algorithm"] for call in self.calls()}, {"ud"})
        self.assertIn("not one of its networks", self.run_it("--only", "UX", code=2).stderr)

    def test_curves_become_pictures(self):
        self.write("e.yaml", EXPERIMENT + "curves: true\n")
        self.assertIn("e-small.png", self.run_it().stdout)
        self.assertEqual((self.dir / "e-small.png").read_bytes()[1:4], b"PNG")
        self.assertGreater(len({call["traffic.0.load"] for call in self.calls()}), 16)

    def test_the_use_of_links_becomes_a_picture(self):
        self.write("e.yaml", EXPERIMENT.replace("measure: saturation-throughput", "measure: links"))
        self.write("rows.csv", "quantity,case,network,algorithm,over,min,max,mean\nmax,,small,UD,,,,\n")
        done = self.run_it()
        self.assertIn("e-small.png", done.stdout)
        self.assertEqual((self.dir / "e-small.png").read_bytes()[1:4], b"PNG")

    def test_the_blocked_time_of_links_is_compared_and_drawn(self):
        self.write_measure("blocked", "quantity,case,network,algorithm,over,min,max,mean\n"
                           "max,,small,UD,,25,,\nabove-10,,small,UD,,,,\n")
        done = self.run_it()
        self.assertRegex(done.stdout, r"maximum blocked time .*\n.*\n.*UD +\| at least 25\.00 +\| 30\.00 +\| 1\.20 +\| holds")
        self.assertEqual((self.dir / "e-small.png").read_bytes()[1:4], b"PNG")

    def test_a_bound_of_ours_is_not_in_the_column_of_the_published(self):
        self.write("rows.csv", ROWS + "value,,small,UD,,0.1,,,near 0.2\n")
        text = self.run_it().stdout
        self.assertRegex(text, r"published +\| our reading +\| ours")
        self.assertRegex(text, r"UD +\| 'near 0\.2' +\| at least 0\.10 +\| 0\.\d+")
        row = json.loads(self.run_it("--json").stdout)["rows"][2]
        self.assertEqual(row["published"], {"min": None, "max": None, "mean": None, "words": "near 0.2"})
        self.assertEqual(row["reading"], {"min": 0.1, "max": None, "mean": None})

    def test_waiting_messages_and_times_of_schedules_become_bars_of_all_cases(self):
        cases = "cases:\n  - {name: low, load: 5%}\n  - {name: high, load: 50%}\n"
        self.write("e.yaml", EXPERIMENT.replace("measure: saturation-throughput", "measure: waiting") + cases)
        self.write("rows.csv", "quantity,case,network,algorithm,over,min,max,mean\n"
                   "value,low,small,UD,,,,\nvalue,high,small,DFS,,,,\n")
        self.assertIn("e-small.png", self.run_it().stdout)
        self.assertEqual((self.dir / "e-small.png").read_bytes()[1:4], b"PNG")

    def test_a_folder_for_pictures_is_made_and_one_that_cannot_be_is_said_before_anything_runs(self):
        self.write("e.yaml", EXPERIMENT + "curves: true\n")
        done = self.run_it("-o", str(self.dir / "none" / "there"), code=2)
        self.assertRegex(done.stderr, "^weft reproduce: -o .*none/there: No such file")
        self.assertEqual(self.calls(), [])
        self.run_it("-o", str(self.dir / "figures"))
        self.assertTrue((self.dir / "figures" / "e-small.png").exists())

    def test_a_point_that_fails_is_said_and_is_no_answer(self):
        self.write("fail", "")
        done = self.run_it(code=1)
        self.assertIn("it is broken", done.stderr)
        self.assertIn("not measured", done.stdout)
        (self.dir / "fail").unlink()
        self.run_it()

    def test_a_deadlock_that_ends_runs_sends_the_search_to_lower_loads(self):
        self.write("stick", "0.1")
        self.write("rows.csv", ROWS.replace("1.4,1.6,1.5", ",,1"))
        document = json.loads(self.run_it("--json").stdout)
        self.assertAlmostEqual(document["rows"][1]["ours"]["mean"], 0.1, delta=0.0025)
        self.assertEqual({trial["fault"] for trial in document["trials"]}, {""})
        stuck = [point for trial in document["trials"] for point in trial["points"]
                 if point["deadlock"]]
        self.assertEqual({point["accepted"] for point in stuck}, {0})
        known = len(self.calls())
        self.assertIn("UD, small 1: deadlock", self.run_it().stdout)
        self.assertEqual(len(self.calls()), known)

    def test_nothing_is_accepted_at_a_load_of_which_a_deadlock_ended_the_run(self):
        self.write_measure("throughput", "quantity,case,network,algorithm,over,min,max,mean\n"
                           "value,hot,small,DFS,,,0,\n", HOT_SPOT + "loads: 4\n")
        self.write("stick", "0.6")
        self.assertRegex(self.run_it().stdout, r"DFS, small, hot \| 0\.250 \| 0\.300 \| 0\.000 \| 0\.000")

    def test_a_latency_of_nothing_is_none(self):
        self.write("e.yaml", EXPERIMENT.replace("saturation-throughput", "latency"))
        fabric = self.dir / "programs" / "weft-fabric"
        fabric.write_text(FABRIC.replace("100 / (1.01 - load)", "0"))
        document = json.loads(self.run_it("--json", code=1).stdout)
        self.assertEqual([row["ours"]["instances"] for row in document["rows"]], [0, 0])

    def test_a_run_that_measured_nothing_is_no_fault(self):
        self.write("e.yaml", EXPERIMENT.replace("saturation-throughput", "latency"))
        fabric = self.dir / "programs" / "weft-fabric"
        fabric.write_text(FABRIC.replace("100 / (1.01 - load)", "none").replace(
            "real(accepted), real(accepted)", "real(none), real(none)"))
        document = json.loads(self.run_it("--json", code=1).stdout)
        self.assertEqual({trial["fault"] for trial in document["trials"]}, {""})
        self.assertEqual({point["flits_per_ns_per_switch"] for trial in document["trials"]
                          for point in trial["points"]}, {0})

    def test_a_latency_up_to_a_deadlock_is_none(self):
        self.write("e.yaml", EXPERIMENT.replace("saturation-throughput", "latency"))
        self.write("stick", "0.1")
        self.assertIn("not measured", self.run_it(code=1).stdout)

    def test_a_factor_over_fewer_networks_than_wanted_is_not_met(self):
        self.write("fail", "seed=2")
        text = self.run_it(code=1).stdout
        self.assertRegex(text, r"DFS / UD .* 1\.00 +\| 1 of 2 measured")
        self.assertIn("2 of 4 measurements failed", text)
        document = json.loads(self.run_it("--json", code=1).stdout)
        self.assertFalse(document["good"])
        self.assertEqual((document["missed"], document["failed"]), (2, 2))
        factor = document["rows"][0]
        self.assertEqual((factor["ours"]["instances"], factor["ours"]["wanted"], factor["within"]),
                         (1, 2, False))

    def test_a_curve_that_fails_is_not_good_though_no_row_wants_it(self):
        self.write_measure("throughput", "quantity,case,network,algorithm,over,min,max,mean\n"
                           "value,hot,small,UD,,,,0.2\n", HOT_SPOT + "loads: 4\n")
        self.write("fail", "routing.algorithm=dfs")
        document = json.loads(self.run_it("--json", code=1).stdout)
        self.assertEqual((document["good"], document["missed"], document["failed"]), (False, 0, 1))
        text = self.run_it(code=1).stdout
        self.assertIn("1 of 2 measurements failed", text)
        self.assertIn("DFS, small, hot: no complete result: weft-fabric: it is broken", text)
        (self.dir / "fail").unlink()
        self.run_it()

    def test_bad_requests_are_refused(self):
        for args, text in ((("nothing",), "no experiment 'nothing'"), ((), "--list or a NAME"),
                           (("table-6", "--list"), "not both"), (("table-6", "--jobs", "0"), "--jobs 0"),
                           (("a", "b"), "one NAME")):
            self.assertIn(text, self.weft(*(args or ("--quick",)), code=2).stderr)
        self.assertNotIn("both", self.weft("--quick", code=2).stderr)
        self.write("e.yaml", EXPERIMENT.replace("routing.algorithm=dfs", "routing.algorithm=dfz"))
        self.assertIn("dfz", self.run_it(code=2).stderr)

    def test_the_list_names_paper_place_and_time(self):
        rows = {row["name"]: row for row in json.loads(self.weft("--list", "--json").stdout)}
        self.assertEqual((rows["table-6"]["paper"], rows["table-6"]["place"]),
                         ("Flich 2001", "table 6"))
        self.assertTrue(all(row["time"] or row["missing"] for row in rows.values()))
        text = self.weft("--list").stdout
        self.assertTrue(all(name in text for name in rows))
        self.assertNotIn("run-wormhole", text)

    def test_the_list_makes_no_folder(self):
        home = self.dir / "home"
        home.mkdir()
        self.env = {**{key: value for key, value in self.env.items() if key != "XDG_CACHE_HOME"}, "HOME": str(home)}
        self.weft("--list")
        self.assertEqual(list(home.iterdir()), [])

    def places(self, paper):
        """The numbers of its listed figures and tables; 'figures 62 to 66' are five."""
        found = set()
        for row in json.loads(self.weft("--list", "--json").stdout):
            match = re.fullmatch(r"(figure|table)s? ([0-9, to]+)( \([a-z]\))?", row["place"])
            if row["paper"] != paper or match is None:
                continue
            for part in match[2].split(", "):
                ends = [int(number) for number in part.split(" to ")]
                found |= {f"{match[1]} {number}" for number in range(ends[0], ends[-1] + 1)}
        return found

    def test_every_result_of_the_papers_is_listed(self):
        for paper, figures, tables in (("Flich 2001", range(62, 98), range(2, 24)),
                                       ("Rocher-Gonzalez 2019", (5, 6, 7), ()),
                                       ("Rocher-Gonzalez 2021", (6, 7, 8), ()),
                                       ("Lugones 2007", (1, 8, 9, 10), ()),
                                       ("Nunez 2010", (4, 5), ())):
            wanted = {f"figure {n}" for n in figures} | {f"table {n}" for n in tables}
            self.assertEqual(self.places(paper), wanted)

    def test_a_result_that_cannot_be_run_is_listed_with_the_reason(self):
        self.write("e.yaml", "weft: reproduce/1\npaper: A\nplace: B\ntitle: C\nmissing: no trace of it\n")
        done = self.run_it(code=3)
        self.assertIn("e cannot be run: no trace of it", done.stderr)
        self.write("e.yaml", "weft: reproduce/1\npaper: A\nplace: B\nmissing: no trace of it\n")
        self.assertIn("'title' is missing", self.run_it(code=2).stderr)
        reasons = {row["name"]: row["missing"] for row in json.loads(self.weft("--list", "--json").stdout)}
        self.assertIn("not public", reasons["arn-figure-8b"])
        self.assertIsNone(reasons["table-6"])

    def test_instances_are_as_many_as_asked_for(self):
        document = json.loads(self.run_it("--instances", "5", "--json").stdout)
        self.assertEqual(document["rows"][0]["ours"]["instances"], 5)
        self.assertEqual({call["topology"][-6:] for call in self.calls()},
                         {f"seed={n}" for n in range(1, 6)})
        self.assertIn("1000 measured; 5 instances of each network.\n", self.run_it("--instances", "5").stdout)
        self.assertIn("--instances 101: expected a whole number from 1 to 100", self.run_it("--instances", "101", code=2).stderr)
        self.write("e.yaml", EXPERIMENT.replace("seed={n}", "seed=1"))
        self.assertIn("expected a definition with {n}", self.run_it("--instances", "5", code=2).stderr)

    def test_the_messages_of_a_run_are_those_of_the_command_line_and_the_output_says_so(self):
        args = ("--warmup", "500", "--messages", "2000")
        text = self.run_it(*args).stdout
        call = self.calls()[0]
        per_ns = 32 * float(call["traffic.0.load"].rstrip("%")) / 100 * 1.25 / 512  # 32 hosts, 10 Gbps
        warmup, duration = (float(call["measure." + key].removesuffix("ns")) for key in ("warmup", "duration"))
        self.assertAlmostEqual(warmup * per_ns, 500, delta=1)
        self.assertAlmostEqual((duration - warmup) * per_ns, 2000, delta=1)
        line = "Each run: 500 messages discarded, 2000 measured (the full run: 1000, 1000)."
        self.assertIn(line, text)
        self.assertIn(line, self.run_it(*args, "--markdown").stdout)
        self.assertEqual(json.loads(self.run_it(*args, "--json").stdout)["length"],
                         {"warmup": 500, "messages": 2000, "defined_warmup": 1000, "defined_messages": 1000})
        self.assertIn("Each run: 1000 messages discarded, 1000 measured.\n", self.run_it().stdout)
        self.assertIn("10 measured (the full run: 1000, 1000)", self.run_it("--quick").stdout)
        self.assertIn("7 measured (the full run: 1000, 1000)", self.run_it("--quick", "--messages", "7").stdout)

    def test_a_network_with_a_greater_mean_latency_than_the_limit_is_saturated(self):
        # The latency is 100 ns / (1.01 - load): 117 ns at 0.155, and ud accepts 0.2.
        self.write("e.yaml", EXPERIMENT + "latency-limit: 117ns\n")
        document = json.loads(self.run_it("--json", code=1).stdout)
        self.assertEqual(document["latency_limit_ns"], 117)
        for trial in document["trials"]:
            self.assertAlmostEqual(trial["value"], 0.155, delta=0.004)
        line = "1000 measured; saturated above a mean latency of 0.117 us.\n"
        self.assertIn(line, self.run_it(code=1).stdout)

    def test_the_limit_of_the_latency_is_that_of_the_command_line_and_the_output_says_so(self):
        self.write("e.yaml", EXPERIMENT + "latency-limit: 117ns\n")
        document = json.loads(self.run_it("--latency-limit", "0s", "--json").stdout)
        self.assertIsNone(document["latency_limit_ns"])
        self.assertAlmostEqual(document["rows"][1]["ours"]["mean"], 0.2, delta=0.004)
        self.assertIn("; not saturated by any latency (the definition: 0.117 us).\n",
                      self.run_it("--latency-limit", "0s").stdout)
        self.assertIn("--latency-limit 5: expected a time with its unit",
                      self.run_it("--latency-limit", "5", code=2).stderr)
        self.write_measure("latency", ROWS)
        self.assertIn("expected a definition that measures saturation-throughput, found the measure 'latency'",
                      self.run_it("--latency-limit", "1us", code=2).stderr)

    def test_a_run_without_warmup_is_one(self):
        self.run_it("--warmup", "0")
        self.assertEqual({call["measure.warmup"] for call in self.calls()}, {"0ns"})

    def test_messages_that_are_no_number_of_them_are_refused(self):
        for option, value, least in (("warmup", "-1", 0), ("warmup", "1k", 0), ("messages", "0", 1),
                                     ("messages", "100000001", 1)):
            self.assertIn(f"--{option} {value}: expected a whole number from {least} to 100000000",
                          self.run_it(f"--{option}", value, code=2).stderr)
        self.assertEqual(self.calls(), [])

    def test_messages_of_runs_that_do_not_count_them_are_refused(self):
        self.write_measure("efficiency", CLAIMS, HOT_SPOT)
        for option in ("--warmup", "--messages"):
            self.assertRegex(self.run_it(option, "5", code=2).stderr,
                             f"e.yaml: {option}: expected a definition whose runs count messages, found .*'efficiency'")
        self.assertEqual(self.calls(), [])
        self.assertIsNone(json.loads(self.run_it("--json").stdout)["length"])

    def write_networks(self, names, rows):
        first = EXPERIMENT.index("  - {name: small")
        networks = "".join(f'  - {{name: {name}, n: 2, set: ["topology=irregular:switches=8,degree=4,hosts=4,'
                           f'ports=8,seed={{n*{factor}}}"]}}\n' for name, factor in zip(names, (1, 3, 5, 7, 11, 13)))
        self.write("e.yaml", EXPERIMENT[:first] + networks + EXPERIMENT[EXPERIMENT.index("algorithms:"):])
        self.write("rows.csv", "quantity,case,network,algorithm,over,min,max,mean,words\n" + rows)

    def test_networks_are_the_columns_of_a_table_in_markdown(self):
        self.write_networks(("small", "large"), "factor,,small,DFS,UD,1.4,1.6,1.5\nfactor,,large,DFS,UD,,,3\n"
                            "factor,,small,UD,DFS,,,0.67\nfactor,,large,UD,DFS,,,\n")
        text = self.run_it("--markdown", code=1).stdout
        self.assertIn("| factor of productivity | small | large |\n|---|---|---|\n", text)
        self.assertRegex(text, r"\n\| DFS / UD \| 1\.50 \(1\.40\.\.1\.60\) → 1\.5\d ± \d\.\d\d \(1\.\d\d\) "
                               r"\| 3\.00 → 1\.5\d ± \d\.\d\d \(\*\*0\.\d\d\*\*\) \|\n")
        self.assertRegex(text, r"\n\| UD / DFS \| 0\.67 → 0\.6\d ± \d\.\d\d \(\d\.\d\d\) \| – → 0\.6\d ± \d\.\d\d \|\n")
        self.assertIn("\n2 of 3 published means within 10 %; 1 of 4 rows not measured", text)
        document = json.loads(self.run_it("--json", code=1).stdout)
        self.assertEqual((document["means"], document["near"], document["claims"], document["held"]), (3, 2, 0, 0))

    def test_a_bound_of_ours_is_not_said_to_be_published(self):
        self.write("rows.csv", "quantity,case,network,algorithm,over,min,max,mean,words\nvalue,,small,UD,,0.1,,,-\n")
        text = self.run_it("--markdown").stdout
        self.assertIn("| published | our reading | ours |", text)
        self.assertRegex(text, r"\| small \| UD \| - \| at least 0\.1\d* \| 0\.\d.* holds \|")
        row = json.loads(self.run_it("--json").stdout)["rows"][0]
        self.assertEqual(row["published"], {"min": None, "max": None, "mean": None, "words": None})
        self.assertEqual(row["reading"], {"min": 0.1, "max": None, "mean": None})

    def test_a_bound_and_words_stand_in_a_plain_table(self):
        self.write_networks(("small", "large", "huge"), "factor,,small,DFS,UD,,,1.5\nfactor,,large,DFS,UD,,,1.5\n"
                            "factor,,small,UD,DFS,,,0.67\nfactor,,huge,UD,DFS,,1,\nfactor,,large,UD,DFS,,,1,alike\n"
                            "value,,large,UD,,,,\n")
        text = self.run_it("--markdown", code=1).stdout
        self.assertRegex(text, r"\| UD / DFS \| 0\.67 → 0\.6\d [^|]* \| \|\n")
        self.assertRegex(text, r"\| huge \| UD / DFS \| at most 1\.00 \| \| 0\.\d.* holds \|")
        self.assertRegex(text, r"\| large \| UD / DFS \| 'alike' \| 1\.00 \| 0\.\d.* apart \|")
        self.assertRegex(text, r"\| large \| UD \| - \| \| 0\.\d")
        self.assertIn("3 of 3 published means within 10 %; 1 of 2 bounds and readings hold; ", text)

    def test_one_network_needs_no_columns(self):
        text = self.run_it("--markdown").stdout
        self.assertNotIn("→", text)
        self.assertRegex(text, r"\| small \| DFS / UD \| 1\.50 \(1\.40\.\.1\.60\) \| 1\.5\d")

    def test_many_networks_share_the_columns_that_their_last_words_name(self):
        names = [f"{kind} {size}" for kind in ("hot", "cold spot", "local") for size in (16, 32)]
        self.write_networks(names, "".join(f"factor,,{name},DFS,UD,,,1.5\n" for name in names[:-1]))
        text = self.run_it("--markdown").stdout
        self.assertIn("| factor of productivity | 16 | 32 |\n", text)
        self.assertEqual(re.findall(r"\n\| (DFS / UD, [\w ]+) \| 1.50 → [^|]* \|( 1.50 →)?", text),
                         [("DFS / UD, hot", " 1.50 →"), ("DFS / UD, cold spot", " 1.50 →"), ("DFS / UD, local", "")])

    def test_a_cell_without_all_instances_says_how_many_there_are(self):
        self.write_networks(("small", "large"), "factor,,small,DFS,UD,,,1.5\nfactor,,large,DFS,UD,,,1.5\n")
        self.write("fail", "seed=2")
        self.assertRegex(self.run_it("--markdown", code=1).stdout,
                         r"\| DFS / UD \| 1\.50 → 1\.5\d \(\*\*1\.\d\d\*\*\) \*\*1 of 2 measured\*\* \| 1\.50 → 1\.5\d ± ")
        self.write("fail", "")
        self.assertIn("| DFS / UD | 1.50 → **not measured** | 1.50 → **not measured** |",
                      self.run_it("--markdown", "--again", code=1).stdout)

    def test_an_order_that_is_not_the_published_one_is_named_in_markdown(self):
        self.write("e.yaml", EXPERIMENT + "tolerance: 90%\n")
        self.write("rows.csv", "quantity,case,network,algorithm,over,min,max,mean\n"
                   "factor,,small,UD,UD,,,1.2\nfactor,,small,DFS,UD,,,1.1\n")
        self.assertRegex(self.run_it("--markdown", code=1).stdout,
                         r"\nOrder: UD / UD is published above DFS / UD, here below \(small: 1\.00, 1\.\d\d\)\.\n")

    def test_the_mean_latency_of_a_run_settles(self):
        self.write_measure("settling", "quantity,case,network,algorithm,over,min,max,mean\n"
                           "after-0,,small,UD,,,60,\nafter-1000,,small,UD,,,0,\n")
        self.write("e.yaml", (self.dir / "e.yaml").read_text().replace("messages: 1000\n", "messages: 200000\n", 1)
                   .replace("warmup: 1000\n", "").replace("warmup: 10,", "warmup: 0,"))
        rows = json.loads(self.run_it("--json").stdout)["rows"]
        # 900 messages of 100 ns and then 100 each of 200, 300 and 400 ns: 150 in all.
        self.assertAlmostEqual(rows[0]["ours"]["mean"], 100 / 3)
        self.assertEqual((rows[0]["thousandths"], rows[1]["ours"]["mean"]), (0, 0))
        spans = {float(call["measure.duration"][:-2]) / float(call["measure.sample"][:-2]) for call in self.calls()}
        self.assertEqual({round(span / 100) for span in spans}, {20})

    def test_a_document_says_which_command_of_which_version_wrote_it_and_where(self):
        document = json.loads(self.run_it("--json").stdout)
        version = subprocess.run([WEFT, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        self.assertEqual((document["wall"]["version"], document["wall"]["host"]), (version, os.uname().nodename))
        self.assertEqual(document["wall"]["command"][1], "reproduce")
        self.assertIn("--json", document["wall"]["command"])

    def test_the_page_has_the_itbs_that_its_command_prints(self):
        page = (pathlib.Path(__file__).parents[2] / "docs/explanation/papers/itb.md").read_text()
        itbs, compute = re.search(r"drawing per pair of hosts gives (\d\.\d+) ITBs per message\. "
                                  r"To verify this, run `weft (route compute [^`]*) -o r`", " ".join(page.split())).groups()
        routes = str(self.dir / "r")
        for command in ([*compute.split(), "-o", routes], ["route", "verify", compute.split()[2], routes]):
            done = subprocess.run([WEFT, *command], capture_output=True, text=True, check=True)
        printed = float(re.search(r"^ITBs, mean +(\S+)", done.stdout, re.M)[1])
        self.assertEqual(f"{printed:.3f}", itbs)

    def test_a_mean_that_settles_has_no_warm_up(self):
        self.write_measure("settling", "quantity,case,network,algorithm,over,min,max,mean\n"
                           "after-0,,small,UD,,,60,\n")
        whole = (self.dir / "e.yaml").read_text()
        expected = "expected 0, because the measure 'settling' begins with the first message"
        self.assertIn(expected, self.run_it(code=2).stderr)
        self.write("e.yaml", whole.replace("warmup: 1000\n", ""))
        self.assertIn(expected, self.run_it(code=2).stderr)
        self.write("e.yaml", whole.replace("warmup: 1000\n", "").replace("warmup: 10,", ""))
        self.run_it()
        self.assertEqual({call["measure.warmup"] for call in self.calls()}, {"0ns"})
        self.assertRegex(self.run_it("--warmup", "5", code=2).stderr,
                         r"--warmup: expected 0, because the measure 'settling' begins with the first message; found 5")

    def test_a_bound_has_the_decimals_of_its_paper(self):
        self.write("rows.csv", "quantity,case,network,algorithm,over,min,max,mean\n"
                   "value,,small,UD,,0.0471,,\nvalue,,small,DFS,,,0.9,\n")
        text = self.run_it("--markdown").stdout
        self.assertIn("| UD | at least 0.0471 |", text)
        self.assertIn("| DFS | at most 0.90 |", text)

    def test_the_interval_of_replicas_is_a_share_of_their_mean(self):
        self.write("e.yaml", EXPERIMENT.replace("saturation-throughput", "latency").replace("20%", "1%"))
        fabric = self.dir / "programs" / "weft-fabric"
        fabric.write_text(FABRIC.replace("100 / (1.01 - load)", '100 + substr(sets["topology"], length(sets["topology"]))'))
        self.write("rows.csv", "quantity,case,network,algorithm,over,min,max,mean\n"
                   "interval,,small,UD,,,20,\ntraffic-interval,,small,UD,,,0.01,\n")
        rows = json.loads(self.run_it("--json").stdout)["rows"]
        # The half-width of 101 and 102 ns is 12.706 * 0.5.
        self.assertAlmostEqual(rows[0]["ours"]["mean"], 100 * 12.706 / 101.5, delta=0.01)
        self.assertAlmostEqual(rows[1]["ours"]["mean"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
