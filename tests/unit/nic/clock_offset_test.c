/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Two clocks whose true values the test knows. The local one shows the true time, and the remote
 * one is 'base' ahead and gains 'ppb'. */
#include "nic/clock/clock_offset.h"

#include "base/rng.h"
#include "unit.h"

#define US INT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

struct world {
	struct clock_offset offset;
	struct rng rng;
	int64_t now_ns, base_ns;
	int64_t turned_ns; /* start of the current rate */
	int64_t ppb;
	int64_t min_ns[2], spread_ns[2]; /* delays in each direction */
};

static void start(struct world *world, uint64_t seed)
{
	*world = (struct world){.now_ns = 5 * S,
		.base_ns = 77 * S,
		.min_ns = {5 * US, 5 * US},
		.spread_ns = {10 * US, 10 * US}};
	rng_init(&world->rng, seed, 0, 0);
	clock_offset_forget(&world->offset);
}

static int64_t truth(const struct world *world, int64_t at_ns)
{
	return world->base_ns + (at_ns - world->turned_ns) * world->ppb / 1000000000;
}

static void turn(struct world *world, int64_t ppb)
{
	world->base_ns = truth(world, world->now_ns);
	world->turned_ns = world->now_ns;
	world->ppb = ppb;
}

static int64_t below(struct world *world, int64_t bound)
{
	return (int64_t)rng_below(&world->rng, (uint64_t)bound + 1);
}

/* Most paths are short, and some take a hundred times as long. */
static int64_t delay(struct world *world, unsigned way)
{
	int64_t extra = below(world, world->spread_ns[way]);

	return world->min_ns[way] +
	       (rng_chance_ppm(&world->rng, 50000) ? 100 * extra : extra * extra / 10000);
}

static int64_t remote(const struct world *world, int64_t at_ns)
{
	return at_ns + truth(world, at_ns);
}

/* An exchange that starts now and is answered after 'stay_ns'. */
static enum clock_verdict exchange(struct world *world, int64_t stay_ns)
{
	struct clock_sample sample = {.sent_ns = world->now_ns};

	world->now_ns += delay(world, 0);
	sample.heard_ns = remote(world, world->now_ns);
	world->now_ns += stay_ns;
	sample.answered_ns = remote(world, world->now_ns);
	world->now_ns += delay(world, 1);
	sample.arrived_ns = world->now_ns;
	return clock_offset_take(&world->offset, &sample);
}

static uint64_t check(struct world *world, int64_t at_ns)
{
	int64_t offset_ns = 0, error_ns;
	uint64_t bound_ns = 0;

	assert_true(clock_line_at(&world->offset.line, at_ns, &offset_ns, &bound_ns));
	error_ns = offset_ns - truth(world, at_ns);
	assert_in_range(llabs(error_ns), 0, bound_ns);
	return bound_ns;
}

/* Delays, their asymmetry and drifts are drawn. The drift changes within the assumed limits. */
UNIT_TEST(the_truth_is_within_the_bound_whatever_the_delays)
{
	struct world world;

	for (uint64_t seed = 0; seed < 300; seed++) {
		int64_t ppb, max = 1000 * (CLOCK_RATE_MAX_PPM - CLOCK_RATE_CHANGE_PPM);

		start(&world, seed);
		for (unsigned way = 0; way < 2; way++) {
			world.min_ns[way] = below(&world, 2 * MS);
			world.spread_ns[way] = below(&world, MS);
		}
		world.base_ns = below(&world, 1000000 * S) - 500000 * S;
		world.now_ns = 600000 * S;
		ppb = below(&world, 2 * max) - max;
		for (unsigned i = 0; i < 1000; i++) {
			turn(&world, ppb + below(&world, 1000 * CLOCK_RATE_CHANGE_PPM));
			assert_int_equal(exchange(&world, below(&world, MS)), CLOCK_AGREES);
			check(&world, world.now_ns - 5 * US);
			check(&world, world.now_ns);
			/* Only up to the next change of the drift. */
			world.now_ns += below(&world, 200 * MS);
			check(&world, world.now_ns);
		}
		assert_int_equal(world.offset.line.steps, 0);
		assert_int_equal(world.offset.line.samples, 1000);
	}
}

