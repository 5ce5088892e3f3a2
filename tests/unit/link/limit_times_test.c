/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "link/limit_times.h"

#include "base/rng.h"
#include "unit.h"

#define RAISES 5000
#define CASES  20

struct raised {
	uint32_t limit;
	weft_time due;
};

/* The reference: the first limit that suffices. */
static weft_time exact(const struct raised *raised, unsigned count, uint32_t first, uint32_t sent)
{
	if ((int32_t)(sent - first) <= 0)
		return 0;
	for (unsigned i = 0; i < count; i++)
		if ((int32_t)(raised[i].limit - sent) >= 0)
			return raised[i].due;
	fail_msg("%u was not allowed", sent);
	return 0;
}

/* Limits that wrap around, up to 'ahead' of which are unused. */
static void play(unsigned seed, unsigned ahead, uint64_t *late)
{
	static struct raised raised[RAISES];
	struct limit_times times;
	struct rng rng;
	uint32_t first = UINT32_MAX - seed * 1000, sent = first, limit = first;
	weft_time now = PS_PER_S;

	rng_init(&rng, seed, ahead, 0);
	limit_times_init(&times, first);
	for (unsigned i = 0; i < RAISES; i++) {
		unsigned unused = (unsigned)rng_below(&rng, ahead);

		limit += 1 + (uint32_t)rng_below(&rng, 20);
		now += 1 + rng_below(&rng, 1000);
		raised[i] = (struct raised){.limit = limit, .due = now};
		limit_times_raise(&times, limit, now);
		limit_times_raise(&times, limit, now + 5); /* repeated */
		while (i >= unused && (int32_t)(raised[i - unused].limit - sent) > 0) {
			weft_time due = exact(raised, i + 1, first, ++sent);

			*late += limit_times_of(&times, sent) > due;
			assert_true(limit_times_of(&times, sent) >= due);
		}
	}
}

UNIT_TEST(few_limits_keep_their_times)
{
	uint64_t late = 0;

	for (unsigned seed = 1; seed <= CASES; seed++)
		play(seed, LIMIT_TIMES_KEPT, &late);
	assert_int_equal(late, 0);
}

UNIT_TEST(of_many_some_are_late_and_none_is_early)
{
	uint64_t late = 0;

	for (unsigned seed = 1; seed <= CASES; seed++)
		play(seed, 20, &late);
	assert_true(late > 0);
}

UNIT_TEST(what_was_allowed_from_the_start_has_no_time)
{
	struct limit_times times;

	limit_times_init(&times, 100);
	limit_times_raise(&times, 120, PS_PER_S);
	assert_int_equal(limit_times_of(&times, 100), 0);
	assert_int_equal(limit_times_of(&times, 101), PS_PER_S);
	assert_int_equal(limit_times_of(&times, 120), PS_PER_S);
}

/* The frame with the second limit arrived after the first one. */
UNIT_TEST(times_do_not_decrease)
{
	struct limit_times times;

	limit_times_init(&times, 0);
	limit_times_raise(&times, 10, 2 * PS_PER_S);
	limit_times_raise(&times, 20, PS_PER_S);
	assert_int_equal(limit_times_of(&times, 20), 2 * PS_PER_S);
}
