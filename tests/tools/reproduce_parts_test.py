#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The parts of 'weft reproduce': definitions, published rows, searches, courses, comparisons and curves.

usage: reproduce_parts_test.py WEFT [TEST]...
"""
import itertools
import math
import os
import pathlib
import random
import shutil
import sys
import tempfile
import unittest

os.environ["WEFT"] = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools/python"))
from weft.asker import Asker
from weft.error import Error
from weft.reproducing import definition, pictures, published, trial
from weft.reproducing.comparison import Comparison
from weft.reproducing.courses import Sample, Settling, Transient, transient_of
from weft.reproducing.definition import Choice, Definition
from weft.quantity import NAN
from weft.reproducing.published import Row
from weft.reproducing.trial import Point, Search, Stage, Trial, accepts_less, load_of

BODY = """place: table 1
title: T
time: 1 s
measure: saturation-throughput
run: run.yaml
networks: [{name: A, n: 10}, {name: B, n: 3}]
algorithms: [{name: X}, {name: Y}]
"""
HEAD = f"weft: reproduce/1\npaper: P\npublished: rows.csv\n{BODY}"
CASES = "cases: [{name: P}, {name: Q}]\n"
MS = 1e6  # ns


class Folder(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-parts-"))
        self.addCleanup(shutil.rmtree, self.dir)

    def load(self, text, name="e.yaml"):
        (self.dir / name).write_text(text)
        return definition.load(str(self.dir / name))

    def rows(self, what, text, head=published.HEADER):
        (self.dir / "rows.csv").write_text(f"# a paper\n{head}\n{text}")
        return published.load(what)


class Definitions(Folder):
    def test_one_is_named_after_its_file_and_has_the_methods_of_the_thesis(self):
        (one,) = self.load(HEAD)
        self.assertEqual((one.name, one.run, one.published), ("e", f"{self.dir}/run.yaml", f"{self.dir}/rows.csv"))
        self.assertEqual((one.warmup, one.messages, one.networks[0].n, len(one.cases)), (200000, 200000, 10, 1))

    def test_wrong_ones_are_refused_with_their_place(self):
        for text, said in (
            (HEAD + "cases: [{name: C, set: [load]}]\n", "e.yaml:11:25: expected KEY=VALUE"),
            (HEAD + "cases: [{name: C, traffic: 0}]\n", "e.yaml:11:28: 'traffic: 0': expected flits/ns/switch, such as 0.015"),
            (HEAD + "cases: []\n", "e.yaml:11:8: expected 1 to 32 of them"),
            (HEAD + "tolerances: 1%\n", "e.yaml:11:1: unknown key 'tolerances', nearest is tolerance; known keys: weft, "),
            (HEAD + "load: 101%\n", "e.yaml:11:7: 'load: 101%': expected a value from 0.0001% to 100%"),
            (HEAD + "unit: 1\n", "e.yaml:11:7: 'unit: 1': expected a time with its unit"),
            (HEAD + "messages: 0\n", "e.yaml:11:11: 'messages: 0': expected a whole number from 1 to 100000000"),
            (HEAD.replace("saturation-throughput", "speed"), "'measure: speed': expected one of saturation-throughput, latency"),
            (HEAD.replace("run: run.yaml\n", ""), "key 'run' is missing"),
            ("weft: run/1\n", "expected 'weft: reproduce/1', found 'run/1'"),
            ("a: [", "not valid YAML"),
        ):
            with self.assertRaises(Error) as raised:
                self.load(text)
            self.assertIn(said, str(raised.exception))

    def test_quick_leaves_what_it_names(self):
        (one,) = self.load(HEAD + 'quick: {networks: B, algorithms: "Y,X", n: 2, warmup: 7, messages: 8}\n')
        one.reduce()
        self.assertEqual(([(n.name, n.n) for n in one.networks], len(one.algorithms)), ([("B", 2)], 2))
        self.assertEqual((one.warmup, one.messages, one.defined[:2]), (7, 8, (200000, 200000)))
        (one,) = self.load(HEAD + "quick: {networks: C}\n")
        with self.assertRaisesRegex(Error, "quick: 'C' matches nothing"):
            one.reduce()

    def test_a_selection_may_name_networks_cases_and_algorithms(self):
        (one,) = self.load(HEAD + CASES)
        one.select("Y,B")
        self.assertEqual([[c.name for c in choices] for choices in one.lists], [["B"], ["P", "Q"], ["Y"]])
        with self.assertRaisesRegex(Error, "'Y,C' has a word that is not one of its networks, cases or algorithms"):
            one.select("Y,C")

    def test_the_number_of_the_instance_stands_where_n_does(self):
        for text, expected in (("seed={n}", "seed=12"), ("a={n}{n},b=[h{n*47}]", "a=1212,b=[h564]"), ("{m}{", "{m}{"),
                               ("", ""), ("{n*}", "{n*}")):
            self.assertEqual(definition.expand(text, 12), expected)

    def test_a_file_of_a_paper_has_the_same_definitions_as_files_of_their_own(self):
        inner = "".join(f"    {line}\n" for line in BODY.splitlines())
        found = self.load(f"weft: paper/1\npaper: P\npublished: rows.csv\ndefinitions:\n  one:\n{inner}  two:\n    paper: O\n"
                          f"{inner}", "p.yaml")
        (alone,) = self.load(HEAD)
        self.assertEqual([(one.name, one.paper, one.origin) for one in found],
                         [("one", "P", f"{self.dir}/p.yaml: one"), ("two", "O", f"{self.dir}/p.yaml: two")])
        for one in found:
            one.name, one.origin, one.paper = alone.name, alone.origin, alone.paper
            self.assertEqual(one, alone)
        rows = self.rows(alone, "e,factor,,A,Y,X,,,2\nf,factor,,A,Y,X,,,3\n", f"definition,{published.HEADER}")
        self.assertEqual([row.mean for row in rows], [2])

    def test_those_of_weft_use_every_row_and_make_run_files_that_run(self):
        used, lines = 0, 0
        with Asker() as asker:
            for path in sorted((TOP / "topo/reproduce").glob("*.yaml")):
                if path.name.startswith("run-"):
                    continue
                rows = path.with_suffix(".csv").read_text().splitlines()
                lines += sum(not line.startswith(("#", "definition,")) for line in rows)
                for one in definition.load(str(path)):
                    if one.missing or one.members:
                        continue
                    used += len(published.load(one))
                    for choices in itertools.product(*one.lists):
                        made = Trial(one, *choices, 0)
                        made.prepare(asker)
                        self.assertTrue(0 < made.load <= 1, made.label)
                    one.reduce()
                    self.assertTrue(trial.make(one, published.load(one), asker), one.name)
        self.assertEqual(used, lines)  # a misspelt name would leave its rows out


class Rows(Folder):
    def test_they_are_those_of_what_is_there(self):
        (one,) = self.load(HEAD + CASES)
        rows = self.rows(one, "factor,P,B,Y,X,0.9,1.1,1.05\nvalue,P,A,X,,,,0.2\nfactor,P,C,Y,X,,,3\nbelow-10,P,A,Y,,,,64\n"
                         "percent,P,A,Y,X,,,\nat-13,P,B,Y,,0.8,,\nend,P,A,X,Y,,,1\nslowdown,Q,A,X,P,,1.1,\nslowdown,Q,A,X,R,,1,\n"
                         "above-30,P,A,Y,,,0.1,,near 0\n")
        self.assertEqual([(row.quantity, row.limit) for row in rows], [
            ("factor", 0), ("value", 0), ("below", 10), ("percent", 0), ("at", 13), ("end", 0), ("slowdown", 0), ("above", 30)])
        self.assertEqual((rows[0].min, rows[0].mean, rows[0].over), (0.9, 1.05, "X"))
        self.assertTrue(math.isnan(rows[1].min) and math.isnan(rows[3].mean))
        self.assertTrue(rows[4].is_claim and rows[5].is_relative and rows[7].words == "near 0")

    def test_wrong_ones_are_refused_with_their_line(self):
        (one,) = self.load(HEAD)
        for row in ("factor,,B,Y,X,0.9,1.1", "factor,,B,Y,X,a,1.1,1", "factor,,B,Y,,,,1", "value,,B,Y,X,,,1", "ratio,,B,Y,X,,,1",
                    "slowdown,,B,Y,,,,1", "at-,,B,Y,,,,1", "factor,,B,Y,X,,,1,,", "factor,,B,Y,X,,,inf", "after-1001,,B,Y,,,,1",
                    "max,,B,Y,,,1,,near one that is far too long for the column"):
            with self.assertRaisesRegex(Error, "rows.csv:3: expected a row of 'quantity,"):
                self.rows(one, row)
        with self.assertRaisesRegex(Error, "rows.csv:2: expected 'quantity,"):
            self.rows(one, "", "quantity,case")
        with self.assertRaisesRegex(Error, "no row for this experiment"):
            self.rows(one, "factor,,C,Y,X,,,3\n")


def search(guess, capacity, messages=10000):
    """A network that accepts everything up to a capacity, and that much beyond it. The threshold is 1 %."""
    found, points = Search(guess, messages), 0
    while not found.done:
        accepted = min(found.load, capacity)
        found.take(found.load, accepted, 4 * accepted)
        points += 1
    return found, points


class Searches(unittest.TestCase):
    def test_the_answer_is_the_highest_load_accepted_to_within_one_per_cent(self):
        draw = random.Random(49)
        for _ in range(2000):
            capacity, guess = 0.002 * 450 ** draw.random(), 1000 ** -draw.random()
            found, points = search(guess, capacity)
            self.assertLessEqual(0.99 * load_of(found.low), capacity)
            self.assertGreater(0.99 * load_of(found.high), capacity)
            self.assertEqual((found.high, found.low), (found.low + 1, search(0.01, capacity)[0].low))
            self.assertAlmostEqual(found.traffic, 4 * min(capacity, load_of(found.low)))
            self.assertLessEqual(points, 40)

    def test_ends_of_the_grid(self):
        self.assertAlmostEqual(load_of(8) / load_of(7), 1.025)
        found, _ = search(0.1, 2)
        self.assertTrue(found.low == found.LAST and load_of(found.low) <= 1 < load_of(found.low + 1))
        self.assertEqual(search(0.1, 0)[0].low, -1)

    def test_a_good_guess_needs_few_points_and_longer_runs_need_two(self):
        for off in (0.8, 0.9, 1, 1.1, 1.2):
            found, points = search(0.1 * off, 0.1)
            self.assertLessEqual(points, 8)
            low, points, found = found.low, 0, found.verify(10000)
            while not found.done:
                found.take(found.load, min(found.load, 0.1), 1)
                points += 1
            self.assertEqual((found.low, points), (low, 2))

    def test_longer_runs_tell_smaller_differences_and_no_run_less_than_three_per_cent(self):
        self.assertFalse(accepts_less(0.1, 0.0997, 20000))
        self.assertTrue(accepts_less(0.1, 0.0997, 200000))
        for messages in (1, 9, 243):
            self.assertTrue(accepts_less(0.1, 0.0969, messages))
            self.assertFalse(accepts_less(0.1, 0.0971, messages))
        self.assertFalse(accepts_less(0.1, 0.11, 200000))


HOT_SPOT = ({"pattern": "uniform", "load": "100%"},
            {"pattern": "hotspot", "load": "100%", "share": "100%", "start": "2ms", "stop": "10ms"})


def course(traffic, counts, accepted=()):
    """Returns the course of a run of 12 ms on 8 hosts."""
    found = transient_of({"duration_ps": 12 * 10**9, "config": {"traffic": traffic}}, {"hosts": 8, "counts": counts})
    found.take([{"t_ns": (at + 1) * MS, "released": value} for at, value in enumerate(accepted)])
    return found


class Courses(unittest.TestCase):
    def test_a_hot_host_takes_what_its_link_carries_and_no_more(self):
        found = course(HOT_SPOT, [[4, 8], [2, 1]])
        # 7/8 of four hosts' traffic go elsewhere; 4/8 + 2 links' worth want to the hot one.
        self.assertAlmostEqual(found.deliverable, (4 * 7 / 8 + 1) / 8)
        self.assertEqual((found.start_ns, found.stop_ns), (2 * MS, 10 * MS))

    def test_without_a_hot_spot_all_that_is_generated_is_deliverable(self):
        found = course([{"pattern": "uniform", "load": "40%"}], [[8, 8]], [0.1, *[0.4] * 6, 0.3, 0.4, 0.4, 0.4, 0.2])
        numbers = (found.deliverable, found.before(), found.minimum(), found.end(), found.back_ns())
        for number, expected in zip(numbers, (0.4, 2.1 / 6, 0.2, 0.3, 0)):
            self.assertAlmostEqual(number, expected)
        self.assertTrue(math.isnan(found.at(MS)))

    def test_a_network_that_recovers_is_told_from_one_that_does_not(self):
        before, rest = [0.1, 0.6], [0.3, 0.1, 0.2, 0.5, 0.2, 0.52]  # deliverable: 0.5625, 0.9 of it 0.50625
        found = course(HOT_SPOT, [[4, 8], [2, 1]], [*before, *rest, 0.54, 0.55, 0.05, 0.6])
        self.assertEqual((found.before(), found.minimum(), found.at(3 * MS), found.end()), (0.6, 0.1, 0.2, 0.55))
        self.assertEqual((found.back_ns(), math.isnan(found.at(9 * MS))), (5 * MS, True))
        self.assertEqual(course(HOT_SPOT, [[4, 8], [2, 1]], [*before, *rest, 0.2, 0.2, 0.6]).back_ns(), math.inf)

    def test_a_hot_spot_that_outlasts_the_run_ends_with_it(self):
        hot = {"pattern": "hotspot", "load": "50%", "share": "100%", "start": "2ms", "stop": "end"}
        found = course([{"pattern": "uniform", "load": "100%"}, hot], [[1, 8], [1, 1]])
        self.assertEqual(found.stop_ns, 12 * MS)
        self.assertAlmostEqual(found.deliverable, 1.5 / 8)

    def test_the_deviation_is_from_the_mean_of_all(self):
        # Ten messages of 100 ns, then ten of 200 ns, then twenty of 150: means 100, 150, 150.
        found = Settling()
        self.assertTrue(math.isnan(found.deviation(0)))
        self.assertFalse(found.take([{"t_ns": 10, "released": 0, "released_latency_ns": 0}]))
        self.assertTrue(found.take([{"t_ns": 10 * (i + 1), "released": share, "released_latency_ns": latency}
                                    for i, (share, latency) in enumerate(((0.1, 100), (0.1, 200), (0.2, 150)))]))
        for share, expected in ((0, 100 / 3), (0.25, 100 / 3), (0.3, 0), (1, 0)):
            self.assertAlmostEqual(found.deviation(share), expected)


ALGORITHMS = [Choice("X"), Choice("Y"), Choice("Z")]
REACHED = ((1, 2, 4), (2, 2, 6), (1.1, 2.2, 4.4))


def row(quantity, algorithm, over="", low=NAN, high=NAN, mean=NAN, limit=0, case=""):
    return Row(quantity, limit, case, "N", algorithm, over, low, high, mean, "")


class Comparisons(unittest.TestCase):
    def setUp(self):
        self.what = Definition("e", measure="saturation-throughput", networks=[Choice("N", n=3)], cases=[Choice()],
                               algorithms=ALGORITHMS)

    def trials(self, reached=REACHED):
        return [Trial(self.what, self.what.networks[0], self.what.cases[0], algorithm, copy, Stage.DONE, value=value)
                for algorithm, values in zip(ALGORITHMS, reached) for copy, value in enumerate(values)]

    def compare(self, *rows, trials=None):
        return Comparison(self.what, rows, trials or self.trials())

    def one(self):
        """On one instance of the network."""
        self.what.networks[0].n = 1
        return self.trials([[value[0]] for value in REACHED])

    def test_a_factor_is_the_mean_of_the_ratios_of_the_instances(self):
        found = self.compare(row("factor", "Y", "X", 1, 2, 1.6))
        one = found.rows[0]
        self.assertAlmostEqual(one.mean, 1.5)  # not 10 / 7
        self.assertEqual((one.instances, one.min, one.max, found.good), (3, 1, 2, True))
        self.assertAlmostEqual(one.ratio, 1.5 / 1.6)
        self.assertEqual(self.compare(row("factor", "Y", "X", mean=1.7)).missed, 1)

    def test_an_increase_is_judged_by_the_whole(self):
        found = self.compare(row("percent", "Z", "X", mean=3))
        self.assertAlmostEqual(found.rows[0].ratio, 110 / 103)
        self.assertTrue(found.good)

    def test_an_order_that_is_not_the_published_one_is_missed(self):
        rows = [row("factor", "Y", "X", mean=1.5), row("factor", "Z", "X", mean=1.1),
                row("percent", "Y", "Z", mean=36), row("percent", "X", "Z", mean=36.5)]  # these two are too near
        found = self.compare(*rows)
        self.assertEqual((found.orders, found.wrong), (1, []))
        found = self.compare(*rows, trials=self.trials((REACHED[0], REACHED[0], REACHED[2])))
        self.assertEqual(found.wrong, [(0, 1)])

    def test_absolute_values_and_what_was_not_printed_are_not_judged(self):
        found = self.compare(row("value", "X", mean=100), row("factor", "Y", "X"))
        self.assertEqual(([one.checked for one in found.rows], found.good), ([False, False], True))

    def test_a_row_without_all_instances_is_missed_and_has_no_order(self):
        trials = self.trials()
        trials[1].stage = trials[5].stage = Stage.FAILED
        found = self.compare(row("factor", "Y", "X", mean=2), row("factor", "Z", "X", mean=1.5), row("value", "X", mean=1),
                             trials=trials)
        one = found.rows[0]
        self.assertEqual((one.instances, one.wanted, one.ratio, one.within), (1, 3, 1, False))
        self.assertEqual((found.missed, found.orders, found.failed), (3, 0, 2))

    def test_a_failed_trial_that_no_row_wants_is_not_good(self):
        trials = self.trials()
        trials[6].stage = Stage.FAILED
        found = self.compare(row("factor", "Y", "X", mean=1.6), trials=trials)
        self.assertEqual((found.missed, found.failed, found.good), (0, 1, False))

    def test_a_claim_is_judged_by_its_bounds(self):
        found = self.compare(row("value", "X", low=2), row("value", "X", high=2), row("factor", "Y", "X", low=1.51),
                             row("factor", "Y", "X", low=1.6))  # 1.5: within the share for orders
        self.assertEqual([one.within for one in found.rows], [True, False, True, False])

    def test_a_course_is_judged_at_its_moments(self):
        trials = self.one()
        for one in trials:
            one.transient = Transient(2e6, 4e6, 0.85, [Sample(1e6, 0.9), Sample(2e6, 0.9), Sample(3e6, 0.1), Sample(4e6, 0.8)])
        found = self.compare(row("minimum", "X", mean=0.1), row("at", "X", low=0.7, limit=2), row("end", "X", high=0.5),
                             row("back", "X", high=2), row("before", "X", "Y", mean=1), trials=trials)
        self.assertEqual([one.within for one in found.rows], [True, True, False, True, True])
        self.assertEqual(found.rows[3].mean, 1)

    def test_a_slowdown_is_over_the_same_algorithm_in_the_other_case(self):
        self.what.cases = [Choice("a"), Choice("b")]
        trials = self.one()
        trials[1].algorithm, trials[1].case = ALGORITHMS[0], self.what.cases[1]
        found = self.compare(row("slowdown", "X", "a", high=1.5, case="b"), trials=trials)
        self.assertEqual((found.rows[0].mean, found.missed), (2, 1))

    def test_links_between_switches_are_judged_with_the_tolerance_of_a_mean(self):
        trials = self.one()
        trials[0].links = [{"from": "s0:1", "to": "s1:2", "utilisation": 0.4, "blocked": 0.2},
                           {"from": "s1:2", "to": "s0:1", "utilisation": 0.05, "blocked": 0},
                           {"from": "h0:0", "to": "s0:0", "utilisation": 0.9, "blocked": 0.8}]
        rows = [row("max", "X", mean=50), row("min", "X"), row("below", "X", limit=10), row("above", "X", limit=4),
                row("max", "X", low=44), row("max", "X", low=45), row("max", "X", high=36)]
        found = self.compare(*rows, trials=trials)
        self.assertEqual([one.mean for one in found.rows[:4]], [40, 5, 50, 100])
        self.assertEqual([one.within for one in found.rows[4:]], [True, False, False])
        self.what.measure = "blocked"
        self.assertEqual([one.mean for one in self.compare(*rows[:3], trials=trials).rows], [20, 0, 50])

    def test_the_label_of_bars_is_of_the_case_that_misses_most(self):
        self.what.cases, self.what.algorithms = [Choice("full"), Choice("lacking")], ALGORITHMS[:1]
        point = Point(1, 1, 1, 1, 1, 1, 1, 0, 0, False, False)
        trials = [Trial(self.what, self.what.networks[0], case, ALGORITHMS[0], copy, Stage.DONE, value=copy, points=[point])
                  for case in self.what.cases for copy in range(3)]
        for missing, label in ((0, "X"), (2, "X (1 of 3)")):
            for one in trials[3:3 + missing]:
                one.value = NAN
            self.what.measure = "accepted"
            ((_, curves),) = pictures.Figures(self.what, trials, None)
            self.assertEqual([curve.label for curve in curves.curves], [label])

    def test_a_point_of_a_search_is_hollow_where_the_search_ends(self):
        self.what.measure, self.what.curves, self.what.messages = "saturation-throughput", True, 200000
        one = self.one()[0]
        one.points = [Point(0.1, 0.1, accepted, accepted, 10, 20, NAN, 0, 0, False, False) for accepted in (0.1, 0.0995)]
        ((_, curves),) = pictures.Figures(self.what, [one], None)
        self.assertEqual(curves.network.split(": ")[0], f"{self.what.paper}, {self.what.place}")
        self.assertEqual([point.hollow for point in curves.curves[0].points], [False, True])


class Points(unittest.TestCase):
    def test_a_result_without_a_needed_value_is_refused(self):
        result = {"throughput": {"offered": 0.5, "released": None, "flits_per_ns_per_switch": 0.1},
                  "latency_ns": {"network_released": {"mean": 1}, "total_released": {"mean": 2}},
                  "messages": {"dropped": 3}, "checks": {"deadlock": False}, "incomplete": False}
        point = trial.read_point(0.5, result)
        self.assertEqual((point.accepted, point.flits_per_ns_per_switch, point.total_ns, point.dropped), (0, 0.1, 2, 3))
        for section, key in (("throughput", "released"), ("latency_ns", "total_released"), ("checks", "deadlock")):
            less = {**result, section: {name: value for name, value in result[section].items() if name != key}}
            with self.assertRaises((KeyError, TypeError)):
                trial.read_point(0.5, less)


if __name__ == "__main__":
    unittest.main(verbosity=2)
