/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "saturation.h"

#include <math.h>

#include "unit.h"

#define MESSAGES 10000 /* the threshold is 1 % */

/* A network that accepts all up to a capacity and that much beyond it. */
static unsigned search(struct saturation *search, double guess, double capacity)
{
	unsigned points = 0;

	saturation_begin(search, guess, MESSAGES);
	while (!search->done) {
		double load = saturation_load(search->at);
		double accepted = fmin(load, capacity);

		saturation_take(search, load, accepted, 4 * accepted);
		assert_in_range(++points, 1, 40);
	}
	return points;
}

UNIT_TEST(steps_are_two_and_a_half_per_cent_apart)
{
	for (int step = 0; step < 270; step++)
		assert_true(fabs(saturation_load(step + 1) / saturation_load(step) - 1.025) < 1e-9);
}

UNIT_TEST(the_answer_is_the_greatest_load_accepted_to_within_one_per_cent)
{
	for (double capacity = 0.002; capacity < 0.9; capacity *= 1.07)
		for (double guess = 0.001; guess <= 1; guess *= 3) {
			struct saturation found;

			search(&found, guess, capacity);
			assert_true(0.99 * saturation_load(found.low) <= capacity);
			assert_true(0.99 * saturation_load(found.high) > capacity);
			assert_int_equal(found.high, found.low + 1);
			assert_true(
				fabs(found.traffic -
					4 * fmin(capacity, saturation_load(found.low))) < 1e-12);
		}
}

/* Of 200,000 messages 0.3 % less than offered is a difference; of 20,000 it is not. */
UNIT_TEST(longer_runs_tell_smaller_differences)
{
	struct saturation shorter, longer;

	saturation_begin(&shorter, 0.1, 20000);
	saturation_take(&shorter, 0.1, 0.0997, 1);
	assert_true(shorter.low >= 0);
	saturation_begin(&longer, 0.1, 200000);
	saturation_take(&longer, 0.1, 0.0997, 1);
	assert_int_equal(longer.low, -1);
	saturation_verify(&shorter, 200000);
	saturation_take(&shorter, 0.1, 0.0997, 1);
	assert_int_equal(shorter.low, -1);
}

UNIT_TEST(few_messages_tell_three_per_cent_and_no_less)
{
	for (uint64_t messages = 1; messages < 1000; messages *= 3) {
		assert_true(accepts_less(0.1, 0.0969, messages));
		assert_false(accepts_less(0.1, 0.0971, messages));
	}
}

UNIT_TEST(more_than_offered_shows_no_saturation)
{
	assert_false(accepts_less(0.1, 0.11, 200000));
}

UNIT_TEST(the_guess_does_not_change_the_answer)
{
	struct saturation a, b;

	search(&a, 0.9, 0.1234);
	search(&b, 0.0011, 0.1234);
	assert_int_equal(a.low, b.low);
}

UNIT_TEST(verifying_finds_the_same_from_the_end_of_another_search)
{
	for (double other = 0.8; other < 1.3; other *= 1.01) {
		struct saturation scout, found, plain;
		unsigned points = 0;

		search(&scout, 0.05, 0.1 * other);
		search(&plain, 0.05, 0.1);
		found = scout;
		saturation_verify(&found, MESSAGES);
		for (; !found.done; points++) {
			double load = saturation_load(found.at);

			saturation_take(&found, load, fmin(load, 0.1), fmin(load, 0.1));
		}
		assert_int_equal(found.low, plain.low);
		if (scout.low == plain.low)
			assert_int_equal(points, 2);
	}
}

UNIT_TEST(a_good_guess_needs_few_points)
{
	struct saturation found;

	for (double off = 0.8; off < 1.25; off += 0.03)
		assert_in_range(search(&found, 0.1 * off, 0.1), 2, 8);
}

UNIT_TEST(what_is_never_saturated_ends_near_the_whole_load)
{
	struct saturation found;

	search(&found, 0.1, 2);
	assert_int_equal(found.low, found.last);
	assert_true(saturation_load(found.low) <= 1);
	assert_true(saturation_load(found.low + 1) > 1);
}

UNIT_TEST(what_accepts_nothing_has_no_productivity)
{
	struct saturation found;

	search(&found, 0.1, 0);
	assert_int_equal(found.low, -1);
	assert_int_equal(found.high, 0);
}

UNIT_MAIN(NULL, NULL)
