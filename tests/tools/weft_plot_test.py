#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""'weft plot' on sweeps and results: pictures of every kind and form, and what it refuses.

usage: weft_plot_test.py WEFT [TEST]...
"""
import contextlib
import io
import json
import math
import os
import pathlib
import random
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import matplotlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/python"))
from weft import command, plot
from weft.error import Error
from weft.plot.curves import make_curves
from weft.plot.runs import Request, load_runs
from weft.plot.waterfall import PARTS

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
KINDS = ("latency-throughput", "efficiency-time", "link-load", "blocked-time", "throughput-load",
         "latency-cdf", "completion", "slowdown")
FORMS = {".png": b"\x89PNG\r\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


def latency(mean):
    return {"mean": mean, "stddev": 1.0, "p50": 1, "p99": 2, "p999": 3, "max": 4}


def result(load, seed=1, clock="virtual", links=True):
    document = {
        "weft": "result/1", "config": {"clock": clock}, "seed": seed,
        "topology": {"name": "fake", "hosts": 8, "switches": 6},
        "throughput": {"offered": load, "accepted": load - seed / 1000,
                       "flits_per_ns_per_switch": load / 10 if clock == "virtual" else 0},
        "latency_ns": {"network": latency(900 / (1.2 - load)), "total": latency(1000 / (1.2 - load))},
        "series": [{"t_ns": 1000000 * (i + 1), "accepted": load - i / 100, "latency_ns": 900.0 + i}
                   for i in range(5)],
        "counters": {"goal_completion_ns": int(1e6 * load) + seed, "goal_unfinished": 0},
        "flows": {"by_size": [{"to_bytes": 10 ** power, "slowdown": {"p50": 1 + load, "p99": power + seed}}
                              for power in (3, 4, 6)] + [{"to_bytes": 10 ** 7, "slowdown": None}]},
        "checks": {"lost": 0, "duplicated": 0, "out_of_order": 0, "deadlock": False}, "wall": {"version": "9.8"}}
    for which, steps in document["latency_ns"].items():
        steps["histogram"] = [[100 * (i + 1), 10 * (i + len(which))] for i in range(40)]
    if links:
        document["links"] = [{"from": f"s{i}:0", "to": f"s{i + 1}:0", "utilisation": load / (i + 1),
                              "blocked": load / 10, "stalls": 4} for i in range(6)]
    return document


class Plot(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-plot-"))
        self.addCleanup(shutil.rmtree, self.dir)

    def sweep(self, name, loads, seeds=(1,), vcs=("1",), **options):
        """A folder as 'weft sweep' leaves it."""
        folder = self.dir / name
        folder.mkdir()
        points = []
        for vc in vcs:
            for load in loads:
                for seed in seeds:
                    file = f"{len(points)}.json"
                    (folder / file).write_text(json.dumps(result(load / 100, seed, **options)))
                    points.append({"file": file, "seed": seed, "vary": {
                        "switch.vcs": vc, "traffic.0.load": f"{load}%"}})
        (folder / "manifest.json").write_text(json.dumps({"weft": "sweep/1", "points": points}))
        return str(folder)

    def single(self, name, load, **options):
        path = self.dir / name
        path.write_text(json.dumps(result(load, **options)))
        return str(path)

    def plot(self, *args, code=0):
        """The command's messages; in this process, which has matplotlib already."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(command.run("plot", list(args)), code, said.getvalue())
        return said.getvalue()

    def weft(self, *args, code=0, env=None):
        """The same by the program."""
        done = subprocess.run([WEFT, "plot", *args], capture_output=True, text=True, timeout=240,
                              check=False, env=env)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        return done.stderr

    def script(self, *args):
        output = self.dir / "plot.py"
        self.plot(*args, "--script", str(output))
        return output.read_text()

    @staticmethod
    def series(script):
        """The numbers of a script by their names, x0, y0, y0_second and so on."""
        found = re.findall(r"^(\w+) = (\[[-+.\w, ]*\])$", script, re.M)
        return {name: [float(value) for value in values[1:-1].split(",")] for name, values in found}

    def draw(self, script, output):
        """What 'python3 SCRIPT OUTPUT' does."""
        with unittest.mock.patch("sys.argv", [str(script), str(output)]), matplotlib.rc_context():
            runpy.run_path(str(script))

    def test_the_program_draws(self):
        output = self.dir / "a.png"
        self.assertEqual(self.weft(self.single("r.json", 0.5), "--kind", KINDS[0], "-o", str(output)), "")
        self.assertTrue(output.read_bytes().startswith(FORMS[".png"]))
        self.assertIn("weft plot: --kind pie: expected", self.weft("r.json", "--kind", "pie", code=2))

    def test_a_figure_of_the_package_is_that_of_the_command_and_can_have_another_size(self):
        folder, other = self.sweep("a", (10, 50), vcs=("1", "2")), self.dir / "b.png"
        figure = plot.draw([folder], KINDS[0], where={"switch.vcs": "1"}, label={("traffic.0.load", "10%"): "low"}, title="t")
        options = (folder, "--kind", KINDS[0], "--where", "switch.vcs=1", "--label", "traffic.0.load=10%=low", "--title", "t")
        for size in (None, "3.4in"):
            self.plot(*options, *(("--size", size) if size else ()), "-o", str(self.dir / "a.png"))
            figure.save(str(other), size=size)
            self.assertEqual(other.read_bytes(), (self.dir / "a.png").read_bytes())
        self.assertEqual(figure.axes[0].get_title("left"), "t")
        self.assertEqual(type(plot.draw([folder], KINDS[1])), type(figure))
        self.assertTrue(figure._repr_png_().startswith(FORMS[".png"]))
        with self.assertRaisesRegex(Error, "b.gif: expected a file that ends in .png, .svg or .pdf"):
            figure.save(str(self.dir / "b.gif"))

    def test_a_full_disk_is_an_error(self):
        for form in [*FORMS, ".py"]:
            full = self.dir / f"full{form}"
            full.symlink_to("/dev/full")
            done = self.plot(self.single("one.json", 0.5), "--kind", "link-load", "--script" if form == ".py" else "-o",
                             str(full), code=3)
            self.assertEqual(done,
                             f"weft plot: {full}: cannot be written: No space left on device\n")

    def test_every_kind_comes_in_every_form_and_its_script_draws_the_same_bytes(self):
        folder = self.sweep("a", (10, 50, 90), seeds=(1, 2, 3), vcs=("1", "it's 2"))
        script = self.dir / "a.py"
        for i, kind in enumerate(KINDS):
            scripts = set()
            for j, (form, begin) in enumerate(FORMS.items()):
                output = self.dir / f"a{form}"
                self.assertEqual(self.plot(folder, "--kind", kind, "--size", "900x600", "-o", str(output),
                                           "--script", str(script)), "")
                drawn = output.read_bytes()
                self.assertTrue(drawn.startswith(begin), output)
                self.assertGreater(len(drawn), 4000)
                text, end = script.read_text().split("\nfile = ")
                scripts.add(text)
                self.assertEqual(len(end.splitlines()), 2)
                # The three scripts differ only in their last two lines, which are alike for all kinds.
                if i == 0 or j == i % len(FORMS):
                    output.unlink()
                    self.draw(script, output)
                    self.assertEqual(output.read_bytes(), drawn)
            self.assertEqual(len(scripts), 1)
        self.assertFalse(list(self.dir.glob("*.part")))
        self.plot(folder, "--kind", kind, "--script", str(script))
        self.assertIn("else 'a.pdf'", script.read_text())

    def test_a_figure_names_its_version_and_seeds_and_has_no_time(self):
        folder = self.sweep("a", (10, 50), seeds=(1, 2, 7))
        for form in FORMS:
            output = self.dir / f"a{form}"
            self.plot(folder, "--kind", KINDS[0], "-o", str(output))
            drawn = output.read_bytes()
            self.assertIn(b"seeds: 1, 2, 7; version: 9.8", drawn)
            self.assertIn(b"weft plot 9.8", drawn)
            self.assertNotIn(b"CreationDate", drawn)
            self.assertNotIn(b"<dc:date>", drawn)

    def test_a_run_that_delivered_nothing_has_no_latency_of_zero(self):
        folder = pathlib.Path(self.sweep("a", (10, 50, 90), seeds=(1, 2)))
        for file in ("0.json", "1.json", "2.json"):
            document = json.loads((folder / file).read_text())
            document["latency_ns"] = {"network": latency(None), "total": latency(None)}
            (folder / file).write_text(json.dumps(document))
        data = self.series(self.script(str(folder), "--kind", KINDS[0]))
        self.assertTrue(math.isnan(data["y0"][0]) and math.isnan(data["y0_second"][0]))
        # One of two seeds has one: it is the mean, without an interval.
        self.assertGreater(data["y0"][1], 0)
        self.assertEqual((data["y0_below"][1], data["y0_above"][1]), (0, 0))
        self.assertEqual(len(data["y0"]), 3)

    def test_an_interval_that_was_not_reached_makes_its_point_half_full(self):
        for reached in (True, False):
            document = result(0.5)
            document["until"] = {"of": "accepted", "asked": 0.01, "interval": 0.02, "reached": reached}
            path = self.dir / "until.json"
            path.write_text(json.dumps(document))
            self.assertEqual("half: too short to tell" in self.script("--kind", "latency-throughput", str(path)), not reached)

    def png_size(self, *args):
        output = self.dir / "a.png"
        self.plot(self.single("r.json", 0.5), "--kind", KINDS[0], *args, "-o", str(output))
        head = output.read_bytes()[16:24]
        return int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")

    def test_a_png_has_300_pixels_per_inch_unless_its_size_is_in_pixels(self):
        self.assertEqual(self.png_size(), (2250, 1500))
        self.assertEqual(self.png_size("--size", "3.4x2.5in"), (1020, 750))
        self.assertEqual(self.png_size("--size", "901x600"), (901, 600))

    def test_a_legend_as_long_as_can_be_has_room_beside_the_frame(self):
        # A curve for each VC and load in the distribution, one of both latencies in the other.
        for kind, vcs in ((KINDS[0], 28), ("latency-cdf", 14)):
            folder, output = self.sweep(kind, (10, 50), vcs=[str(i) for i in range(vcs)]), self.dir / f"{kind}.svg"
            self.assertEqual(self.plot(folder, "--kind", kind, "-o", str(output)), "")
            self.assertGreater(output.stat().st_size, 1000)

    def test_a_legend_without_room_is_an_error_and_leaves_no_picture(self):
        folder = self.sweep("a", (10, 50), vcs=[str(i) for i in range(28)])
        output = self.dir / "a.png"
        said = self.plot(folder, "--kind", KINDS[0], "--size", "900x400", "-o", str(output), code=2)
        self.assertIn("weft plot: the legend does not fit on the page; expected a larger --size", said)
        self.assertFalse(output.exists())

    def test_curves_are_called_by_what_differs(self):
        text = self.script(self.sweep("a", (10, 50), vcs=("1", "2")), "--kind", KINDS[0])
        self.assertIn("label='vcs 1, total'", text)
        self.assertIn("label='vcs 2, network'", text)
        text = self.script(self.sweep("b", (10, 50)), self.single("c.json", 0.5), "--kind", KINDS[0])
        self.assertIn("label='b, total'", text)
        self.assertIn("label='c, total'", text)

    def test_latencies_that_are_the_same_are_one_curve(self):
        folder = pathlib.Path(self.sweep("a", (10, 50)))
        for file in ("0.json", "1.json"):
            document = json.loads((folder / file).read_text())
            document["latency_ns"]["network"] = document["latency_ns"]["total"]
            (folder / file).write_text(json.dumps(document))
        text = self.script(str(folder), "--kind", KINDS[0])
        self.assertIn("label='total = network'", text)
        self.assertNotIn("label='network'", text)

    def test_a_folder_that_is_no_sweep_is_named(self):
        (self.dir / "other").mkdir()
        said = self.plot(str(self.dir / "other"), "--kind", "link-load", "-o", "x.png", code=2)
        self.assertIn("other: the folder does not contain a sweep's manifest.json", said)

    def test_where_chooses_points(self):
        text = self.script(self.sweep("a", (10, 50, 90)), "--kind", "efficiency-time",
                           "--where", "traffic[0].load=50%")
        data = self.series(text)
        self.assertNotIn("x1", data)
        self.assertEqual((data["x0"][0], data["y0"][0]), (1, 50))

    def test_traffic_may_be_counted_in_flits(self):
        args = ("--kind", KINDS[0], "--unit", "flits")
        data = self.series(self.script(self.single("r.json", 0.5), *args))
        self.assertEqual([value for name, value in data.items() if name.startswith("x0")], [[0.05]] * 2)
        self.assertIn("no throughput in flits/ns/switch",
                      self.plot(self.single("s.json", 0.5, clock="real"), *args, "-o",
                                str(self.dir / "x.png"), code=2))

    def test_points_that_are_missing_leave_a_gap(self):
        folder = self.sweep("a", (10, 50, 90))
        (pathlib.Path(folder) / "1.json").unlink()
        self.assertEqual(len(self.series(self.script(folder, "--kind", KINDS[0]))["x0"]), 2)

    def test_every_kind_fits_a_column_of_a_paper(self):
        folder = self.sweep("a", (10, 50, 90), seeds=(1, 2, 3), vcs=("1", "2"))
        for kind in KINDS:
            output = self.dir / (kind + ".pdf")
            self.assertEqual(self.plot(folder, "--kind", kind, "--size", "86mm", "--font", "serif,7",
                                       "--title", "it's", "-o", str(output)), "")
            self.assertTrue(output.read_bytes().startswith(b"%PDF-"))

    def why(self, name, *packets):
        """A document of 'weft why --json'; a packet is a list of (part, port, ns)."""
        path, documents = self.dir / name, []
        for number, parts in enumerate(packets):
            ends = [sum(ns for _, _, ns in parts[:i]) for i in range(len(parts) + 1)]
            documents.append({"source": "h0", "destination": "h1", "message": number, "bytes": 100, "ns": ends[-1], "parts": [
                {"part": part, "port": port, "from_ns": start, "ns": ns} for (part, port, ns), start in zip(parts, ends)]})
        path.write_text(json.dumps({"weft": "why/1", "packets": documents}))
        return str(path)

    def test_a_waterfall_has_a_row_for_each_port_of_a_packet_or_for_each_packet(self):
        first = [("credits", "h0:0", 7000), ("wire", "h0:0", 100), ("output", "s0:1", 2000), ("wire", "s0:1", 100)]
        one = self.why("one.json", first)
        script, drawn = self.dir / "a.py", self.dir / "a.pdf"
        self.plot(one, "--kind", "waterfall", "--size", "3.4in", "-o", str(drawn), "--script", str(script))
        text = script.read_text()
        self.assertIn("['h0:0', 's0:1']", text)
        series = self.series(text)
        self.assertEqual(sorted(series["from0"] + series["from1"] + series["from2"]), [0, 7, 7.1, 9.1])
        self.draw(script, self.dir / "b.pdf")
        self.assertEqual((self.dir / "b.pdf").read_bytes(), drawn.read_bytes())
        self.plot(one, self.why("two.json", first[:2]), "--kind", "waterfall", "--script", str(script))
        self.assertIn("['h0 to h1, 0', 'h0 to h1, 0']", script.read_text())
        self.assertEqual(plot.draw([one], "waterfall").axes[0].get_xlim(), (0, 9.2))

    def test_a_waterfall_has_a_colour_and_a_hatch_for_each_part_of_weft_why(self):
        header = (pathlib.Path(__file__).resolve().parents[2] / "lib/audit/why.h").read_text()
        parts = re.search(r"#define WHY_PARTS\(X\)(.*?)\n\n", header, re.S)[1]
        self.assertEqual(re.findall(r'X\(\w+, "(.*?)"\)', parts), list(PARTS))
        self.assertEqual(len(set(PARTS.values())), len(PARTS))

    def test_documents_without_a_waterfall_are_refused(self):
        some = self.why("some.json", [("wire", "h0:0", 10)])
        damaged = json.loads(pathlib.Path(some).read_text())
        for said, words in (("some.json: damaged", ()), ("not a document from 'weft why --json' (expected weft: why/1)", ()), ("does not accept --where", ("--where", "a=b")),
                            ("0 rows: expected 1 to 40", ())):
            if said.startswith("some"):
                damaged["packets"][0]["parts"][0]["ns"] = -1
                pathlib.Path(some).write_text(json.dumps(damaged))
            path = {"0": self.why("none.json"), "n": self.single("result.json", 0.5)}.get(said[0], some)
            self.assertIn(said, self.plot(path, "--kind", "waterfall", *words, "-o", str(self.dir / "a.png"), code=2))

    def test_labels_are_in_the_legend(self):
        folder = self.sweep("a", (10, 50), vcs=("1", "2"))
        text = self.script(folder, "--kind", KINDS[0], "--label", "switch.vcs=1=one 'lane'")
        self.assertIn("label=\"one 'lane', total\"", text)
        self.assertIn("label='vcs 2, total'", text)
        text = self.script(folder, "--kind", KINDS[0], "--latency", "total")
        self.assertIn("label='vcs 2'", text)
        self.assertNotIn("network", text)

    def test_a_picture_without_a_value_is_refused(self):
        document = result(0.5)
        document["latency_ns"]["total"] = {**latency(None), "histogram": []}
        (self.dir / "r.json").write_text(json.dumps(document))
        for args in (("--kind", KINDS[0], "--latency", "total"), ("--kind", "latency-cdf")):
            self.assertIn("nothing to draw: the result has no value of this kind (nothing "
                          "was delivered)", self.plot(str(self.dir / "r.json"), *args, "-o",
                                                      str(self.dir / "x.png"), code=2))
        self.plot(str(self.dir / "r.json"), "--kind", KINDS[0], "-o", str(self.dir / "x.png"))
        (self.dir / "s.json").write_text(json.dumps(document))
        self.assertIn("none of the 2 results has a value of this kind (nothing was delivered)", self.plot(
            str(self.dir / "r.json"), str(self.dir / "s.json"), "--kind", "latency-cdf", "-o", str(self.dir / "x.png"), code=2))

    def test_a_figure_and_its_script_are_two_files(self):
        path = self.dir / "x.png"
        error = self.plot(self.single("one.json", 0.5), "--kind", KINDS[0], "-o", str(path), "--script", str(path), code=2)
        self.assertIn("expected a file other than -o", error)
        self.assertFalse(path.exists())

    def test_a_schedule_that_did_not_end_has_no_time(self):
        folder = pathlib.Path(self.sweep("a", (10, 50, 90)))
        document = json.loads((folder / "1.json").read_text())
        document["counters"]["goal_unfinished"] = 1
        (folder / "1.json").write_text(json.dumps(document))
        times = self.series(self.script(str(folder), "--kind", "completion"))["y0"]
        self.assertEqual([math.isnan(time) for time in times], [False, True, False])
        error = self.plot(str(folder / "1.json"), "--kind", "completion", "-o",
                          str(self.dir / "x.png"), code=2)
        self.assertIn("nothing to draw: the result has no value of this kind (no schedule "
                      "ended)", error)

    def test_slowdowns_of_a_length_are_a_mean_over_seeds_and_gaps_stay_empty(self):
        series = self.series(self.script(self.sweep("a", (50,), seeds=(1, 3)), "--kind", "slowdown"))
        self.assertEqual(series["x0"][:4], [1e3, 1e4, 1e5, 1e6])
        self.assertEqual([series["y0"][i] for i in (0, 1, 3)], [5, 6, 8])
        self.assertEqual([series["y0_second"][i] for i in (0, 1, 3)], [1.5] * 3)
        self.assertTrue(all(math.isnan(series["y0"][i]) for i in (2, 4)))
        document = json.loads(pathlib.Path(self.single("s.json", 0.5)).read_text())
        document["flows"]["by_size"] = []
        (self.dir / "s.json").write_text(json.dumps(document))
        error = self.plot(str(self.dir / "s.json"), "--kind", "slowdown", "-o", str(self.dir / "x.png"), code=2)
        self.assertIn("no flow was completed", error)

    def test_what_no_result_can_have_is_refused_with_its_place(self):
        for key, value, why in (("weft", "result/2", 'weft: "result/2": expected "result/1"'),
                                ("weft", None, "weft: null: expected"), ("checks", {"lost": -5}, "checks.lost: -5: expected 0 or more"),
                                ("throughput", {"accepted": "0.5"}, 'throughput.accepted: "0.5": expected a number'),
                                ("throughput", [], "throughput: []: expected an object"),
                                ("latency_ns", {"total": {"mean": -0.5}}, "latency_ns.total.mean: -0.5: expected 0 or more"),
                                ("series", {"t_ns": 1}, "series: {"), ("series", [{"t_ns": 1}, {"t_ns": -1}], "series[1].t_ns: -1:"),
                                ("links", [{"utilisation": -1e9}], "links[0].utilisation: ")):
            path = self.dir / "bad.json"
            path.write_text(json.dumps({**result(0.5), key: value}))
            with self.subTest(key=key, value=value):
                self.assertIn(f"{path}: {why}", self.plot(str(path), "--kind", KINDS[0], "-o", str(self.dir / "x.png"), code=2))
        for text, place in (('{"weft": "result/1",\n "throughput": NaN}', ":2:"), ('{"weft": 1,\n\n "weft": 2}', ":3:"), ("{", ":1:"),
                            ('{"weft": "result/1",\n "seed": 1e999}', ":2:")):
            path.write_text(text)
            self.assertIn(f"{path}{place}", self.plot(str(path), "--kind", KINDS[0], "-o", str(self.dir / "x.png"), code=2))

    def test_documents_with_any_values_are_drawn_or_refused(self):
        """Changes a value, a key or an entry of a result or a manifest."""
        draw = random.Random(1)
        folder = pathlib.Path(self.sweep("a", (10, 50), vcs=("1", "2")))
        before = {name: (folder / name).read_text() for name in ("0.json", "manifest.json")}
        refused = 0
        for _ in range(600):
            name = draw.choice(list(before))
            document = json.loads(before[name])
            self.change(document, draw)
            (folder / name).write_text(json.dumps(document))
            try:
                make_curves(load_runs([str(folder)], Request(draw.choice(KINDS), latency=draw.choice(("", "total", "network")))))
            except Error:
                refused += 1
            (folder / name).write_text(before[name])
        self.assertTrue(50 < refused < 550, refused)

    @staticmethod
    def change(document, draw):
        """Puts a drawn value at a drawn place."""
        value = draw.choice((None, True, -1, 0, 1e300, "x", "10%", [], {}, [1], {"a": 1}, [[1, 2]]))
        while True:
            places = list(document) if isinstance(document, dict) else range(len(document))
            place = draw.choice(list(places))
            if not isinstance(document[place], (dict, list)) or not document[place] or draw.random() < 0.3:
                document[place] = value
                return
            document = document[place]

    def test_what_is_missing_is_said(self):
        plain = self.single("plain.json", 0.5, links=False)
        bare = self.dir / "bare.json"
        document = result(0.5)
        del document["flows"], document["counters"]["goal_completion_ns"], document["latency_ns"]["total"]["histogram"]
        bare.write_text(json.dumps(document))
        bare = str(bare)
        for args, text in (
                ((plain, "--kind", "link-load"), "run again with --set measure.links=true"),
                ((plain, "--kind", "pie"), "--kind pie: expected one of latency-throughput"),
                ((plain,), "--kind is missing; expected one of latency-throughput, "),
                ((plain, "--kind", "latency-cdf", "--size", "3ft"), "--size 3ft: expected"),
                ((plain, "--kind", "latency-cdf", "--font", "x,0"), "--font x,0: expected"),
                ((plain, "--kind", "latency-cdf", "--latency", "both"),
                 "--latency both: expected one of total, network"),
                ((plain, "--kind", "link-load", "--latency", "total"),
                 "--latency requires latency-throughput or latency-cdf"),
                ((plain, "--kind", "latency-cdf", "--label", "a=b"),
                 "--label a=b: expected KEY=VALUE=TEXT"),
                ((plain, "--kind", "latency-cdf", "--label", "a=b=c"),
                 "--label a=b=c: no point of a sweep has this value"),
                ((bare, "--kind", "latency-cdf"), "run again with --set measure.latencies=true"),
                ((bare, "--kind", "slowdown"), "expected a run whose traffic is 'pattern: flows'"),
                ((bare, "--kind", "completion"), "expected a run whose traffic is 'pattern: goal'"),
                (("--kind", "link-load"), "expected results"),
                ((str(self.dir), "--kind", "link-load"), "does not contain a sweep's manifest.json"),
                ((str(self.dir / "none"), "--kind", "link-load"), "No such file"),
                ((WEFT, "--kind", "link-load"), "not a result of 'weft run'"),
                ((self.sweep("a", (10,)), "--kind", "link-load", "--where", "switch.vcs=9"),
                 "no results for the requested points"),
                ((self.sweep("b", (10,)), "--kind", "link-load", "--where", "switch.vcz=1"),
                 "--where switch.vcz=1: no sweep varies 'switch.vcz'"),
                ((self.single("r.json", 0.5, clock="real"), self.single("v.json", 0.5),
                  "--kind", "blocked-time"), "cannot be compared")):
            with self.subTest(args=args):
                output = self.dir / "x.png"
                self.assertIn(text, self.plot(*args, "-o", str(output), code=2))
                self.assertFalse(output.exists())
        self.assertIn("-o x.jpg: expected a file that ends in .png",
                      self.plot(plain, "--kind", KINDS[0], "-o", "x.jpg", code=2))

    def test_a_file_that_cannot_be_written_is_no_success(self):
        error = self.plot(self.single("r.json", 0.5), "--kind", KINDS[0], "-o",
                          str(self.dir / "no" / "x.png"), code=2)
        self.assertIn("x.png: No such file or directory", error)

    def test_without_matplotlib_it_names_the_package(self):
        python = self.dir / "python"
        python.write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")
        python.chmod(0o755)
        error = self.weft(self.single("r.json", 0.5), "--kind", KINDS[0], "-o", str(self.dir / "x.png"), code=3,
                          env={**os.environ, "WEFT_PYTHON": str(python)})
        self.assertRegex(error, "^weft plot: missing Python modules: matplotlib; to install: apt install python3-matplotlib")
        self.assertFalse((self.dir / "x.png").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
