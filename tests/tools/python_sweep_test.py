#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The parts of 'weft sweep' in Python: its points, rows, means and progress. What the command does is in
weft_sweep_test.py.

usage: python_sweep_test.py [TEST]...
"""
import contextlib
import io
import os
import pathlib
import signal
import sys
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/python"))
from weft import Error, child
from weft.sweeping import estimate, manifest, request, table
from weft.sweeping.run import Progress
from weft.sweeping.request import Plan, Sweep, Vary, parse_vary


def plan_of(*vary, seeds=0):
    made = Plan(first_seed=5, seeds=seeds)
    for text in vary:
        made.add(parse_vary(text))
    made.finish()
    return made


def result(load=0.5, seed=1, **more):
    return {"seed": seed, "throughput": {"offered": load, "accepted": load}, "checks": {"lost": 0}, **more}


class Values(unittest.TestCase):
    def test_lists_and_ranges(self):
        for text, values in (
                ("a=10%,5%,7.5%", "10% 5% 7.5%"), ("a=10%:50%:20%", "10% 30% 50%"),
                ("a=2.5%:10%:2.5%", "2.5% 5% 7.5% 10%"), ("a=512KiB:1536KiB:0.5MiB", "512KiB 1MiB 1.5MiB"),
                ("a=500ns:2us:500ns", "500ns 1us 1.5us 2us"), ("a=10%:55%:20%", "10% 30% 50%"), ("a=5:5:1", "5"),
                ("a=18446744073709551614:18446744073709551615:1", "18446744073709551614 18446744073709551615"),
                ("a=1%,10%:30%:10%,95%", "1% 10% 20% 30% 95%"), ("a=[h1,h2],[h3]", "[h1,h2] [h3]"),
                ("a=rlft:ports=4,stages=2,torus:dims=4x4,hosts=2,cplant,t.yaml",
                 "rlft:ports=4,stages=2 torus:dims=4x4,hosts=2 cplant t.yaml")):
            with self.subTest(text=text):
                self.assertEqual(parse_vary(text).values, values.split(" "))

    def test_a_bad_vary_is_refused_with_what_was_expected(self):
        bad = "expected LO:HI:STEP, three numbers with the same kind of unit, or without units, such as 10%:100%:10%"
        for text, why in (
                ("load", "--vary load: expected KEY=A,B,C or KEY=LO:HI:STEP"), ("=1", "--vary =1: expected KEY=A"),
                ("a=", "--vary a: expected a non-empty value"), ("a=1,,2", "--vary a: expected a non-empty value"),
                ("a=1,2,1", "--vary a: duplicate value '1'"), ("a=1:3:0", "'1:3:0': expected LO <= HI and a STEP above 0"),
                ("a=3:1:1", "'3:1:1': expected LO <= HI and a STEP above 0"), ("a=0:1000000:1", "--vary a: more than 10000 values"),
                *((f"a={words}", f"--vary a: '{words}': {bad}") for words in ("1:3", "1%:3:1", "1%:3ns:1%", "1:3:1:1"))):
            with self.subTest(text=text), self.assertRaises(Error) as caught:
                plan_of(text)
            self.assertIn(why, str(caught.exception))

    def test_seeds_are_a_range_or_one(self):
        for text, first, count in (("3:7", 3, 5), ("42", 42, 1)):
            made = Plan()
            made.take_seeds(text)
            self.assertEqual((made.first_seed, made.seeds), (first, count))
        for text in ("7:3", "a:3", "1:", "1:3:1", "-1"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                Plan().take_seeds(text)


class Points(unittest.TestCase):
    def test_the_product_counts_like_digits_and_seeds_last(self):
        made = plan_of("switch.voq=true,false", "traffic[0].load=10%:30%:10%", seeds=2)
        self.assertEqual([made.label(point) for point in range(made.points)],
                         [f"voq={voq}, load={load}%, seed={seed}" for voq in ("true", "false")
                          for load in (10, 20, 30) for seed in (5, 6)])

    def test_names_of_points_are_plain_and_short_and_differ(self):
        self.assertEqual(plan_of("traffic.0.load=5%:60%:5%", "traffic.1.load=1%").name(2),
                         "02_traffic.0.load=15%_traffic.1.load=1%")
        made = plan_of("traffic.0.to=" + 600 * "h" + ",[h/1 h2]")
        self.assertLess(len(made.name(0)), 144)
        self.assertEqual(made.name(1), "1_to=-h-1-h2-")

    def test_too_many_keys_and_points_are_refused(self):
        with self.assertRaisesRegex(Error, "this key is already varied"):
            plan_of("traffic[0].load=10%", "traffic.0.load=20%")
        with self.assertRaisesRegex(Error, "0 points: expected at most 100000"):
            plan_of(*(f"k{key}=1:10000:1" for key in range(request.KEYS_MAX)))
        with self.assertRaisesRegex(Error, "at most 8 keys"):
            plan_of(*(f"k{key}=1" for key in range(request.KEYS_MAX + 1)))


class Tables(unittest.TestCase):
    def test_values_with_units_are_numbers_and_their_texts_end_the_row(self):
        made = plan_of("traffic.0.load=0.5%,20%", "switch.buffer=4KiB", "link.delay=1.5us", "link.rate=100Gbps",
                       "switch.vcs=2", "switch.voq=true", "traffic.0.stop=end")
        row = table.row(made, 0, result())
        self.assertEqual(list(row.items())[:7], [
            ("traffic.0.load", 0.005), ("switch.buffer", 4096), ("link.delay", 1500), ("link.rate", 1e11),
            ("switch.vcs", 2), ("switch.voq", "true"), ("traffic.0.stop", "end")])
        self.assertEqual(list(row.items())[-4:], [("traffic.0.load_text", "0.5%"), ("switch.buffer_text", "4KiB"),
                                                  ("link.delay_text", "1.5us"), ("link.rate_text", "100Gbps")])
        line = table.csv_text(made, list(row), [row]).splitlines()[1]
        self.assertTrue(line.startswith("0.005,4096,1500,100000000000,2,true,end,1,0.5,0.5,"), line)

    def test_words_among_quantities_stay_words(self):
        row = table.row(plan_of("traffic.0.stop=1ms,end"), 0, result())
        self.assertEqual(row["traffic.0.stop"], "1ms")
        self.assertNotIn("traffic.0.stop_text", row)

    def test_a_cell_is_quoted_where_csv_needs_it(self):
        made = Plan(vary=[Vary("case", ['one, "plain"'])])
        made.finish()
        self.assertEqual(table.csv_text(made, ["case", "x"], [{"case": 'one, "plain"', "x": None}]),
                         'case,x\n"one, ""plain""",\n')

    def test_an_answer_of_several_seeds_is_one_that_all_give(self):
        made = plan_of("a=1", seeds=2)
        for answers, mean in (((True, True), 1), ((False, False), 0), ((False, True), None), ((True, None), None)):
            rows = [table.row(made, at, result(steady=answer)) for at, answer in enumerate(answers)]
            self.assertEqual(table.means(made, rows)[0]["steady"], mean, answers)

    def test_counts_are_added_and_measures_have_an_interval(self):
        made = plan_of("a=1", seeds=3)
        rows = [table.row(made, at, result(load, packets={"delivered": 4})) for at, load in enumerate((0.1, 0.2, 0.3))]
        mean = table.means(made, [*rows[:2], None])[0]
        self.assertEqual((mean["seeds"], mean["packets_delivered"], mean["packets_dropped"]), (2, 8, None))
        mean = table.means(made, rows)[0]
        self.assertAlmostEqual(mean["offered"], 0.2)
        self.assertAlmostEqual(mean["offered_ci95"], 4.302652729749 * 0.1 / 3 ** 0.5, 11)
        self.assertEqual((mean["total_ns_mean"], mean["total_ns_mean_ci95"]), (None, None))

    def test_a_schedule_that_did_not_end_has_no_time(self):
        made = plan_of("a=1,2")
        for unfinished, time in ((0, 7000), (3, None)):
            counters = {"goal_completion_ns": 7000, "goal_unfinished": unfinished}
            self.assertEqual(table.row(made, 0, result(counters=counters))["goal_completion_ns"], time)

    def test_results_with_errors_are_bad_and_others_without_measurements_are_empty(self):
        for check in ("lost", "duplicated", "out_of_order", "deadlock"):
            bad = result(checks={check: 1}, nothing_measured="no traffic")
            self.assertEqual((table.is_bad(bad), table.is_empty(bad)), (True, False))
        self.assertEqual([table.is_empty(result(nothing_measured=why)) for why in (None, "no traffic")], [False, True])


