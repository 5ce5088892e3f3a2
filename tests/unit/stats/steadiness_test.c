/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Tests for a trend and for a growing backlog, on series with known properties. */

#include "unit.h"

#include <math.h>

#include "base/rng.h"
#include "stats/steadiness.h"

#define COUNT STEADINESS_BATCHES
#define DRAWN 400

struct series {
	double sum[COUNT], weight[COUNT];
};

/* Sum of 12 uniform values: mean 0, deviation 1. */
static double normal(struct rng *rng)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++)
		sum += (double)rng_below(rng, 1000000) / 1e6;
	return sum;
}

/* Values around 1, with deviation 'noise'. Each value depends on the previous one by 'memory', and
 * there is a trend over the whole series. */
static void draw(struct series *series, struct rng *rng, double noise, double memory, double trend)
{
	double state = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		state = memory * state + sqrt(1 - memory * memory) * noise * normal(rng);
		series->weight[i] = (double)(50 + rng_below(rng, 100));
		series->sum[i] =
			series->weight[i] * (1 + state + trend * ((double)i / COUNT - 0.5));
	}
}

static enum verdict steady(const struct series *series)
{
	return steadiness_of(series->sum, series->weight, COUNT).verdict;
}

/* How often each answer is given. */
static void count_answers(unsigned answers[3], double noise, double memory, double trend)
{
	struct series series;
	struct rng rng;

	rng_init(&rng, 7, (uint64_t)(1000 * noise), (uint64_t)(1000 * fabs(trend)));
	answers[0] = answers[1] = answers[2] = 0;
	for (unsigned i = 0; i < DRAWN; i++) {
		draw(&series, &rng, noise, memory, trend);
		answers[steady(&series)]++;
	}
}

UNIT_TEST(mser_cuts_what_is_before_the_level)
{
	double value[100];

	for (unsigned i = 0; i < 100; i++)
		value[i] = (i < 10 ? 10 - (double)i : 0) + (i % 2);
	assert_int_equal(mser5(value, 100), 10);
	/* Constant from the start: no warm-up. */
	for (unsigned i = 0; i < 100; i++)
		value[i] = i % 5;
	assert_int_equal(mser5(value, 100), 0);
	/* Only the last third is level. */
	for (unsigned i = 0; i < 100; i++)
		value[i] = i < 70 ? 70 - (double)i : 0;
	assert_int_equal(mser5(value, 100), 100);
	assert_int_equal(mser5(value, 49), 49);
	assert_int_equal(mser5(value, 0), 0);
}

UNIT_TEST(what_only_varies_is_never_called_unsteady)
{
	static const double noises[] = {0, 0.01, 0.05, 0.2, 1}, memories[] = {0, 0.5, 0.8};
	unsigned answers[3];

	for (unsigned i = 0; i < 5; i++) {
		for (unsigned k = 0; k < 3; k++) {
			count_answers(answers, noises[i], memories[k], 0);
			assert_int_equal(answers[VERDICT_NO], 0);
			if (noises[i] <= 0.05 && memories[k] == 0)
				assert_true(answers[VERDICT_YES] > DRAWN * 9 / 10);
		}
	}
}

UNIT_TEST(a_trend_is_never_called_steady)
{
	static const double trends[] = {0.3, -0.3, 0.5, 1};
	unsigned answers[3];

	for (unsigned i = 0; i < 4; i++) {
		count_answers(answers, 0.05, 0.3, trends[i]);
		assert_true(answers[VERDICT_YES] == 0);
		assert_true(answers[VERDICT_NO] > DRAWN / 2);
	}
}

/* It falls from 2 to 1 within an eighth of the series. */
UNIT_TEST(a_warm_up_needs_a_longer_run)
{
	struct steadiness answer;
	struct series series;
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	draw(&series, &rng, 0.01, 0, 0);
	assert_int_equal(steady(&series), VERDICT_YES);
	for (unsigned i = 0; i < COUNT / 8; i++)
		series.sum[i] *= 2 - 8.0 * i / COUNT;
	answer = steadiness_of(series.sum, series.weight, COUNT);
	assert_int_equal(answer.verdict, VERDICT_UNKNOWN);
	assert_true(answer.needed >= 2 && answer.needed < 8);
}

UNIT_TEST(too_few_batches_give_no_answer)
{
	struct series series;
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	draw(&series, &rng, 0, 0, 0);
	assert_int_equal(steadiness_of(series.sum, series.weight, 31).verdict, VERDICT_UNKNOWN);
	assert_int_equal(steadiness_of(series.sum, series.weight, 32).verdict, VERDICT_YES);
	assert_int_equal(growth_of(series.sum, series.weight, 31).verdict, VERDICT_UNKNOWN);
	for (unsigned i = 0; i < COUNT; i++)
		series.weight[i] = 0;
	assert_int_equal(steadiness_of(series.sum, series.weight, COUNT).verdict, VERDICT_UNKNOWN);
	assert_int_equal(growth_of(series.sum, series.weight, COUNT).verdict, VERDICT_UNKNOWN);
}

/* 100 messages in each batch, of which about 'left' stay behind. */
static enum verdict growth(struct rng *rng, double left)
{
	double more[COUNT], generated[COUNT], backlog = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		double before = backlog;

		generated[i] = 100;
		backlog = left * (i + 1) + 3 * normal(rng);
		more[i] = backlog - before;
	}
	return growth_of(more, generated, COUNT).verdict;
}

UNIT_TEST(a_backlog_grows_from_2_percent_on)
{
	struct rng rng;

	rng_init(&rng, 5, 0, 0);
	for (unsigned i = 0; i < DRAWN; i++) {
		assert_int_not_equal(growth(&rng, 0), VERDICT_YES);
		assert_int_not_equal(growth(&rng, 1.8), VERDICT_YES);
		assert_int_not_equal(growth(&rng, 2.5), VERDICT_NO);
		assert_int_equal(growth(&rng, 10), VERDICT_YES);
	}
}

/* Independent values: 95 of 100 intervals contain the mean. */
UNIT_TEST(the_interval_has_the_mean_in_95_of_100_cases)
{
	struct series series;
	struct rng rng;
	unsigned within = 0;

	rng_init(&rng, 11, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct confidence c;

		draw(&series, &rng, 0.1, 0, 0);
		c = batch_confidence(series.sum, series.weight, COUNT);
		within += fabs(c.mean - 1) <= c.half_width;
	}
	assert_in_range(within, 930, 980);
	assert_true(isnan(batch_confidence(series.sum, series.weight, 31).half_width));
}
