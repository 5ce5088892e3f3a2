#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The figures of 'weft plot' and 'weft reproduce': pages, curves of runs, and what is drawn.

usage: weft_figures_test.py [TEST]...
"""
import itertools
import math
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/python"))
from weft.error import Error
from weft.quantity import Interval
from weft.plot.look import unit_for
from weft.plot.curves import CURVES_MAX, Curve, Curves, Point, make_curves
from weft.plot.sheet import draw_sheet
from weft.plot.look import Axis, colour_of, dash_of, mark_of
from weft.plot.page import Page, format_of, set_font, set_size
from weft.plot.runs import READERS, Request, Run, Runs, Value, doubts


class Pages(unittest.TestCase):
    def test_files_are_known_by_their_end(self):
        self.assertEqual([format_of(name) for name in ("a.png", "a.b/c.svg", "a.pdf", "a.gp", ".png", "png")],
                         ["png", "svg", "pdf", None, None, None])

    def test_sizes_are_in_inches_or_pixels(self):
        for text, width, height, pixels in (
                ("900x600", 7.5, 5, True), ("900x600px", 7.5, 5, True), ("800", 20 / 3, 5, True),
                ("3.4in", 3.4, 2.55, False), ("3.4x2.5in", 3.4, 2.5, False), ("3.4inx2.5in", 3.4, 2.5, False),
                ("86mmx60mm", 86 / 25.4, 60 / 25.4, False), ("12cm", 12 / 2.54, 9 / 2.54, False)):
            page = Page(pixels=not pixels)
            set_size(page, text)
            self.assertAlmostEqual(page.width, width)
            self.assertAlmostEqual(page.height, height)
            self.assertEqual(page.pixels, pixels)

    def test_other_sizes_are_refused(self):
        for text in ("", "x", "3.4", "3.4ft", "3in x 2in", "0x10", "inf", "nan", "-3in", "3inx", "3inx200px",
                     "900x600in", "3inx2inx1in", "31in", "1e9", "20000", "3inx0.5in"):
            with self.assertRaisesRegex(Error, "--size .*expected"):
                set_size(Page(), text)

    def test_a_font_is_a_name_a_size_or_both(self):
        for text, font, points in (("Times New Roman,9.5", "Times New Roman", 9.5), (",7", "sans", 7), ("Times", "Times", 0)):
            page = Page()
            set_font(page, text)
            self.assertEqual((page.font, page.points), (font, points))

    def test_other_fonts_are_refused(self):
        for text in ("", "Times,", "Times,x", "Times,9x", "Times,0", "Times,900", "Ti'mes", "Ti\nmes", '"Times"',
                     "Times,nan", "a name that is so long that no font has it, whatever the foundry was"):
            with self.assertRaisesRegex(Error, "--font"):
                set_font(Page(), text)
        with self.assertRaisesRegex(Error, "--font No Such Font: expected sans, serif, monospace, or a font of"):
            draw_sheet(curves_of("link-load", 1), Page(font="No Such Font"))


def run(values, vary=None, source=0, **about):
    values = [Value(i + 1, y, y / 2) for i, y in enumerate(values if isinstance(values, tuple) else (values,))]
    return Run(source, vary or {}, values, {"topology": {"name": "t", "hosts": 4}, **about})


def make(kind, *runs, inputs=1, **request):
    return make_curves(Runs(Request(kind, **request), list(runs), ["a", "b"][:inputs]))


class FromRuns(unittest.TestCase):
    def found(self, curves):
        return [(curve.label, [point.y.mean for point in curve.points]) for curve in curves.curves]

    def test_a_curve_goes_along_the_load(self):
        runs = [run(10 * i, {"t.0.load": load, "r.algorithm": algorithm}) for i, (load, algorithm) in enumerate(
            itertools.product(("1%", "2%"), ("ud", "dfs")), 1)]
        curves = make("latency-throughput", *runs)
        self.assertEqual(self.found(curves), [("algorithm ud", [10, 30]), ("algorithm dfs", [20, 40])])
        self.assertFalse(curves.intervals)

    def test_it_goes_along_another_key_if_asked(self):
        runs = [run(10 * vcs, {"t.0.load": "1%", "switch.vcs": str(vcs)}) for vcs in (1, 2)]
        self.assertEqual(self.found(make("latency-throughput", *runs, along="switch.vcs")), [("", [10, 20])])
        self.assertEqual(len(make("latency-throughput", *runs, along="t[0].load").curves), 2)
        with self.assertRaisesRegex(Error, "^--along nothing: no sweep varies this key$"):
            make("latency-throughput", *runs, along="nothing")
        with self.assertRaisesRegex(Error, "^--along t: requires latency-throughput"):
            make("link-load", *runs, along="t")

    def test_without_a_load_it_goes_along_the_last_key_and_equal_ends_are_written_out(self):
        runs = [run(y, {"a.x": a, "b.x": b}) for y, a, b in ((10, "1", "1"), (20, "1", "2"), (30, "2", "1"))]
        self.assertEqual(self.found(make("latency-throughput", *runs)), [("a.x 1", [10, 20]), ("a.x 2", [30])])

    def test_seeds_become_a_mean_with_its_interval_over_the_points_that_all_have(self):
        curves = make("efficiency-time", *(run(values, {"load": "1%"}) for values in ((1, 10), (2, 20), (3,))))
        self.assertEqual(self.found(curves), [("", [2])])
        self.assertTrue(curves.intervals)
        self.assertAlmostEqual(curves.curves[0].points[0].y.half, 4.302653 / math.sqrt(3), places=5)
        self.assertEqual(curves.network, "t, 4 hosts, 3 seeds")

    def test_inputs_are_curves_with_their_names_and_not_seeds_of_each_other(self):
        runs = [run(10), run(20, {"load": "1%", "vcs": "1"}, 1), run(30, {"load": "1%", "vcs": "2"}, 1)]
        self.assertEqual(self.found(make("latency-throughput", *runs, inputs=2)),
                         [("a", [10]), ("b, vcs 1", [20]), ("b, vcs 2", [30])])
        curves = make("latency-throughput", *(run(10, {"load": "1%"}, source) for source in (0, 1)), inputs=2)
        self.assertEqual((len(curves.curves), curves.intervals), (2, False))

    def test_blocked_links_of_two_clocks_cannot_be_compared(self):
        runs = [run(10), run(20, None, 1, config={"clock": "real"})]
        with self.assertRaisesRegex(Error, "cannot be compared"):
            make("blocked-time", *runs, inputs=2)
        make("link-load", *runs, inputs=2)

    def test_a_point_is_hollow_if_a_run_of_it_is_doubtful(self):
        runs = [run(10, {"load": load}) for load in ("1%", "2%", "3%", "3%")]
        runs[1].values[0].doubtful = runs[3].values[0].doubtful = True
        self.assertEqual([point.hollow for point in make("latency-throughput", *runs).curves[0].points],
                         [False, True, True])

    def test_numbers_are_joined_in_their_order_and_words_stand_apart_in_that_of_the_sweep(self):
        curves = make("latency-throughput", *(run(y, {"size": size}) for y, size in ((20, "1KiB"), (30, "2KiB"), (10, "512B"))))
        self.assertEqual((self.found(curves), curves.curves[0].apart), ([("", [10, 20, 30])], False))
        curves = make("latency-throughput", run(20, {"algorithm": "ud"}), run(10, {"algorithm": "dfs"}))
        self.assertEqual((self.found(curves), curves.curves[0].apart), ([("", [20, 10])], True))

    def test_steps_of_all_seeds_make_one_distribution(self):
        runs = [run(values, {"load": "1%"}) for values in ((3, 1), (1,), (5,))]  # 3 values to 1, 1 to 2
        runs[2].values[0].x = 1.5
        curves = make("latency-cdf", *runs)
        self.assertEqual([(point.x.mean, point.y.mean) for point in curves.curves[0].points], [(1, 0.4), (1.5, 0.9), (2, 1)])
        self.assertFalse(curves.intervals)

    def test_a_label_stands_for_its_value_and_a_case_for_itself(self):
        runs = [run(1, {"load": "1%", "r.0.algorithm": value}) for value in ("ud", "a=b", "dfs", "minhop")]
        labels = ["r[0].algorithm=ud=up*/down*", "r.0.algorithm=a=b=c", "r.0.algorithm=minhop="]
        self.assertEqual([curve.label for curve in make("latency-throughput", *runs, label=labels).curves],
                         ["up*/down*", "c", "algorithm dfs", ""])
        runs = [run(1, {"case": case, "load": "1%"}) for case in ("four VCs", "one VC")]
        self.assertEqual([curve.label for curve in make("latency-throughput", *runs).curves], ["four VCs", "one VC"])

    def test_completion_goes_along_numbers_at_their_places(self):
        curves = make("completion", run(20, {"size": "4KiB"}), run(10, {"size": "1KiB"}), label=["size=1KiB=small"])
        self.assertEqual((curves.words, curves.axis), (False, "size"))
        self.assertEqual(list(curves.ticks.values()), [("4KiB", 4096), ("small", 1024)])
        self.assertEqual([point.x.mean for point in curves.curves[0].points], [1024, 4096])

    def test_times_on_an_axis_have_the_unit_that_readers_know(self):
        curves = make("completion", run(20, {"delay": "2.5us"}), run(10, {"delay": "30ns"}))
        self.assertEqual(curves.ticks, {"2.5us": ("2.5 µs", 2500), "30ns": ("30 ns", 30)})

    def test_completion_of_words_stands_side_by_side(self):
        curves = make("completion", *(run(1, {"a": a, "file": file}) for a, file in (("x", "one"), ("x", "two"), ("y", "one"))))
        self.assertTrue(curves.words and curves.curves[0].apart)
        self.assertEqual([[point.x.mean for point in curve.points] for curve in curves.curves], [[-0.125, 0.875], [0.125]])

    def test_more_curves_than_can_be_told_apart_are_refused(self):
        runs = [run(1, {"vcs": str(i), "load": "1%"}) for i in range(CURVES_MAX + 1)]
        with self.assertRaisesRegex(Error, "more than 28 curves; select some with --where"):
            make("latency-throughput", *runs)

    def test_the_title_has_what_all_runs_have_in_common(self):
        config = {"topology": "rlft:ports=8,stages=2", "traffic": [{"pattern": "hot-spot"}, {"pattern": "uniform"}, {"pattern": "uniform"}]}
        runs = [run(1, {"load": "1%"}, config=config, seed=seed) for seed in (3, 1)]
        curves = make("link-load", *runs)
        self.assertEqual(curves.network, "fat tree, 4 hosts, hot spot + uniform, 2 seeds")
        self.assertEqual(curves.about["seeds"], "1, 3")
        other = run(1, None, 1, config={"topology": "ring:switches=4", "traffic": [{"pattern": "uniform"}]})
        self.assertEqual(make("link-load", *runs, other, inputs=2).network, "4 hosts, 2 seeds")


def curves_of(kind, count, points=3, seed=1, intervals=True):
    """Drawn curves of a kind, some with intervals that go far outside."""
    draw = random.Random(seed)
    values = lambda high: Interval(high * draw.random(), high * draw.choice((0.01, 1)) * draw.random() if intervals else math.nan)
    high = {"latency-throughput": (1, 1e6), "latency-load": (1, 1e6), "latency-time": (1e7, 1e6)}.get(kind, (1, 1))
    curves = Curves(kind, [Curve(f"curve {i}" if count > 1 else "", [
        Point(values(high[0]), values(high[1]), values(high[1]), draw.random() < 0.5) for _ in range(points)])
        for i in range(count)], intervals=intervals)
    for curve in curves.curves:
        for index, point in enumerate(curve.points):
            if kind not in ("latency-throughput", "throughput-load", "latency-load"):
                point.x = Interval(index + 1)
    curves.ticks = {str(i): (str(i), i) for i in range(1, points + 1)}
    curves.groups = [f"group {i}" for i in range(points + 1)]
    return curves


def legend_box(sheet):
    legend = sheet.figure.legends[0]
    return legend.get_window_extent(sheet.figure.canvas.get_renderer())


KINDS = (*READERS, "latency-load", "latency-time", "bars")


class Drawn(unittest.TestCase):
    def test_the_legend_is_on_the_page_and_covers_no_axes(self):
        for kind, count, size in itertools.product(("latency-throughput", "link-load", "completion", "bars"), (2, 5, CURVES_MAX), ("", "3.4in")):
            page = Page()
            if size and count == CURVES_MAX:
                continue
            if size:
                set_size(page, size)
            with self.subTest(kind=kind, count=count, size=size):
                sheet = draw_sheet(curves_of(kind, count), page)
                sheet.figure.get_layout_engine().execute(sheet.figure)
                box, figure = legend_box(sheet), sheet.figure.bbox
                renderer = sheet.figure.canvas.get_renderer()
                self.assertTrue(figure.x0 <= box.x0 and box.x1 <= figure.x1 and figure.y0 <= box.y0 and box.y1 <= figure.y1)
                for axes in sheet.figure.axes:
                    self.assertFalse(axes.get_tightbbox(renderer).overlaps(box))
                    self.assertGreater(axes.bbox.height, 0.2 * figure.height)

    def test_a_legend_without_room_is_refused(self):
        page = Page()
        set_size(page, "3.4x1.5in")
        draw_sheet(curves_of("throughput-load", 9), page)
        with self.assertRaisesRegex(Error, "the legend does not fit on the page"):
            draw_sheet(curves_of("throughput-load", 18), page)

    def test_all_points_and_intervals_are_inside_the_frame(self):
        for kind, seed in itertools.product(KINDS, range(2)):
            sheet = draw_sheet(curves_of(kind, 3, points=5, seed=seed), Page())
            axes = sheet.objects["ax"]
            (left, right), (low, high) = ((low - abs(low) / 1e6 - 1e-9, high * (1 + 1e-6))
                                          for low, high in (axes.get_xlim(), axes.get_ylim()))
            for line in axes.get_lines():
                for x, y in zip(line.get_xdata(), line.get_ydata()):
                    with self.subTest(kind=kind, seed=seed, x=x, y=y):
                        self.assertTrue(math.isnan(y) or (left <= x <= right and low <= y <= high))

    def test_intervals_of_shares_are_inside_0_to_100_percent(self):
        axis = Axis(100, 0, 100)
        self.assertEqual(axis.ends(Interval(0.5, 0.1)), (10, 10))
        self.assertEqual(axis.ends(Interval(0.95, 0.2)), (20, 5))
        self.assertEqual([round(end, 9) for end in axis.ends(Interval(0.05, 0.2))], [5, 20])
        self.assertEqual(axis.ends(Interval(0.5)), (0, 0))
        self.assertEqual(Axis(1, 7).ends(Interval(10, 8))[0], 3)  # a logarithmic axis that begins at 7

    def test_curves_differ_in_colour_dash_or_mark_and_a_few_in_all_three(self):
        looks = [(colour_of(i % CURVES_MAX), dash_of(i), mark_of(i)) for i in range(2 * CURVES_MAX)]
        self.assertEqual(len(set(looks)), 2 * CURVES_MAX)
        for part in zip(*looks[:6]):
            self.assertEqual(len(set(part)), 6)

    def entries(self, curves):
        return draw_sheet(curves, Page()).objects["ax"].get_legend_handles_labels()[1]

    def test_points_too_short_to_tell_are_half_full_and_the_legend_says_so(self):
        curves = curves_of("throughput-load", 1)
        for point, (hollow, unsure) in zip(curves.curves[0].points, ((True, True), (False, True), (False, False))):
            point.hollow, point.unsure = hollow, unsure
        sheet = draw_sheet(curves, Page())
        fills = [line.get_fillstyle() for line in sheet.objects["ax"].get_lines() if len(line.get_xdata()) == 1]
        self.assertEqual(fills, ["full", "left", "full"])
        self.assertEqual(self.entries(curves)[1:3], ["hollow: saturated or not steady", "half: too short to tell"])
        self.assertEqual([doubts(found) for found in (
            {"saturated": True}, {"steady": False}, {"steady_needs": {"measured_ns": 9}}, {"until": {"reached": False}}, {})],
            [(True, False), (True, False), (False, True), (False, True), (False, False)])

    def test_the_figure_says_what_its_intervals_are(self):
        for kind in ("throughput-load", "efficiency-time", "bars"):
            for intervals in (False, True):
                curves = curves_of(kind, 2, intervals=intervals)
                curves.over = "3 seeds"
                self.assertEqual("95 % t interval, 3 seeds" in self.entries(curves), intervals, kind)
        curves = make("link-load", *(run(1, {"load": "1%"}) for _ in range(3)))
        self.assertEqual((curves.over, curves.about["intervals"]), ("3 seeds", "95 % t interval, 3 seeds"))

    def test_doubtful_points_are_hollow_and_the_legend_says_so(self):
        curves = curves_of("throughput-load", 1)
        for hollow in (False, True):
            curves.curves[0].points[1].hollow = hollow
            curves.curves[0].points[0].hollow = curves.curves[0].points[2].hollow = False
            sheet = draw_sheet(curves, Page())
            faces = [line.get_markerfacecolor() for line in sheet.objects["ax"].get_lines() if line.get_marker() == "o"]
            self.assertEqual("white" in faces, hollow)
            self.assertEqual("hollow: saturated or not steady" in self.entries(curves), hollow)

    def test_points_of_words_are_not_joined(self):
        curves = curves_of("latency-throughput", 1, intervals=False)
        curves.curves[0].apart = True
        self.assertEqual({line.get_linestyle() for line in draw_sheet(curves, Page()).objects["ax"].get_lines()}, {"None"})

    def test_a_curve_without_a_value_is_in_the_legend(self):
        curves = curves_of("throughput-load", 2)
        curves.curves[1].points = []
        self.assertIn("curve 1 (none)", self.entries(curves))

    def test_latencies_far_apart_get_a_logarithmic_axis_and_the_unit_fits(self):
        for first, second, scale, unit in ((3e4, 4e4, "linear", "µs"), (1e3, 1e5, "log", "µs"), (800, 900, "linear", "ns"),
                                           (8e7, 9e7, "linear", "ms")):
            points = [Point(Interval(x), Interval(y), Interval(y / 2)) for x, y in ((0.25, first), (0.5, second))]
            axes = draw_sheet(Curves("latency-throughput", [Curve("", points)]), Page()).objects["ax"]
            self.assertEqual((axes.get_yscale(), axes.get_ylabel()), (scale, f"mean latency [{unit}]"))
        self.assertEqual(unit_for(2e9).name, "s")

    def title(self, page):
        curves = curves_of("link-load", 1)
        curves.network = "ring, 4 hosts"
        return draw_sheet(curves, page).objects["ax"].get_title("left")

    def test_a_narrow_page_has_only_the_title_of_the_user(self):
        page = Page()
        self.assertEqual(self.title(page), "Link load\nring, 4 hosts")
        set_size(page, "3.4in")
        self.assertEqual(self.title(page), "")
        page.title = "it's $mine"
        self.assertEqual(self.title(page), "it's $mine")

    def test_one_run_alone_shows_its_latency_on_the_right(self):
        sheet = draw_sheet(curves_of("efficiency-time", 1), Page())
        self.assertIn("mean network latency", sheet.objects["right"].get_ylabel())
        self.assertEqual(len(draw_sheet(curves_of("efficiency-time", 2), Page()).figure.axes), 1)

    def test_blocked_links_have_the_unit_of_their_clock(self):
        for real, name in ((False, "share of the time [%]"), (True, "stalls [1/s]")):
            curves = curves_of("blocked-time", 1)
            curves.real_clock = real
            self.assertEqual(draw_sheet(curves, Page()).objects["ax"].get_ylabel(), name)


def of_paper(kind, **more):
    points = [Point(Interval(0), Interval(0), Interval(30, 2)), Point(Interval(1), Interval(1), Interval(50), True)]
    curves = Curves(kind, [Curve("a", points), Curve("b", points[:1])], flits=True, normalised=True, intervals=True,
                    groups=["alone", "5% hot"], quantity="time [ms]", network="n")
    for name, value in more.items():
        setattr(curves, name, value)
    return curves


class OfPapers(unittest.TestCase):
    def test_bars_stand_side_by_side_in_their_groups(self):
        sheet = draw_sheet(of_paper("bars"), Page())
        axes = sheet.objects["ax"]
        self.assertEqual([label.get_text() for label in axes.get_xticklabels()], ["alone", "5% hot"])
        self.assertEqual([round(bar.get_x() + bar.get_width() / 2, 6) for bar in axes.patches], [-0.2, 0.8, 0.2])

    def test_bars_of_percent_have_intervals_inside_of_them_and_times_their_sign(self):
        points = [Point(Interval(0), Interval(95, 20))]
        for quantity, high, name in (("load [%]", 100, "load [%]"), ("wait [us]", 115, "wait [µs]")):
            curves = of_paper("bars", quantity=quantity, curves=[Curve("a", points)])
            axes = draw_sheet(curves, Page()).objects["ax"]
            self.assertEqual(axes.containers[0].lines[2][0].get_segments()[0][1][1], high)
            self.assertEqual((axes.get_ylabel(), axes.get_title("left")), (name, f"{name[:4]}\nn"))

    def test_a_map_for_each_curve_has_its_squares_in_their_places(self):
        sheet = draw_sheet(of_paper("maps"), Page())
        squares = sheet.objects["map0"].get_array()
        self.assertEqual((squares[0][0], squares[1][1]), (30, 50))
        self.assertEqual(sheet.objects["map0"].get_clim(), sheet.objects["map1"].get_clim())

    def test_loads_are_in_bits_per_microsecond_if_the_definition_has_a_rate(self):
        sheet = draw_sheet(of_paper("throughput-load", bits_per_us=2000.0), Page())
        self.assertIn("bits/µs", sheet.objects["ax"].get_xlabel())
        self.assertEqual(max(max(line.get_xdata(), default=0) for line in sheet.objects["ax"].get_lines()), 2000)

    def test_normalised_axes_end_above_one(self):
        for kind, name in (("efficiency-time", "network efficiency"), ("throughput-load", "normalised throughput")):
            axes = draw_sheet(of_paper(kind), Page()).objects["ax"]
            self.assertEqual((axes.get_ylabel(), axes.get_ylim()), (name, (0, 1.05)))


if __name__ == "__main__":
    unittest.main()
