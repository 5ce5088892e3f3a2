/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "stats/histogram.h"

#include <math.h>

#include "base/rng.h"
#include "unit.h"

#define SAMPLES 20000

struct fixture {
	struct histogram histogram, other;
	uint64_t sample[SAMPLES];
};

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state == NULL;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

/* Values of all sizes, equally many for each power of two. */
static uint64_t any_size(struct rng *rng)
{
	return rng_next(rng) >> rng_below(rng, 64);
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void record_all(struct fixture *fixture, uint64_t seed)
{
	struct rng rng;

	rng_init(&rng, seed, 0, 0);
	for (unsigned i = 0; i < SAMPLES; i++) {
		fixture->sample[i] = any_size(&rng);
		histogram_record(&fixture->histogram, fixture->sample[i]);
	}
	qsort(fixture->sample, SAMPLES, sizeof(fixture->sample[0]), compare);
}

#define TEST(name) UNIT_BED(name, set_up, tear_down, struct fixture *fixture)

TEST(each_value_has_a_bucket_and_greater_values_none_before)
{
	unsigned last = 0;

	for (unsigned shift = 0; shift < 64; shift++) {
		uint64_t power = (uint64_t)1 << shift;

		assert_in_range(histogram_index(power - 1), last, last + 1);
		assert_in_range(
			histogram_index(power), histogram_index(power - 1), HISTOGRAM_BUCKETS - 1);
		last = histogram_index(power + power / 2);
		assert_in_range(last, histogram_index(power), HISTOGRAM_BUCKETS - 1);
		last = histogram_index(power + (power - 1));
	}
	assert_int_equal(histogram_index(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

TEST(quantiles_are_never_too_low_and_within_the_promised_error)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		histogram_reset(&fixture->histogram);
		record_all(fixture, seed);
		for (unsigned i = 1; i < 1000; i++) {
			uint64_t exact = fixture->sample[i * SAMPLES / 1000 - 1];
			uint64_t found = histogram_quantile(&fixture->histogram, i / 1000.0);

			assert_true(found >= exact);
			assert_true(found - exact <= exact / 64);
		}
	}
}

TEST(small_values_are_exact)
{
	for (unsigned value = 0; value < 100; value++)
		histogram_record(&fixture->histogram, value);
	assert_int_equal(histogram_quantile(&fixture->histogram, 0.5), 49);
	assert_int_equal(histogram_quantile(&fixture->histogram, 0.01), 0);
	assert_int_equal(histogram_quantile(&fixture->histogram, 0.99), 98);
}

TEST(the_greatest_quantile_is_the_exact_maximum)
{
	record_all(fixture, 11);
	assert_true(histogram_quantile(&fixture->histogram, 1.0) == fixture->sample[SAMPLES - 1]);
}

TEST(no_quantile_exceeds_the_maximum)
{
	histogram_record(&fixture->histogram, 1000000);
	assert_true(histogram_quantile(&fixture->histogram, 0.999) <= 1000000);
}

TEST(an_empty_histogram_gives_zeros)
{
	assert_int_equal(histogram_quantile(&fixture->histogram, 0.5), 0);
	assert_int_equal(histogram_quantile(&fixture->histogram, 1.0), 0);
	assert_true(histogram_mean(&fixture->histogram) == 0);
	assert_true(histogram_stddev(&fixture->histogram) == 0);
}

TEST(the_mean_is_exact_and_the_deviation_within_the_promised_error)
{
	double sum = 0, squares = 0, mean;
	struct rng rng;

	rng_init(&rng, 12, 0, 0);
	for (unsigned i = 0; i < SAMPLES; i++) {
		uint64_t value = 1000 + rng_below(&rng, 100000);

		histogram_record(&fixture->histogram, value);
		sum += (double)value;
		squares += (double)value * (double)value;
	}
	mean = sum / SAMPLES;
	assert_true(histogram_mean(&fixture->histogram) == mean);
	squares = sqrt(squares / SAMPLES - mean * mean);
	assert_true(fabs(histogram_stddev(&fixture->histogram) - squares) < 0.01 * squares);
}

TEST(values_that_are_all_equal_deviate_by_nothing)
{
	for (unsigned i = 0; i < 7; i++)
		histogram_record(&fixture->histogram, 17120);
	assert_true(histogram_mean(&fixture->histogram) == 17120);
	assert_true(histogram_stddev(&fixture->histogram) == 0);
}

TEST(merging_equals_recording_everything_in_one)
{
	static struct histogram all;
	struct rng rng;

	rng_init(&rng, 13, 0, 0);
	histogram_reset(&all);
	for (unsigned i = 0; i < SAMPLES; i++) {
		uint64_t value = any_size(&rng);

		histogram_record(i % 3 == 0 ? &fixture->histogram : &fixture->other, value);
		histogram_record(&all, value);
	}
	histogram_merge(&fixture->histogram, &fixture->other);
	assert_memory_equal(&fixture->histogram, &all, sizeof(all));
}

TEST(the_upper_end_of_a_step_is_its_last_value)
{
	for (unsigned i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
		assert_int_equal(histogram_index(histogram_upper(i)), i);
		assert_int_equal(histogram_index(histogram_upper(i) + 1), i + 1);
	}
	assert_true(histogram_upper(HISTOGRAM_BUCKETS - 1) == UINT64_MAX);
}
