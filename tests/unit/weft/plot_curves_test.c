/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Which results make a curve, and what its legend says. */

#include "unit.h"

#include <math.h>
#include <string.h>

#include "plot_curves.h"

#define RUNS_MAX 16

struct bench {
	struct plot_runs runs;
	struct plot_run run[RUNS_MAX];
	struct plot_value value[RUNS_MAX][2];
	char *input[2];
	struct plot_curves curves;
	struct fault fault;
};

static void begin(struct bench *bench, enum plot_kind kind)
{
	static char first[] = "a", second[] = "b";

	memset(bench, 0, sizeof(*bench));
	bench->input[0] = first;
	bench->input[1] = second;
	bench->runs = (struct plot_runs){
		.kind = kind, .run = bench->run, .input = bench->input, .inputs = 1};
}

/* A run of one value, or of two for 'second' other than 0. */
static void add(struct bench *bench, unsigned input, const char *vary, double first, double second)
{
	unsigned i = bench->runs.runs++;

	bench->value[i][0] = (struct plot_value){1, first, first / 2};
	bench->value[i][1] = (struct plot_value){2, second, second / 2};
	bench->run[i] = (struct plot_run){.input = input,
		.vary = vary != NULL ? json_loads(vary, 0, NULL) : NULL,
		.topology = "t",
		.value = bench->value[i],
		.values = second != 0 ? 2 : 1};
	if (input + 1 > bench->runs.inputs)
		bench->runs.inputs = input + 1;
}

static int make(struct bench *bench, const char *along)
{
	return plot_curves_make(&bench->curves, &bench->runs, along, &bench->fault);
}

static void end(struct bench *bench)
{
	plot_curves_fini(&bench->curves);
	for (unsigned i = 0; i < bench->runs.runs; i++)
		json_decref(bench->run[i].vary);
}

static void assert_curve(
	const struct bench *bench, unsigned i, const char *label, unsigned points, double last)
{
	const struct plot_curve *curve = &bench->curves.curve[i];

	assert_true(i < bench->curves.curves);
	assert_string_equal(curve->label, label);
	assert_int_equal(curve->points, points);
	assert_true(curve->point[points - 1].y.mean == last);
	assert_true(curve->point[points - 1].y2.mean == last / 2);
}

UNIT_TEST(a_curve_goes_along_the_load)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_THROUGHPUT);
	add(&bench, 0, "{\"t.0.load\": \"1%\", \"r.algorithm\": \"ud\"}", 10, 0);
	add(&bench, 0, "{\"t.0.load\": \"1%\", \"r.algorithm\": \"dfs\"}", 20, 0);
	add(&bench, 0, "{\"t.0.load\": \"2%\", \"r.algorithm\": \"ud\"}", 30, 0);
	add(&bench, 0, "{\"t.0.load\": \"2%\", \"r.algorithm\": \"dfs\"}", 40, 0);
	assert_int_equal(make(&bench, NULL), 0);
	assert_int_equal(bench.curves.curves, 2);
	assert_curve(&bench, 0, "algorithm ud", 2, 30);
	assert_curve(&bench, 1, "algorithm dfs", 2, 40);
	assert_false(bench.curves.intervals);
	end(&bench);
}

UNIT_TEST(it_goes_along_another_key_if_asked)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_THROUGHPUT);
	add(&bench, 0, "{\"t.0.load\": \"1%\", \"switch.vcs\": \"1\"}", 10, 0);
	add(&bench, 0, "{\"t.0.load\": \"1%\", \"switch.vcs\": \"2\"}", 20, 0);
	assert_int_equal(make(&bench, "switch.vcs"), 0);
	assert_int_equal(bench.curves.curves, 1);
	assert_curve(&bench, 0, "", 2, 20);
	plot_curves_fini(&bench.curves);
	assert_int_equal(make(&bench, "t[0].load"), 0);
	assert_int_equal(bench.curves.curves, 2);
	plot_curves_fini(&bench.curves);
	assert_int_equal(make(&bench, "nothing"), -EINVAL);
	assert_string_equal(bench.fault.text, "--along nothing: no sweep here varies that key");
	end(&bench);
}

UNIT_TEST(without_a_load_it_goes_along_the_last_key)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_THROUGHPUT);
	add(&bench, 0, "{\"a.x\": \"1\", \"b.x\": \"1\"}", 10, 0);
	add(&bench, 0, "{\"a.x\": \"1\", \"b.x\": \"2\"}", 20, 0);
	add(&bench, 0, "{\"a.x\": \"2\", \"b.x\": \"1\"}", 30, 0);
	assert_int_equal(make(&bench, NULL), 0);
	assert_int_equal(bench.curves.curves, 2);
	/* Both keys end in x: the legend has all of it. */
	assert_curve(&bench, 0, "a.x 1", 2, 20);
	assert_curve(&bench, 1, "a.x 2", 1, 30);
	end(&bench);
}

