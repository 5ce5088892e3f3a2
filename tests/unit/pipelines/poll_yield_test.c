/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "poll/poll_yield.h"

#include <sched.h>
#include <time.h>

#include "unit.h"

/* Calls made by the loop under test. */
static struct {
	unsigned yields, sleeps;
	long last_ns;
} seen;

int sched_yield(void)
{
	seen.yields++;
	return 0;
}

int nanosleep(const struct timespec *asked, struct timespec *left)
{
	seen.sleeps++;
	seen.last_ns = asked->tv_nsec;
	return 0;
}

static void begin(struct poll_yield *yield, bool crowded)
{
	seen.yields = seen.sleeps = 0;
	seen.last_ns = 0;
	poll_yield_init(yield, crowded);
}

static void iterate(struct poll_yield *yield, unsigned iterations)
{
	for (unsigned i = 0; i < iterations; i++)
		poll_yield_update(yield, 0);
}

UNIT_TEST(an_idle_loop_spins_then_yields_then_sleeps)
{
	struct poll_yield yield;

	begin(&yield, true);
	iterate(&yield, 64);
	assert_int_equal(seen.yields + seen.sleeps, 0);
	iterate(&yield, 64);
	assert_int_equal(seen.yields, 64);
	assert_int_equal(seen.sleeps, 0);
	iterate(&yield, 1);
	assert_int_equal(seen.sleeps, 1);
	assert_int_equal(seen.last_ns, 20000);
}

UNIT_TEST(a_loop_that_serves_programs_yields_after_four_polls)
{
	struct poll_yield yield;

	begin(&yield, true);
	yield.serves = true;
	iterate(&yield, 4);
	assert_int_equal(seen.yields, 0);
	iterate(&yield, 124);
	assert_int_equal(seen.yields, 124);
	assert_int_equal(seen.sleeps, 0);
}

UNIT_TEST(sleeps_grow_to_200_us_where_loops_are_more_than_cpus)
{
	struct poll_yield yield;

	begin(&yield, true);
	iterate(&yield, 500);
	assert_int_equal(seen.last_ns, 50000);
	iterate(&yield, 500);
	assert_int_equal(seen.last_ns, 200000);
}

UNIT_TEST(sleeps_stay_short_where_there_is_a_cpu_for_each_loop)
{
	struct poll_yield yield;

	begin(&yield, false);
	iterate(&yield, 5000);
	assert_int_equal(seen.last_ns, 50000);
}

UNIT_TEST(a_single_frame_lets_the_loop_spin_again)
{
	struct poll_yield yield;
	unsigned before;

	begin(&yield, true);
	iterate(&yield, 1000);
	poll_yield_update(&yield, 1);
	before = seen.yields + seen.sleeps;
	iterate(&yield, 64);
	assert_int_equal(seen.yields + seen.sleeps, before);
}
