/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "base/rng.h"

#include "unit.h"

UNIT_TEST(the_same_stream_gives_the_same_numbers)
{
	struct rng a, b;

	rng_init(&a, 7, 3, 1);
	rng_init(&b, 7, 3, 1);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(rng_next(&a) == rng_next(&b));
}

/* Drawing from one stream does not affect another, because its numbers depend only on its own
 * counter. */
UNIT_TEST(number_n_does_not_depend_on_what_others_draw)
{
	struct rng alone, mixed, other;
	uint64_t wanted = 0, got = 0;

	rng_init(&alone, 7, 3, 1);
	rng_init(&mixed, 7, 3, 1);
	rng_init(&other, 7, 3, 2);
	for (unsigned i = 0; i < 100; i++)
		wanted = rng_next(&alone);
	for (unsigned i = 0; i < 100; i++) {
		rng_next(&other);
		got = rng_next(&mixed);
	}
	assert_true(got == wanted);
}

/* The values are an interface: they make results of earlier versions reproducible. */
UNIT_TEST(the_numbers_are_those_of_the_first_version)
{
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	assert_true(rng_next(&rng) == UINT64_C(0x1dab6b1fd22181d5));
	assert_true(rng_next(&rng) == UINT64_C(0x39d88d3f447c695));
}

/* Pearson's correlation of two streams of 'n' numbers in [0, 1). */
static double correlation(struct rng *a, struct rng *b, unsigned n)
{
	double ab = 0;

	for (unsigned i = 0; i < n; i++) {
		double x = (double)rng_next(a) / 18446744073709551616.0 - 0.5;
		double y = (double)rng_next(b) / 18446744073709551616.0 - 0.5;

		ab += x * y;
	}
	return ab / n * 12;
}

static void assert_unrelated(uint64_t seed, uint64_t device, uint64_t stream)
{
	struct rng a, b;
	double r;

	rng_init(&a, 100, 20, 3);
	rng_init(&b, seed, device, stream);
	r = correlation(&a, &b, 40000);
	assert_true(r > -0.025 && r < 0.025); /* five standard deviations */
}

UNIT_TEST(neighbouring_seeds_devices_and_streams_are_unrelated)
{
	for (uint64_t i = 1; i < 8; i++) {
		assert_unrelated(100 + i, 20, 3);
		assert_unrelated(100, 20 + i, 3);
		assert_unrelated(100, 20, 3 + i);
	}
}

UNIT_TEST(seed_device_and_stream_cannot_be_exchanged)
{
	struct rng a, b, c;

	rng_init(&a, 1, 2, 3);
	rng_init(&b, 2, 1, 3);
	rng_init(&c, 1, 3, 2);
	assert_true(a.key != b.key && a.key != c.key && b.key != c.key);
}

UNIT_TEST(below_is_uniform_and_stays_below)
{
	unsigned count[7] = {0};
	struct rng rng;

	rng_init(&rng, 5, 0, 0);
	for (unsigned i = 0; i < 70000; i++) {
		uint64_t value = rng_below(&rng, 7);

		assert_true(value < 7);
		count[value]++;
	}
	for (unsigned i = 0; i < 7; i++)
		assert_in_range(count[i], 10000 - 500, 10000 + 500);
}

UNIT_TEST(below_one_is_zero_and_the_greatest_bound_works)
{
	struct rng rng;

	rng_init(&rng, 6, 0, 0);
	for (unsigned i = 0; i < 100; i++) {
		assert_true(rng_below(&rng, 1) == 0);
		assert_true(rng_below(&rng, UINT64_MAX) < UINT64_MAX);
	}
}

UNIT_TEST(chance_comes_as_often_as_it_says)
{
	unsigned hits = 0;
	struct rng rng;

	rng_init(&rng, 8, 0, 0);
	for (unsigned i = 0; i < 1000000; i++)
		hits += (unsigned)rng_chance_ppm(&rng, 10000);
	assert_in_range(hits, 10000 - 500, 10000 + 500);
	assert_false(rng_chance_ppm(&rng, 0));
	assert_int_equal(rng_chance_ppm(&rng, 1000000), 1);
}
