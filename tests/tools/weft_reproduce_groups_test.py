#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Groups of 'weft reproduce', files beside a definition, and what pictures show, with a fabric that only writes down what
it is asked for.

usage: weft_reproduce_groups_test.py WEFT [TEST]...
"""
import contextlib
import io
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
SOURCES = pathlib.Path(__file__).resolve().parents[2] / "topo" / "reproduce"
RUN = """
weft: run/1
topology: "torus:dims=3x2,hosts=1"
clock: virtual
link: {rate: 2Gbps}
traffic: [{pattern: uniform, from: all, load: 50%, message: 512B}]
"""
ONE = """
weft: reproduce/1
paper: A paper
place: figure 1
title: what it says
time: 1 min
measure: MEASURE
run: run.yaml
published: rows.csv
networks:
  - {name: torus, n: 2, set: ["seed={n}"]}
algorithms:
  - {name: none, set: [nic.selector=first]}
  - {name: other, set: [nic.selector=random]}
"""
GROUP = """
weft: reproduce/1
paper: A paper
place: figures 1, 2
title: all of them
time: 2 min
members: [one, two]
"""
ROWS = """quantity,case,network,algorithm,over,min,max,mean
percent,,torus,other,none,,0,
"""
# 'other' has half of the waiting time, use and latency; seed 2 a tenth more than seed 1.
FABRIC = """#!/usr/bin/python3 -ISE
import json, os, sys
words = sys.argv[1:]
sets = dict(words[i + 1].split("=", 1) for i, word in enumerate(words) if word == "--set")
with open(os.environ["FAKE"] + "/calls", "a", encoding="utf-8") as calls:
    calls.write(json.dumps(sets) + "\\n")
load = float(sets.get("traffic.0.load", "50%").rstrip("%")) / 100
if os.path.exists(os.environ["FAKE"] + "/fail") and open(os.environ["FAKE"] + "/fail").read() in words:
    if "seed=1" in words:
        sys.exit("weft-fabric: out of memory")
stuck = os.path.exists(os.environ["FAKE"] + "/stick") and load > 0.9 and sets.get("seed") == "1"
part = (0.5 if sets.get("nic.selector") == "random" else 1) * (1.1 if sets.get("seed") == "2" else 1)
names = ["s%d" % i for i in range(6)]
open(words[words.index("--json") + 1], "w", encoding="utf-8").write(json.dumps({
    "weft": "result/1",
    "throughput": {"offered": load, "released": load * part / 1.1, "flits_per_ns_per_switch": load},
    "latency_ns": {"network_released": {"mean": 1000 * part}, "total_released": {"mean": 2000 * part}},
    "messages": {"dropped": 0}, "checks": {"deadlock": stuck}, "incomplete": stuck, "counters": {},
    "links": [{"from": "h0:0", "to": "s0:0", "utilisation": 1}] + [
        {"from": name + ":0", "to": "s0:1", "utilisation": 0.1 * i * part} for i, name in enumerate(names)],
    "switches": [{"switch": name, "waiting_ns": 1000 * i * part} for i, name in enumerate(names)],
    "series": [{"t_ns": (i + 1) * 1e6, "released": 0.1, "released_latency_ns": 1000 * (i + 1) * part} for i in range(3)]}))