UNIT_TEST(the_bound_comes_down_to_half_of_the_shortest_round_trip)
{
	struct world world;

	start(&world, 1);
	world.ppb = 90000;
	for (unsigned i = 0; i < 600; i++) {
		exchange(&world, 20 * US);
		world.now_ns += 100 * MS;
	}
	exchange(&world, 20 * US);
	assert_in_range(check(&world, world.now_ns), 4 * US, 7 * US);
}

/* The time of the short delays within an exchange does not matter. */
UNIT_TEST(the_shortest_ways_count_even_of_different_exchanges)
{
	struct world world;

	start(&world, 1);
	world.spread_ns[0] = world.spread_ns[1] = 0;
	for (unsigned i = 0; i < 20; i++) {
		world.min_ns[i % 2] = 900 * US;
		world.min_ns[1 - i % 2] = US;
		exchange(&world, 0);
		world.now_ns += 10 * MS;
	}
	assert_in_range(check(&world, world.now_ns - 10 * MS), 0, 40 * US);
}

UNIT_TEST(the_bound_holds_where_only_one_way_is_slow)
{
	struct world world;

	start(&world, 1);
	world.spread_ns[0] = world.spread_ns[1] = 0;
	world.min_ns[0] = 800 * US;
	for (unsigned i = 0; i < 100; i++) {
		exchange(&world, 0);
		/* The middle is wrong by half of the difference, and the bound includes this. */
		assert_in_range(check(&world, world.now_ns), 400 * US, 410 * US);
		world.now_ns += 100 * MS;
	}
}

UNIT_TEST(the_drift_is_known_after_some_seconds)
{
	struct world world;
	int64_t rate_ppb, half_ppb;

	start(&world, 1);
	world.ppb = -170000;
	for (unsigned i = 0; i < 400; i++) {
		exchange(&world, 0);
		world.now_ns += 100 * MS;
	}
	rate_ppb = (world.offset.line.rate * INT64_C(1000000000)) >> 32;
	half_ppb = (int64_t)((world.offset.line.half_rate * UINT64_C(1000000000)) >> 32);
	assert_in_range(llabs(rate_ppb - world.ppb), 0, half_ppb);
	assert_in_range(
		half_ppb, CLOCK_RATE_CHANGE_PPM * 1000, CLOCK_RATE_CHANGE_PPM * 1000 + 1000);
}

UNIT_TEST(a_clock_that_was_set_is_noticed_and_known_again_after_a_while)
{
	struct world world;
	int64_t offset_ns;
	uint64_t bound_ns;

	start(&world, 1);
	for (unsigned i = 0; i < 50; i++) {
		exchange(&world, 0);
		world.now_ns += 10 * MS;
	}
	world.base_ns -= MS;
	assert_int_equal(exchange(&world, 0), CLOCK_STEPPED);
	assert_int_equal(world.offset.line.steps, 1);
	for (unsigned i = 0; i < CLOCK_TRUST; i++) {
		assert_false(
			clock_line_at(&world.offset.line, world.now_ns, &offset_ns, &bound_ns));
		world.now_ns += 10 * MS;
		assert_int_equal(exchange(&world, 0), CLOCK_AGREES);
	}
	check(&world, world.now_ns);
}

UNIT_TEST(clocks_that_run_too_far_apart_are_never_known)
{
	struct world world;
	int64_t offset_ns;
	uint64_t bound_ns;

	start(&world, 1);
	world.spread_ns[0] = world.spread_ns[1] = 0;
	world.ppb = 2 * CLOCK_RATE_MAX_PPM * 1000;
	exchange(&world, 0);
	for (unsigned i = 0; i < 100; i++) {
		world.now_ns += 100 * MS;
		assert_int_equal(exchange(&world, 0), CLOCK_STEPPED);
		assert_false(
			clock_line_at(&world.offset.line, world.now_ns, &offset_ns, &bound_ns));
	}
	assert_int_equal(world.offset.line.steps, 100);
}

UNIT_TEST(an_old_estimate_is_not_used)
{
	struct world world;
	int64_t offset_ns;
	uint64_t bound_ns;

	start(&world, 1);
	exchange(&world, 0);
	check(&world, world.now_ns + CLOCK_USED_NS);
	assert_false(clock_line_at(
		&world.offset.line, world.now_ns + CLOCK_USED_NS + 1, &offset_ns, &bound_ns));
	/* Much later, the offset may have changed by any amount, and that is not a step. */
	world.now_ns += CLOCK_FORGET_NS + 1;
	world.base_ns += 3 * S;
	assert_int_equal(exchange(&world, 0), CLOCK_AGREES);
	check(&world, world.now_ns);
	assert_int_equal(world.offset.line.steps, 0);
}

