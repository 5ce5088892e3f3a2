/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pacer.h"

#include "rng.h"
#include "unit.h"

#define GBPS UINT64_C(1000000000)

static void the_usual_rates_are_exact(void **state)
{
	assert_int_equal(ps_per_byte(100 * GBPS), 80);
	assert_int_equal(ps_per_byte(40 * GBPS), 200);
	assert_int_equal(ps_per_byte(25 * GBPS), 320);
	assert_int_equal(ps_per_byte(10 * GBPS), 800);
	assert_int_equal(ps_per_byte(1 * GBPS), 8000);
}

static void a_rate_that_is_not_exact_is_never_exceeded(void **state)
{
	assert_int_equal(ps_per_byte(3 * GBPS), 2667);
}

/* Or a rate that is shown and set again would fall each time. */
static void the_rate_of_a_time_gives_that_time_back(void **state)
{
	static const uint64_t rates[] = {3, 7, 14, 30, 56, 100};

	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t time = ps_per_byte(rates[i] * GBPS);

		assert_int_equal(ps_per_byte(rate_of_time(time)), time);
	}
	assert_int_equal(rate_of_time(ps_per_byte(0)), 0);
}

static void an_unlimited_link_is_always_free(void **state)
{
	struct pacer pacer;

	pacer_init(&pacer, 0, 0);
	for (unsigned i = 0; i < 10; i++) {
		assert_true(pacer_ready(&pacer, 1000));
		assert_int_equal(pacer_send(&pacer, 1000, 9000), 1000);
	}
}

static void the_transmitter_is_busy_until_the_last_bit_has_left(void **state)
{
	struct pacer pacer;

	pacer_init(&pacer, 10 * GBPS, 0);
	assert_int_equal(pacer_send(&pacer, 5000, 100), 5000 + 100 * 800);
	assert_false(pacer_ready(&pacer, 5000 + 100 * 800 - 1));
	assert_true(pacer_ready(&pacer, 5000 + 100 * 800));
}

/* A loop that comes by at random moments, seldom enough to miss many, still fills the link. */
static void the_long_term_rate_is_exact_for_a_loop_within_the_slack(void **state)
{
	const weft_time slack = 20 * PS_PER_US, end = 100 * PS_PER_MS;
	weft_time now = slack, start = now;
	uint64_t bytes = 0;
	struct pacer pacer;
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	pacer_init(&pacer, 10 * GBPS, slack);
	for (; now < end; now += 1 + rng_below(&rng, slack / 2))
		while (pacer_ready(&pacer, now)) {
			uint32_t length = 64 + (uint32_t)rng_below(&rng, 1437);

			pacer_send(&pacer, now, length);
			bytes += length;
		}
	/* Between what fits into the time and the slack before it, and less the last gap. */
	assert_in_range(bytes * 800, end - start - slack, end - start + slack + 1500 * 800);
}

static void the_rate_is_never_exceeded_over_any_window_by_more_than_the_slack(void **state)
{
	enum { SENDS = 2000 };
	const weft_time slack = 5 * PS_PER_US;
	static weft_time at[SENDS];
	static uint64_t before[SENDS + 1];
	weft_time now = slack;
	struct pacer pacer;
	struct rng rng;

	rng_init(&rng, 2, 0, 0);
	pacer_init(&pacer, 10 * GBPS, slack);
	for (unsigned i = 0; i < SENDS; i++) {
		while (!pacer_ready(&pacer, now) || rng_below(&rng, 4) == 0)
			now += rng_below(&rng, 3 * slack);
		at[i] = now;
		before[i + 1] = before[i] + 1000 * 800;
		pacer_send(&pacer, now, 1000);
	}
	for (unsigned i = 0; i < SENDS; i++)
		for (unsigned k = i + 1; k < SENDS; k++)
			assert_true(before[k] - before[i] <= at[k] - at[i] + slack);
}

static void idle_time_beyond_the_slack_is_not_saved_up(void **state)
{
	struct pacer pacer;

	pacer_init(&pacer, 10 * GBPS, 1000);
	pacer_send(&pacer, PS_PER_S, 64);
	assert_int_equal(pacer_send(&pacer, 2 * PS_PER_S, 64), 2 * PS_PER_S - 1000 + 64 * 800);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_usual_rates_are_exact),
	cmocka_unit_test(a_rate_that_is_not_exact_is_never_exceeded),
	cmocka_unit_test(the_rate_of_a_time_gives_that_time_back),
	cmocka_unit_test(an_unlimited_link_is_always_free),
	cmocka_unit_test(the_transmitter_is_busy_until_the_last_bit_has_left),
	cmocka_unit_test(the_long_term_rate_is_exact_for_a_loop_within_the_slack),
	cmocka_unit_test(the_rate_is_never_exceeded_over_any_window_by_more_than_the_slack),
	cmocka_unit_test(idle_time_beyond_the_slack_is_not_saved_up),
};

UNIT_MAIN(tests)
