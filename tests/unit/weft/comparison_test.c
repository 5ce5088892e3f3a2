/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "comparison.h"

#include <math.h>
#include <string.h>

#include "unit.h"

enum { X, Y, Z, ALGORITHMS };
#define COPIES 3

static struct experiment_choice network = {.name = "N", .copies = COPIES};
static struct experiment_choice nameless = {.copies = 1};
static struct experiment_choice algorithms[] = {{.name = "X"}, {.name = "Y"}, {.name = "Z"}};

static struct experiment experiment = {
	.tolerance_ppm = 100000,
	.unit_ps = PS_PER_MS,
	.order_ppm = 20000,
	.networks = {&network, 1},
	.cases = {&nameless, 1},
	.algorithms = {algorithms, ALGORITHMS},
};

/* Values of each algorithm on each instance. */
static void measure(struct trial trial[], const double value[ALGORITHMS][COPIES])
{
	memset(trial, 0, ALGORITHMS * COPIES * sizeof(*trial));
	for (unsigned a = 0; a < ALGORITHMS; a++)
		for (unsigned c = 0; c < COPIES; c++)
			trial[a * COPIES + c] = (struct trial){.experiment = &experiment,
				.algorithm = a,
				.copy = c,
				.stage = TRIAL_DONE,
				.value = value[a][c]};
}

static void compare(struct comparison *comparison, struct published_row *row, unsigned rows,
	const struct trial *trial)
{
	struct published published = {row, rows};

	assert_int_equal(
		comparison_make(comparison, &experiment, &published, trial, ALGORITHMS * COPIES),
		0);
}

static const double reached[ALGORITHMS][COPIES] = {{1, 2, 4}, {2, 2, 6}, {1.1, 2.2, 4.4}};

/* On one instance of the network, until end_of_one(). */
static void measure_one(struct trial trial[], json_t *links)
{
	network.copies = 1;
	measure(trial, reached);
	trial[0].links = links;
}

static void end_of_one(struct comparison *comparison, struct trial trial[])
{
	comparison_fini(comparison);
	json_decref(trial[0].links);
	network.copies = COPIES;
}

UNIT_TEST(a_factor_is_the_mean_over_the_instances_of_each_ones_ratio)
{
	struct published_row row = {
		.algorithm = Y, .over = X, .has_over = true, .min = 1, .max = 2, .mean = 1.6};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure(trial, reached);
	compare(&comparison, &row, 1, trial);
	assert_int_equal(comparison.row[0].instances, 3);
	assert_true(fabs(comparison.row[0].mean - 1.5) < 1e-9); /* not 10 / 7 */
	assert_true(comparison.row[0].min == 1 && comparison.row[0].max == 2);
	assert_true(fabs(comparison.row[0].ratio - 1.5 / 1.6) < 1e-9);
	assert_true(comparison_good(&comparison));
	comparison_fini(&comparison);
}

UNIT_TEST(a_mean_away_by_more_than_the_tolerance_is_missed)
{
	struct published_row row = {.algorithm = Y, .over = X, .has_over = true, .mean = 1.7};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure(trial, reached);
	compare(&comparison, &row, 1, trial);
	assert_int_equal(comparison.missed, 1);
	assert_false(comparison_good(&comparison));
	comparison_fini(&comparison);
}

UNIT_TEST(an_increase_is_judged_by_what_it_makes_of_the_whole)
{
	struct published_row row = {.quantity = PUBLISHED_PERCENT,
		.algorithm = Z,
		.over = X,
		.has_over = true,
		.mean = 3};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure(trial, reached);
	compare(&comparison, &row, 1, trial);
	assert_true(fabs(comparison.row[0].mean - 10) < 1e-9);
	assert_true(fabs(comparison.row[0].ratio - 110.0 / 103) < 1e-9);
	assert_true(comparison_good(&comparison));
	comparison_fini(&comparison);
}

UNIT_TEST(an_order_that_is_not_the_published_one_is_missed)
{
	struct published_row rows[] = {{.algorithm = Y, .over = X, .has_over = true, .mean = 1.50},
		{.algorithm = Z, .over = X, .has_over = true, .mean = 1.10},
		/* Too near each other to have an order. */
		{.quantity = PUBLISHED_PERCENT,
			.algorithm = Y,
			.over = Z,
			.has_over = true,
			.mean = 36},
		{.quantity = PUBLISHED_PERCENT,
			.algorithm = X,
			.over = Z,
			.has_over = true,
			.mean = 36.5}};
	static const double other[ALGORITHMS][COPIES] = {{1, 2, 4}, {1, 2, 4}, {1.1, 2.2, 4.4}};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure(trial, reached);
	compare(&comparison, rows, 4, trial);
	assert_int_equal(comparison.orders, 1);
	assert_int_equal(comparison.wrongs, 0);
	comparison_fini(&comparison);
	measure(trial, other);
	compare(&comparison, rows, 4, trial);
	assert_int_equal(comparison.wrongs, 1);
	assert_int_equal(comparison.wrong[0].greater, 0);
	assert_int_equal(comparison.wrong[0].less, 1);
	comparison_fini(&comparison);
}