UNIT_TEST(seeds_become_a_mean_with_its_interval)
{
	struct bench bench;

	begin(&bench, PLOT_EFFICIENCY_TIME);
	add(&bench, 0, "{\"load\": \"1%\"}", 1, 10);
	add(&bench, 0, "{\"load\": \"1%\"}", 2, 20);
	add(&bench, 0, "{\"load\": \"1%\"}", 3, 0); /* a shorter one */
	assert_int_equal(make(&bench, NULL), 0);
	assert_int_equal(bench.curves.curves, 1);
	assert_curve(&bench, 0, "", 1, 2);
	assert_true(bench.curves.intervals);
	assert_int_equal(bench.curves.curve[0].point[0].y.count, 3);
	assert_true(fabs(bench.curves.curve[0].point[0].y.half_width - 4.302653 / sqrt(3)) < 1e-5);
	end(&bench);
}

UNIT_TEST(a_run_over_time_is_a_curve_for_each_load)
{
	struct bench bench;

	begin(&bench, PLOT_EFFICIENCY_TIME);
	add(&bench, 0, "{\"load\": \"1%\"}", 1, 10);
	add(&bench, 0, "{\"load\": \"2%\"}", 2, 20);
	assert_int_equal(make(&bench, NULL), 0);
	assert_int_equal(bench.curves.curves, 2);
	assert_curve(&bench, 1, "load 2%", 2, 20);
	end(&bench);
}

UNIT_TEST(inputs_are_curves_with_their_names)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_THROUGHPUT);
	add(&bench, 0, NULL, 10, 0);
	add(&bench, 1, "{\"load\": \"1%\", \"vcs\": \"1\"}", 20, 0);
	add(&bench, 1, "{\"load\": \"1%\", \"vcs\": \"2\"}", 30, 0);
	assert_int_equal(make(&bench, NULL), 0);
	assert_int_equal(bench.curves.curves, 3);
	assert_curve(&bench, 0, "a", 1, 10);
	assert_curve(&bench, 1, "b, vcs 1", 1, 20);
	assert_curve(&bench, 2, "b, vcs 2", 1, 30);
	end(&bench);
}

UNIT_TEST(equal_points_of_two_sweeps_are_not_seeds_of_one)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_THROUGHPUT);
	add(&bench, 0, "{\"load\": \"1%\"}", 10, 0);
	add(&bench, 1, "{\"load\": \"1%\"}", 20, 0);
	assert_int_equal(make(&bench, NULL), 0);
	assert_int_equal(bench.curves.curves, 2);
	assert_false(bench.curves.intervals);
	end(&bench);
}

UNIT_TEST(blocked_links_of_two_clocks_cannot_be_compared)
{
	struct bench bench;

	begin(&bench, PLOT_BLOCKED_TIME);
	add(&bench, 0, NULL, 10, 0);
	add(&bench, 1, NULL, 20, 0);
	bench.run[1].real_clock = true;
	assert_int_equal(make(&bench, NULL), -EINVAL);
	end(&bench);
	bench.runs.kind = PLOT_LINK_LOAD;
	assert_int_equal(make(&bench, NULL), 0);
	plot_curves_fini(&bench.curves);
}

UNIT_TEST(a_point_is_hollow_if_a_run_of_it_is_doubtful)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_THROUGHPUT);
	add(&bench, 0, "{\"load\": \"1%\"}", 10, 0);
	add(&bench, 0, "{\"load\": \"2%\"}", 10, 0);
	bench.value[1][0].doubtful = true;
	add(&bench, 0, "{\"load\": \"3%\"}", 10, 0);
	add(&bench, 0, "{\"load\": \"3%\"}", 10, 0);
	bench.value[3][0].doubtful = true;
	assert_int_equal(make(&bench, NULL), 0);
	assert_int_equal(bench.curves.curve[0].points, 3);
	assert_false(bench.curves.curve[0].point[0].hollow);
	assert_true(bench.curves.curve[0].point[1].hollow);
	assert_true(bench.curves.curve[0].point[2].hollow);
	end(&bench);
}

UNIT_TEST(points_are_joined_in_the_order_of_their_numbers)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_THROUGHPUT);
	add(&bench, 0, "{\"size\": \"1KiB\"}", 20, 0);
	add(&bench, 0, "{\"size\": \"2KiB\"}", 30, 0);
	add(&bench, 0, "{\"size\": \"512B\"}", 10, 0);
	assert_int_equal(make(&bench, NULL), 0);
	assert_true(bench.curves.curve[0].point[0].y.mean == 10);
	assert_true(bench.curves.curve[0].point[2].y.mean == 30);
	assert_false(bench.curves.curve[0].apart);
	end(&bench);
}

UNIT_TEST(words_stand_apart_in_the_order_of_the_sweep)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_THROUGHPUT);
	add(&bench, 0, "{\"algorithm\": \"ud\"}", 20, 0);
	add(&bench, 0, "{\"algorithm\": \"dfs\"}", 10, 0);
	assert_int_equal(make(&bench, NULL), 0);
	assert_true(bench.curves.curve[0].apart);
	assert_true(bench.curves.curve[0].point[0].y.mean == 20);
	end(&bench);
}

