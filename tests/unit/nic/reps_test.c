/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/congestion/marked_paths.h"

#include "unit.h"

#define TO 1

static struct reps *reps;

static int start(void **state)
{
	reps = reps_create(1, 0, 3);
	assert_non_null(reps);
	return 0;
}

static int end(void **state)
{
	free(reps);
	return 0;
}

#define TEST(name) UNIT_WITH(name, start, end)

TEST(an_entropy_that_came_back_is_used_again_once)
{
	reps_returned(reps, TO, 17, false);
	reps_returned(reps, TO, 18, false);
	assert_int_equal(reps_take(reps, TO), 17);
	assert_int_equal(reps_take(reps, TO), 18);
	assert_int_equal(reps->recycled, 2);
	reps_take(reps, TO);
	assert_int_equal(reps->drawn, 1);
}

TEST(one_that_was_marked_is_forgotten)
{
	reps_returned(reps, TO, 17, true);
	reps_take(reps, TO);
	assert_int_equal(reps->recycled, 0);
}

TEST(the_latest_are_kept)
{
	for (uint8_t i = 0; i < REPS_CACHED + 3; i++)
		reps_returned(reps, TO, i, false);
	for (uint8_t i = 3; i < REPS_CACHED + 3; i++)
		assert_int_equal(reps_take(reps, TO), i);
}

TEST(each_destination_has_its_own)
{
	reps_returned(reps, TO, 17, false);
	reps_take(reps, 2);
	assert_int_equal(reps->drawn, 1);
	assert_int_equal(reps_take(reps, TO), 17);
}