class Manifests(unittest.TestCase):
    BASE = {"configuration": {"switch": {"vcs": 1}}, "vary": [{"key": "a", "values": ["1", "2"]}], "seeds": None,
            "files": {"/t.yaml": 7}, "program": "0a", "run_file": "/run.yaml"}

    def difference(self, **now):
        manifest.compare(Sweep(folder="out"), self.BASE, {**self.BASE, **now})

    def test_the_same_sweep_goes_on_though_the_run_file_has_moved(self):
        self.difference(run_file="/elsewhere/run.yaml")

    def test_every_difference_is_in_words(self):
        for now, why in (
                ({"configuration": {"switch": {"vcs": 2}}}, "  switch.vcs is now 2; it was 1\n"),
                ({"vary": [{"key": "a", "values": ["1", "3"]}]},
                 "  --vary a is now 1, 3; it was 1, 2\n"),
                ({"vary": []}, "  --vary a is now not set; it was 1, 2\n"),
                ({"vary": [self.BASE["vary"][0], {"key": "b", "values": ["x"]}]}, "  --vary b is now x; it was not set\n"),
                ({"vary": [{"key": 7}]}, "manifest.json there has been damaged"),
                ({"seeds": {"first": 1, "count": 2}}, "  --seeds is now 1:2; it was not set\n"),
                ({"cases": [{"name": "b", "set": ["k=1", "l=2"]}]}, "  case 'b' is now k=1, l=2; it was not set\n"),
                ({"configuration": {"switch": {"vcs": 2, "voq": True}, "traffic": [{"to": ["h1"]}]}},
                 "  switch.vcs is now 2; it was 1\n  switch.voq is now true; it was not set\n"
                 "  traffic is now [{to: [h1]}]; it was not set\nto keep it"),
                ({"configuration": {str(key): key for key in range(9)}}, "\n  and 5 more\n"), ({"files": {"/t.yaml": 8}}, "/t.yaml has changed"),
                ({"files": {"/u.yaml": 7}}, "/u.yaml has changed"), ({"program": "0b"}, "a different build")):
            with self.subTest(now=now), self.assertRaisesRegex(Error, "^out contains a different sweep:\n") as caught:
                self.difference(**now)
            self.assertIn(why, str(caught.exception))