UNIT_TEST(steps_of_all_seeds_make_one_distribution)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_CDF);
	add(&bench, 0, "{\"load\": \"1%\"}", 3, 1); /* 3 values to 1, 1 to 2 */
	add(&bench, 0, "{\"load\": \"1%\"}", 1, 0);
	add(&bench, 0, "{\"load\": \"1%\"}", 5, 0);
	bench.value[2][0].x = 1.5;
	assert_int_equal(make(&bench, NULL), 0);
	assert_int_equal(bench.curves.curves, 1);
	assert_int_equal(bench.curves.curve[0].points, 3);
	assert_true(bench.curves.curve[0].point[0].y.mean == 0.4);
	assert_true(bench.curves.curve[0].point[1].x.mean == 1.5);
	assert_true(bench.curves.curve[0].point[1].y.mean == 0.9);
	assert_true(bench.curves.curve[0].point[2].y.mean == 1);
	assert_false(bench.curves.intervals);
	end(&bench);
}

UNIT_TEST(a_label_stands_for_its_value)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_THROUGHPUT);
	bench.runs.label[0] = "r[0].algorithm=ud=up*/down*";
	bench.runs.label[1] = "r.0.algorithm=a=b=c";
	bench.runs.labels = 2;
	add(&bench, 0, "{\"load\": \"1%\", \"r.0.algorithm\": \"ud\"}", 10, 0);
	add(&bench, 0, "{\"load\": \"1%\", \"r.0.algorithm\": \"a=b\"}", 20, 0);
	add(&bench, 0, "{\"load\": \"1%\", \"r.0.algorithm\": \"dfs\"}", 30, 0);
	assert_int_equal(make(&bench, NULL), 0);
	assert_curve(&bench, 0, "up*/down*", 1, 10);
	assert_curve(&bench, 1, "c", 1, 20);
	assert_curve(&bench, 2, "algorithm dfs", 1, 30);
	end(&bench);
}

UNIT_TEST(cases_are_called_by_their_names)
{
	struct bench bench;

	begin(&bench, PLOT_LATENCY_THROUGHPUT);
	add(&bench, 0, "{\"case\": \"four VCs\", \"load\": \"1%\"}", 10, 0);
	add(&bench, 0, "{\"case\": \"one VC\", \"load\": \"1%\"}", 20, 0);
	assert_int_equal(make(&bench, NULL), 0);
	assert_curve(&bench, 0, "four VCs", 1, 10);
	assert_curve(&bench, 1, "one VC", 1, 20);
	end(&bench);
}

UNIT_TEST(completion_goes_along_numbers_at_their_places)
{
	struct bench bench;

	begin(&bench, PLOT_COMPLETION);
	bench.runs.label[0] = "size=1KiB=small";
	bench.runs.labels = 1;
	add(&bench, 0, "{\"size\": \"4KiB\"}", 20, 0);
	add(&bench, 0, "{\"size\": \"1KiB\"}", 10, 0);
	assert_int_equal(make(&bench, NULL), 0);
	assert_false(bench.curves.words);
	assert_string_equal(bench.curves.axis, "size");
	assert_int_equal(bench.curves.ticks, 2);
	assert_string_equal(bench.curves.tick[1].text, "small");
	assert_true(bench.curves.tick[1].at == 1024);
	assert_true(bench.curves.curve[0].point[0].x.mean == 1024);
	assert_true(bench.curves.curve[0].point[1].x.mean == 4096);
	end(&bench);
}

UNIT_TEST(completion_of_words_stands_side_by_side)
{
	struct bench bench;

	begin(&bench, PLOT_COMPLETION);
	add(&bench, 0, "{\"a\": \"x\", \"file\": \"one\"}", 10, 0);
	add(&bench, 0, "{\"a\": \"x\", \"file\": \"two\"}", 20, 0);
	add(&bench, 0, "{\"a\": \"y\", \"file\": \"one\"}", 30, 0);
	assert_int_equal(make(&bench, NULL), 0);
	assert_true(bench.curves.words);
	assert_int_equal(bench.curves.curves, 2);
	assert_true(bench.curves.curve[0].apart);
	assert_true(bench.curves.curve[0].point[0].x.mean == -0.125);
	assert_true(bench.curves.curve[0].point[1].x.mean == 0.875);
	assert_true(bench.curves.curve[1].point[0].x.mean == 0.125);
	end(&bench);
}

UNIT_TEST(only_some_kinds_go_along_a_key)
{
	struct bench bench;

	begin(&bench, PLOT_LINK_LOAD);
	add(&bench, 0, "{\"load\": \"1%\"}", 10, 0);
	assert_int_equal(make(&bench, "load"), -EINVAL);
	assert_string_equal(bench.fault.text,
		"--along load: goes with latency-throughput, throughput-load and completion");
	end(&bench);
}

UNIT_MAIN(NULL, NULL)