"""
sys.path.insert(0, str(SOURCES.parents[1] / "tools/python"))
from weft import command  # pylint: disable=wrong-import-position
from weft.reproducing import definition, pictures  # pylint: disable=wrong-import-position


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-groups-"))
        self.addCleanup(shutil.rmtree, self.dir)
        (self.dir / "programs").mkdir()
        self.write("run.yaml", RUN)
        self.write("rows.csv", ROWS)
        self.write("programs/weft-fabric", FABRIC)
        (self.dir / "programs/weft-fabric").chmod(0o755)
        self.env = {**os.environ, "FAKE": str(self.dir), "WEFT_PROGRAMS": str(self.dir / "programs"), "WEFT": WEFT}

    def write(self, name, text):
        (self.dir / name).write_text(text)

    def calls(self):
        path = self.dir / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def weft(self, name, *args, code=0, cwd=None):
        done = subprocess.run([WEFT, "reproduce", str(self.dir / name), "--cache", str(self.dir / "cache"),
                               "-o", str(self.dir / "pictures"), *args], capture_output=True, text=True, timeout=240,
                              check=False, env=self.env, cwd=cwd)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done


class Groups(Case):
    def setUp(self):
        super().setUp()
        # Names of members are those of --list or paths.
        self.members = [str(self.dir / "one.yaml"), str(self.dir / "two.yaml")]
        self.write("g.yaml", GROUP.replace("one, two", ", ".join(self.members)))
        self.write("one.yaml", ONE.replace("MEASURE", "accepted"))
        self.write("two.yaml", ONE.replace("MEASURE", "total-latency"))

    def test_every_member_is_run_under_its_name(self):
        text = self.weft("g.yaml").stdout
        self.assertEqual(re.findall(r"^\n== (.*)$", text, re.M), self.members)

    def test_only_names_members(self):
        text = self.weft("g.yaml", "--only", self.members[1]).stdout
        self.assertEqual(re.findall(r"^== (.*)$", text, re.M), self.members[1:])

    def test_the_file_of_a_paper_runs_all_of_its_definitions(self):
        self.write("rows.csv", "definition," + ROWS.replace("percent,", "one,percent,"))
        bodies = {name: re.sub(r"^(weft|paper|published): .*\n", "", ONE.replace("MEASURE", measure), flags=re.M)
                  for name, measure in (("one", "accepted"), ("two", "total-latency"))}
        indented = "".join(f"  {name}:\n" + re.sub(r"^(?=.)", "    ", body, flags=re.M) for name, body in bodies.items())
        self.write("p.yaml", f"weft: paper/1\npaper: A paper\npublished: rows.csv\ndefinitions:\n{indented}")
        document = json.loads(self.weft("p.yaml", "--json").stdout)
        self.assertEqual([(member["name"], len(member["rows"])) for member in document["members"]], [("one", 1), ("two", 0)])
        text = self.weft("p.yaml", "--only", "two").stdout
        self.assertEqual(re.findall(r"^== (.*)$", text, re.M), ["two"])
        self.assertIn("expected members of the group, such as one", self.weft("p.yaml", "--only", "six", code=2).stderr)

    def test_a_word_that_is_no_member_is_refused_before_any_is_run(self):
        for words in ("three", f"{self.members[0]},three"):
            done = self.weft("g.yaml", "--json", "--only", words, code=2)
            self.assertIn("expected members of the group", done.stderr)
            self.assertEqual((done.stdout, self.calls()), ("", []))

    def test_a_group_in_a_group_is_refused_by_its_name_before_any_is_run(self):
        self.write("two.yaml", GROUP.replace("one, two", self.members[0]))
        self.assertIn(f"expected experiments as members; '{self.members[1]}' is a group",
                      self.weft("g.yaml", code=2).stderr)
        self.assertEqual(self.calls(), [])

    def test_one_document_has_those_of_all_members(self):
        document = json.loads(self.weft("g.yaml", "--json").stdout)
        self.assertEqual((document["weft"], document["name"]), ("reproduction-group/1", "g"))
        self.assertEqual([member["name"] for member in document["members"]], ["one", "two"])

    def test_members_are_sections_in_markdown(self):
        text = self.weft("g.yaml", "--markdown").stdout
        self.assertEqual(re.findall(r"^### (.*)$", text, re.M), self.members)

    def test_a_miss_of_the_first_member_is_the_answer_of_the_group(self):
        self.write("high.csv", ROWS.replace(",,0,", ",10,,"))
        self.write("one.yaml", ONE.replace("MEASURE", "accepted").replace("rows.csv", "high.csv"))
        self.weft("g.yaml", code=1)

    def test_a_member_that_is_not_there_is_named_and_the_others_are_run(self):
        (self.dir / "one.yaml").unlink()
        done = self.weft("g.yaml", code=2)
        self.assertIn("one.yaml", done.stderr)
        self.assertIn("total-latency", done.stdout)

    def test_instances_are_for_the_members_that_have_any(self):
        self.write("one.yaml", ONE.replace("MEASURE", "accepted").replace('n: 2, set: ["seed={n}"]', "set: [seed=1]"))
        self.weft("g.yaml", "--instances", "3", "--json")
        self.assertEqual(sorted({call["seed"] for call in self.calls()}), ["1", "2", "3"])

    def test_the_groups_of_weft_name_definitions_that_are_there(self):
        known = {one.name: one for path in SOURCES.glob("*.yaml") if not path.name.startswith("run-")
                 for one in definition.load(str(path))}
        members = {member for one in known.values() for member in one.members}
        self.assertGreater(len(members), 10)
        self.assertLessEqual(members, set(known))


class Means(Case):
    def test_a_table_of_means_has_a_line_for_each_curve(self):
        self.write("one.yaml", ONE.replace("MEASURE", "accepted") + "means: true\n")
        text = self.weft("one.yaml", "--markdown").stdout
        # 0.5 / 1.1 and 0.5
        self.assertIn("| none, torus | 0.477 ± 0.289 |\n| other, torus | 0.239 ± 0.144 |\n", text)

    def test_a_mean_says_of_how_many_it_is_if_an_instance_failed(self):
        self.write("fail", "nic.selector=random")
        self.write("one.yaml", ONE.replace("MEASURE", "accepted") + "means: true\n")
        text = self.weft("one.yaml", "--markdown", code=1).stdout
        self.assertIn("| none, torus | 0.477 ± 0.289 |\n| other, torus | 0.250 (1 of 2) |\n", text)

    def test_without_bounds_nothing_is_said_to_be_near_them(self):
        self.write("rows.csv", ROWS.replace(",,0,", ",,,"))
        self.write("one.yaml", ONE.replace("MEASURE", "accepted"))
        text = self.weft("one.yaml").stdout
        self.assertIn("no bounds; 0 of 1 rows not measured; 0 of 0 orders not as published; 0 of 4 measurements failed.\n", text)
        self.assertNotIn("away from", text)

    def test_without_it_each_instance_has_one(self):
        self.write("one.yaml", ONE.replace("MEASURE", "accepted"))
        self.assertIn("| other, torus 2 | 0.250 |", self.weft("one.yaml", "--markdown").stdout)


class Trials(Case):
    def test_those_that_run_at_one_time_with_the_same_settings_share_a_run(self):
        for again, runs in ((), 4), (("--again",), 8):
            self.write("calls", "")
            self.write("one.yaml", ONE.replace("MEASURE", "accepted")
                       + "cases: [{name: a, set: []}, {name: b, set: []}]\n")
            text = self.weft("one.yaml", "--jobs", "8", "--markdown", *again).stdout
            self.assertEqual(len(self.calls()), runs)
            for case in "ab":
                self.assertIn(f"| none, torus 2, {case} | 0.500 |\n", text)


class Here(Case):
    def test_here_is_the_folder_of_the_definition_from_every_folder(self):
        self.write("one.yaml", ONE.replace("MEASURE", "accepted").replace(
            '"seed={n}"', '"seed={n}", "traffic.0.file={here}/p{n}.pairs"'))
        self.write("run.yaml", RUN.replace("uniform, from: all", "permutation, file: p1.pairs"))
        for n in "12":
            self.write(f"p{n}.pairs", "h0 h1\n")
        self.weft("one.yaml", cwd="/")
        self.assertEqual({call["traffic.0.file"] for call in self.calls()},
                         {f"{self.dir}/p1.pairs", f"{self.dir}/p2.pairs"})


class Pictures(Case):
    def call(self, name, code=0):
        """The command in this process: its error output."""
        said = io.StringIO()
        words = [str(self.dir / name), "--cache", str(self.dir / "cache"), "-o", str(self.dir / "pictures")]
        with mock.patch.dict(os.environ, self.env), contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(said):
            self.assertEqual(command.run("reproduce", words), code, said.getvalue())
        return said.getvalue()

    def draw(self, measure, more="", code=0):
        """The curves by the names of their pictures."""
        figures = {}

        def note(what, trials, asker, _):
            figures.update(pictures.Figures(what, trials, asker))
            return ()

        self.write("one.yaml", ONE.replace("MEASURE", measure) + more)
        with mock.patch.object(pictures, "draw", note):
            self.call("one.yaml", code)
        return figures

    @staticmethod
    def data(figure):
        """The points of each curve: x, y and y2, each with its half width, and whether it is hollow."""
        numbers = [[[*point.x, *point.y, *point.y2, point.hollow] for point in curve.points] for curve in figure.curves]
        return [[[None if math.isnan(number) else number for number in point] for point in curve] for curve in numbers]

    @staticmethod
    def labels(figure):
        return [curve.label for curve in figure.curves]

    def test_a_throughput_is_the_mean_over_the_seeds_with_its_interval(self):
        (name, figure), = self.draw("throughput", "loads: 2\n").items()
        self.assertEqual((name, figure.kind, figure.bits_per_us), ("one-torus", "throughput-load", 0))
        (first, _), _ = self.data(figure)
        # 0.5 / 1.1 and 0.5: the half-width is 12.706 times half of their distance.
        self.assertAlmostEqual(first[2], 0.5 * 1.05 / 1.1, places=7)
        self.assertAlmostEqual(first[3], 12.7062 * 0.5 * 0.05 / 1.1, places=6)

    def test_loads_are_in_bits_per_microsecond_if_the_definition_says_so(self):
        figure = self.draw("throughput", "loads: 2\naxis: bits/us\n")["one-torus"]
        self.assertEqual([figure.bits_per_us * point[0] for point in self.data(figure)[0]], [1000, 2000])

    def test_a_latency_has_a_picture_beside_the_throughput(self):
        figures = self.draw("throughput", "loads: 2\nlatency: true\n")
        self.assertEqual(list(figures), ["one-torus", "one-torus-latency"])
        none, other = self.data(figures["one-torus-latency"])
        self.assertAlmostEqual(none[0][2], 2100)  # ns
        self.assertAlmostEqual(other[0][2], 1050)

    def test_an_instance_that_failed_at_some_load_is_in_no_point_and_the_label_says_so(self):
        self.write("fail", "traffic.0.load=100.0000%")
        for name, figure in self.draw("throughput", "loads: 2\nlatency: true\n", code=1).items():
            none, other = self.data(figure)
            self.assertEqual([len(none), len(other)], [2, 2], name)
            self.assertIn("none (1 of 2)", self.labels(figure))
            self.assertAlmostEqual(none[0][2], 0.5 if name == "one-torus" else 2200)

    def test_a_load_at_which_a_run_ended_in_a_deadlock_has_no_mean_latency(self):
        self.write("stick", "")
        none, _ = self.data(self.draw("throughput", "loads: 2\nlatency: true\n", code=1)["one-torus-latency"])
        self.assertAlmostEqual(none[0][2], 2100)
        self.assertEqual(len([point for point in none if point[2] is not None]), 1)

    def test_bars_of_cases_say_of_how_many_instances_they_are(self):
        self.write("fail", "nic.selector=random")
        figure = self.draw("total-latency", "cases: [{name: a, set: []}, {name: b, set: []}]\n", code=1)["one-torus"]
        self.assertEqual((figure.groups, self.labels(figure)), (["a", "b"], ["none", "other (1 of 2)"]))

    def test_the_links_used_most_without_control_are_bars(self):
        figure = self.draw("worst-link")["one-torus-links"]
        self.assertEqual(figure.groups[:2], ["s5:0 to s0:1", "s4:0 to s0:1"])
        self.assertFalse([group for group in figure.groups if "h0:0" in group])
        none, other = self.data(figure)
        self.assertAlmostEqual(none[0][2], 52.5)
        self.assertAlmostEqual(other[0][2], 26.25)

    def test_a_map_has_each_switch_of_a_grid_at_its_place(self):
        figure = self.draw("worst-switch")["one-torus-map"]
        none, other = self.data(figure)
        self.assertEqual({(point[0], point[2]): round(point[4], 7) for point in none},
                         {(i % 3, i // 3): round(1.05 * i, 7) for i in range(6)})
        self.assertAlmostEqual(other[5][4], 2.625)

    def test_a_network_that_is_no_grid_has_no_map(self):
        self.write("run.yaml", RUN.replace("torus:dims=3x2,hosts=1", "rlft:ports=4,stages=2"))
        self.assertEqual(list(self.draw("worst-switch")), ["one-torus"])

    def test_a_latency_over_time_has_every_sample(self):
        none, _ = self.data(self.draw("latency-time")["one-torus"])
        self.assertEqual([point[0] for point in none], [1e6, 2e6, 3e6])  # ns
        self.assertAlmostEqual(none[2][2], 3150)

    def test_pictures_are_named_and_drawn(self):
        self.write("one.yaml", ONE.replace("MEASURE", "worst-switch"))
        names = re.findall(r"/pictures/(\S+)\.png$", self.weft("one.yaml").stdout, re.M)
        self.assertEqual(names, ["one-torus", "one-torus-map"])
        for name in names:
            self.assertEqual((self.dir / f"pictures/{name}.png").read_bytes()[1:4], b"PNG")

    def test_what_keeps_a_picture_from_being_drawn_is_said_with_its_exit_code(self):
        self.write("one.yaml", ONE.replace("MEASURE", "throughput") + "loads: 2\n")
        (self.dir / "pictures/one-torus.png").mkdir(parents=True)
        self.assertRegex(self.call("one.yaml", 2), r"\nweft reproduce: \S*one-torus.png: Is a directory\n")
        with mock.patch.dict(sys.modules, {"matplotlib": None}):
            self.assertIn("weft reproduce: missing Python modules: matplotlib; to install: apt install python3-matplotlib", self.call("one.yaml", 3))


if __name__ == "__main__":
    unittest.main(verbosity=2)