UNIT_TEST(absolute_values_and_what_was_not_printed_are_not_judged)
{
	struct published_row rows[] = {
		{.quantity = PUBLISHED_VALUE, .algorithm = X, .over = ALGORITHMS, .mean = 100},
		{.algorithm = Y, .over = X, .has_over = true, .min = NAN, .max = NAN, .mean = NAN}};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure(trial, reached);
	compare(&comparison, rows, 2, trial);
	assert_false(comparison.row[0].checked || comparison.row[1].checked);
	assert_true(comparison_good(&comparison));
	comparison_fini(&comparison);
}

UNIT_TEST(a_row_that_lacks_an_instance_is_missed_however_near)
{
	struct published_row row = {.algorithm = Y, .over = X, .has_over = true, .mean = 2};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure(trial, reached);
	trial[X * COPIES + 1].stage = TRIAL_FAILED;
	trial[Y * COPIES + 2].stage = TRIAL_FAILED;
	compare(&comparison, &row, 1, trial);
	assert_int_equal(comparison.row[0].instances, 1);
	assert_int_equal(comparison.row[0].wanted, COPIES);
	assert_true(fabs(comparison.row[0].ratio - 1) < 1e-9);
	assert_false(comparison.row[0].within);
	assert_int_equal(comparison.missed, 1);
	comparison_fini(&comparison);
	trial[Y * COPIES].stage = TRIAL_FAILED;
	compare(&comparison, &row, 1, trial);
	assert_int_equal(comparison.row[0].instances, 0);
	assert_int_equal(comparison.missed, 1);
	comparison_fini(&comparison);
}

UNIT_TEST(a_row_that_is_not_judged_is_missed_if_it_lacks_an_instance)
{
	struct published_row row = {.quantity = PUBLISHED_VALUE, .algorithm = X, .mean = 100};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure(trial, reached);
	trial[X * COPIES + 1].value = NAN;
	compare(&comparison, &row, 1, trial);
	assert_int_equal(comparison.row[0].instances, 2);
	assert_int_equal(comparison.missed, 1);
	comparison_fini(&comparison);
}

UNIT_TEST(rows_that_lack_instances_have_no_order)
{
	struct published_row rows[] = {{.algorithm = Y, .over = X, .has_over = true, .mean = 1.10},
		{.algorithm = Z, .over = X, .has_over = true, .mean = 1.50}};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure(trial, reached);
	trial[Z * COPIES].stage = TRIAL_FAILED;
	compare(&comparison, rows, 2, trial);
	assert_int_equal(comparison.orders, 0);
	comparison_fini(&comparison);
}

UNIT_TEST(a_failed_trial_that_no_row_wants_is_not_good_either)
{
	struct published_row row = {.algorithm = Y, .over = X, .has_over = true, .mean = 1.6};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure(trial, reached);
	trial[Z * COPIES].stage = TRIAL_FAILED;
	compare(&comparison, &row, 1, trial);
	assert_int_equal(comparison.missed, 0);
	assert_int_equal(comparison.failed, 1);
	assert_false(comparison_good(&comparison));
	comparison_fini(&comparison);
}

UNIT_TEST(a_claim_is_judged_by_its_bounds)
{
	struct published_row rows[] = {
		{.quantity = PUBLISHED_VALUE, .algorithm = X, .min = 2, .max = NAN, .mean = NAN},
		{.quantity = PUBLISHED_VALUE, .algorithm = X, .min = NAN, .max = 2, .mean = NAN},
		{.algorithm = Y, .over = X, .has_over = true, .min = 1.51, .max = NAN, .mean = NAN},
		{.algorithm = Y, .over = X, .has_over = true, .min = 1.6, .max = NAN, .mean = NAN}};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure(trial, reached);
	compare(&comparison, rows, 4, trial);
	for (unsigned i = 0; i < 4; i++)
		assert_true(comparison.row[i].checked);
	assert_true(comparison.row[0].within);
	assert_false(comparison.row[1].within);
	assert_true(comparison.row[2].within); /* 1.5: as good, within the share for orders */
	assert_false(comparison.row[3].within);
	assert_true(fabs(comparison.row[3].ratio - 1.5 / 1.6) < 1e-9);
	assert_int_equal(comparison.missed, 2);
	comparison_fini(&comparison);
}

