/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "reproduce_curves.h"

#include <math.h>
#include <stdlib.h>

#include "unit.h"

enum { FULL, LACKING, CASES };

static struct experiment_choice network = {.name = "N", .copies = EXPERIMENT_COPIES};
static struct experiment_choice cases[] = {{.name = "full"}, {.name = "lacking"}};
static struct experiment_choice algorithm = {.name = "X"};

static struct experiment experiment = {
	.networks = {&network, 1}, .cases = {cases, CASES}, .algorithms = {&algorithm, 1}};

static struct trial trial[CASES * EXPERIMENT_COPIES];
static struct trial_point point;

/* As many instances as there can be; in the case LACKING the first of them have no value. */
static void measure(unsigned missing)
{
	for (unsigned i = 0; i < CASES * EXPERIMENT_COPIES; i++)
		trial[i] = (struct trial){.experiment = &experiment,
			.case_at = i / EXPERIMENT_COPIES,
			.copy = i % EXPERIMENT_COPIES,
			.stage = TRIAL_DONE,
			.point = &point,
			.points = 1,
			.value = i % EXPERIMENT_COPIES};
	for (unsigned i = 0; i < missing; i++)
		trial[LACKING * EXPERIMENT_COPIES + i].value = NAN;
}

static void assert_bars(unsigned groups, const char *label)
{
	struct figure_curve curve = {.points = 0};
	struct figure curves = {.kind = FIGURE_BARS, .curve = &curve, .groups = groups};

	assert_int_equal(reproduce_bars(&curves, trial, CASES * EXPERIMENT_COPIES, 0, 0), 0);
	assert_int_equal(curves.curves, 1);
	assert_int_equal(curve.points, groups);
	assert_string_equal(curve.label, label);
	free(curve.point);
}

UNIT_TEST(bars_of_as_many_instances_as_there_can_be_have_a_label)
{
	measure(0);
	assert_bars(CASES, "X");
}

UNIT_TEST(the_label_of_bars_is_of_the_case_that_misses_most)
{
	measure(3);
	assert_bars(CASES, "X (97 of 100)");
}

/* 0.4 % less than offered: more than 1 / sqrt(200000), less than 1 / sqrt(20000). */
static bool is_hollow(uint64_t messages)
{
	struct experiment search = {.measure = EXPERIMENT_SATURATION, .messages = messages};
	struct trial_point one = {.load = 0.1, .offered = 1, .accepted = 0.996, .traffic = 0.1};
	struct trial searching = {.experiment = &search, .point = &one, .points = 1};
	struct reproduce_bundle bundle = {.trial = {&searching}, .count = 1, .wanted = 1};
	struct figure_curve curve = {.points = 0};
	bool hollow;

	assert_int_equal(reproduce_curve(&curve, FIGURE_LATENCY_THROUGHPUT, &bundle), 0);
	assert_int_equal(curve.points, 1);
	hollow = curve.point[0].hollow;
	free(curve.point);
	return hollow;
}

UNIT_TEST(a_point_of_a_search_is_hollow_where_the_search_ends)
{
	assert_true(is_hollow(200000));
	assert_false(is_hollow(20000));
}

UNIT_MAIN(NULL, NULL)