class Together(unittest.TestCase):
    def test_a_run_that_cannot_start_interrupts_those_that_run(self):
        one, ends = mock.Mock(pidfd=os.eventfd(1), ended=mock.Mock(side_effect=[False, True])), []
        self.addCleanup(os.close, one.pidfd)
        begin = mock.Mock(side_effect=[one, Error("no fabric")])
        with self.assertRaisesRegex(Error, "^no fabric$"):
            child.run_all(2, begin, lambda *end: ends.append(end))
        one.signal.assert_called_once_with(signal.SIGINT)
        self.assertEqual(ends, [(one, True)])


class Estimates(unittest.TestCase):
    def shown(self, load, jobs):
        """What a dry run of ten points of 30 s on four cores prints."""
        made, out = Sweep(plan=plan_of("a=1:10:1"), jobs=jobs), io.StringIO()
        costs = [estimate.Cost(30, False, False)] * 6
        with mock.patch.object(estimate, "_try_points", return_value=costs), contextlib.redirect_stdout(out), \
                mock.patch("os.getloadavg", return_value=(load, 0, 0)), \
                mock.patch("os.sched_getaffinity", return_value=set(range(4))):
            self.assertEqual(estimate.show(made, None, False), 0)
        return out.getvalue()

    def test_the_upper_limit_assumes_that_the_load_average_stays(self):
        text = "10 points, about 5.00 min to 7.50 min of CPU time, about 2.50 min to {} with 2 at a time (from short runs of 6 " \
            "points; the longest if the machine's load stays {})\n"
        for load, time in ((0.0, "3.75 min"), (2.0, "3.75 min"), (6.0, "7.50 min")):
            self.assertEqual(self.shown(load, 2), text.format(time, load))


class Bar(unittest.TestCase):
    def progress(self, points, had=0):
        return Progress(points, had, io.StringIO())

    def test_a_line_for_each_point_in_a_pipe(self):
        for mean, text in ((1500, "1.50 us"), (200, "200 ns"), (None, "-")):
            made = self.progress(points=10)
            made.finished("load=1%\x1b[2J", result(0.25, latency_ns={"total": {"mean": mean}}), 2)
            self.assertEqual(made.out.getvalue(), f"[ 1/10] load=1%\\x1b[2J: offered 25.0 %, accepted 25.0 %, "
                                                  f"total latency {text} (2.00 s)\n")

    def test_a_notebook_has_a_bar_by_tqdm_and_lines_only_for_errors(self):
        bars = []
        fake = types.ModuleType("tqdm.auto")
        fake.tqdm = lambda **options: bars.append(mock.Mock(n=options["initial"], **options)) or bars[-1]
        with mock.patch.dict(sys.modules, {"ipykernel": fake, "tqdm": fake, "tqdm.auto": fake}):
            made = self.progress(points=3, had=1)
        made.finished("a", result(latency_ns={}), 2)
        made.failed("b", "it burns")
        made.draw()
        bars[0].update.assert_called_once_with(2)
        self.assertEqual((bars[0].total, made.out.getvalue()), (3, "[3/3] b: failed: it burns\n"))
        with mock.patch.dict(sys.modules, {"ipykernel": fake, "tqdm": None, "tqdm.auto": None}):
            self.assertIsNone(self.progress(points=3).bar)


if __name__ == "__main__":
    unittest.main(verbosity=2)