UNIT_TEST(a_course_is_judged_at_its_moments)
{
	struct transient_sample sample[] = {{1e6, 0.9}, {2e6, 0.9}, {3e6, 0.1}, {4e6, 0.8}};
	struct published_row rows[] = {
		{.quantity = PUBLISHED_MINIMUM, .over = Z, .min = NAN, .max = NAN, .mean = 0.1},
		{.quantity = PUBLISHED_AT, .limit = 2, .min = 0.7, .max = NAN, .mean = NAN},
		{.quantity = PUBLISHED_END, .min = NAN, .max = 0.5, .mean = NAN},
		{.quantity = PUBLISHED_BACK, .min = NAN, .max = 2, .mean = NAN},
		{.quantity = PUBLISHED_BEFORE,
			.over = Y,
			.has_over = true,
			.min = NAN,
			.max = NAN,
			.mean = 1}};
	static const bool within[] = {true, true, false, true, true};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure_one(trial, NULL);
	for (unsigned i = 0; i < ALGORITHMS * COPIES; i++)
		trial[i].transient = (struct transient){2e6, 4e6, 0.85, sample, 4};
	compare(&comparison, rows, 5, trial);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(comparison.row[i].checked);
		assert_int_equal(comparison.row[i].within, within[i]);
	}
	assert_true(fabs(comparison.row[3].mean - 1) < 1e-9);
	end_of_one(&comparison, trial);
}

/* Of cases: X is 1 in the first and 2 in the second. */
UNIT_TEST(a_slowdown_is_over_the_same_algorithm_in_the_other_case)
{
	struct published_row row = {.quantity = PUBLISHED_SLOWDOWN,
		.case_at = 1,
		.over = 0,
		.has_over = true,
		.min = NAN,
		.max = 1.5,
		.mean = NAN};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure_one(trial, NULL);
	trial[1].copy = 0;
	trial[1].case_at = 1;
	compare(&comparison, &row, 1, trial);
	assert_true(fabs(comparison.row[0].mean - 2) < 1e-9);
	assert_int_equal(comparison.missed, 1);
	end_of_one(&comparison, trial);
}

/* Two between switches, used 40 and 5 % and blocked 20 and 0 %, and one from a host. */
static json_t *some_links(void)
{
	return json_pack("[{s:s,s:s,s:f,s:f},{s:s,s:s,s:f,s:f},{s:s,s:s,s:f,s:f}]", "from", "s0:1",
		"to", "s1:2", "utilisation", 0.4, "blocked", 0.2, "from", "s1:2", "to", "s0:1",
		"utilisation", 0.05, "blocked", 0., "from", "h0:0", "to", "s0:0", "utilisation",
		0.9, "blocked", 0.8);
}

UNIT_TEST(links_between_switches_are_looked_at)
{
	struct published_row rows[] = {{.quantity = PUBLISHED_LINK_MAX, .mean = 50},
		{.quantity = PUBLISHED_LINK_MIN, .mean = 1},
		{.quantity = PUBLISHED_LINK_BELOW, .limit = 10, .mean = 64},
		{.quantity = PUBLISHED_LINK_ABOVE, .limit = 4, .mean = 64}};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure_one(trial, some_links());
	compare(&comparison, rows, 4, trial);
	assert_true(fabs(comparison.row[0].mean - 40) < 1e-9);
	assert_true(fabs(comparison.row[1].mean - 5) < 1e-9);
	assert_true(fabs(comparison.row[2].mean - 50) < 1e-9);
	assert_true(fabs(comparison.row[3].mean - 100) < 1e-9);
	end_of_one(&comparison, trial);
}

UNIT_TEST(blocked_time_is_that_of_links_between_switches)
{
	struct published_row rows[] = {{.quantity = PUBLISHED_LINK_MAX, .mean = 50},
		{.quantity = PUBLISHED_LINK_BELOW, .limit = 10, .mean = 64}};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	experiment.measure = EXPERIMENT_BLOCKED;
	measure_one(trial, some_links());
	compare(&comparison, rows, 2, trial);
	assert_true(fabs(comparison.row[0].mean - 20) < 1e-9);
	assert_true(fabs(comparison.row[1].mean - 50) < 1e-9);
	end_of_one(&comparison, trial);
	experiment.measure = EXPERIMENT_SATURATION;
}

/* The thesis shows the links of one network, which it does not print. */
UNIT_TEST(a_bound_of_links_has_the_tolerance_of_a_mean)
{
	struct published_row rows[] = {
		{.quantity = PUBLISHED_LINK_MAX, .min = 44, .max = NAN, .mean = NAN},
		{.quantity = PUBLISHED_LINK_MAX, .min = 45, .max = NAN, .mean = NAN},
		{.quantity = PUBLISHED_LINK_MAX, .min = NAN, .max = 36, .mean = NAN}};
	struct trial trial[ALGORITHMS * COPIES];
	struct comparison comparison;

	measure_one(trial, some_links());
	compare(&comparison, rows, 3, trial);
	assert_true(comparison.row[0].within);
	assert_false(comparison.row[1].within);
	assert_false(comparison.row[2].within);
	end_of_one(&comparison, trial);
}

UNIT_MAIN(NULL, NULL)