UNIT_TEST(in_doubt_it_is_not_used_before_the_next_exchange)
{
	struct world world;
	int64_t offset_ns;
	uint64_t bound_ns;

	start(&world, 1);
	exchange(&world, 0);
	clock_offset_doubt(&world.offset);
	assert_false(clock_line_at(&world.offset.line, world.now_ns, &offset_ns, &bound_ns));
	exchange(&world, 0);
	check(&world, world.now_ns);
}

/* Both machines are at one place and answer immediately. The remote clock shows 999.5 ns at 100
 * ns. */
UNIT_TEST(a_stamp_that_was_rounded_up_is_within_the_interval)
{
	const struct clock_sample sample = {
		.sent_ns = 100, .heard_ns = 1000, .answered_ns = 1000, .arrived_ns = 100};
	struct clock_offset offset = {.known = false};

	clock_offset_forget(&offset);
	assert_int_equal(clock_offset_take(&offset, &sample), CLOCK_AGREES);
	assert_true(offset.now.low_ns <= 899);
	assert_true(offset.now.high_ns >= 900);
}

/* The answer left before the question arrived, or the whole exchange took less time here than
 * there. */
UNIT_TEST(an_exchange_that_contradicts_itself_changes_nothing)
{
	const struct clock_sample samples[] = {
		{.sent_ns = 100, .heard_ns = 1000, .answered_ns = 999, .arrived_ns = 200},
		{.sent_ns = 100, .heard_ns = 1000, .answered_ns = 1200, .arrived_ns = 200},
		{.sent_ns = 200, .heard_ns = 1000, .answered_ns = 1000, .arrived_ns = 100},
		{.sent_ns = 100, .heard_ns = -1, .answered_ns = 10, .arrived_ns = 200},
		{.sent_ns = 100, .heard_ns = 1, .answered_ns = CLOCK_STAMP_MAX, .arrived_ns = 200},
	};
	struct clock_offset offset = {.known = false}, before;

	clock_offset_forget(&offset);
	before = offset;
	for (unsigned i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		assert_int_equal(clock_offset_take(&offset, &samples[i]), CLOCK_SENSELESS);
		assert_memory_equal(&offset, &before, sizeof(offset));
	}
}

/* Nothing overflows, whatever another machine reports. */
UNIT_TEST(any_stamps_are_taken_or_refused)
{
	struct clock_offset offset = {.known = false};
	struct rng rng;
	int64_t now_ns = 0;

	rng_init(&rng, 1, 0, 0);
	clock_offset_forget(&offset);
	for (unsigned i = 0; i < 100000; i++) {
		struct clock_sample sample = {.sent_ns = now_ns};
		int64_t offset_ns;
		uint64_t bound_ns;

		now_ns += (int64_t)(rng_next(&rng) >> (24 + rng_below(&rng, 39)));
		sample.arrived_ns = now_ns %= CLOCK_STAMP_MAX / 2;
		if (sample.arrived_ns < sample.sent_ns)
			clock_offset_forget(&offset);
		sample.heard_ns = (int64_t)(rng_next(&rng) >> (3 + rng_below(&rng, 60)));
		sample.answered_ns =
			sample.heard_ns + (int64_t)(rng_next(&rng) >> (24 + rng_below(&rng, 39)));
		clock_offset_take(&offset, &sample);
		if (clock_line_at(&offset.line, now_ns + 1000, &offset_ns, &bound_ns))
			assert_true(offset.now.low_ns <= offset.now.high_ns);
	}
	assert_true(offset.line.steps > 0);
}

UNIT_TEST(another_thread_reads_the_same_line)
{
	struct world world;
	struct clock_line line;

	start(&world, 1);
	exchange(&world, 0);
	clock_offset_read(&world.offset, &line);
	assert_memory_equal(&line, &world.offset.line, sizeof(line));
	/* In the middle of a change. */
	world.offset.version++;
	clock_offset_read(&world.offset, &line);
	assert_false(line.usable);
}
