/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/congestion/marked_paths.h"

#include "unit.h"

#define TIMER 1000
#define DRAWS 30000

static struct marked_paths paths;

static int start(void **state)
{
	marked_paths_init(&paths, 4);
	return 0;
}

static void mark(unsigned which, uint64_t now)
{
	marked_paths_expire(&paths, TIMER, now);
	marked_paths_start(&paths, TIMER, now);
	marked_paths_mark(&paths, which);
}

#define TEST(name) UNIT_WITH(name, start, NULL)

TEST(each_mark_opens_the_next_path)
{
	for (unsigned open = 2; open <= 4; open++) {
		assert_true(marked_paths_mark(&paths, 0));
		assert_int_equal(open, paths.open);
	}
	assert_false(marked_paths_mark(&paths, 0));
}

TEST(no_more_than_four_open)
{
	marked_paths_init(&paths, 10);
	for (unsigned i = 0; i < 9; i++)
		marked_paths_mark(&paths, 0);
	assert_int_equal(4, paths.open);
}

TEST(no_more_than_there_are_open)
{
	marked_paths_init(&paths, 2);
	for (unsigned i = 0; i < 9; i++)
		marked_paths_mark(&paths, 0);
	assert_int_equal(2, paths.open);
}

TEST(a_message_takes_a_path_by_the_inverse_of_one_and_its_marks)
{
	unsigned times[4] = {0};
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	marked_paths_init(&paths, 2);
	marked_paths_mark(&paths, 0);
	marked_paths_mark(&paths, 0);
	for (unsigned i = 0; i < DRAWS; i++)
		times[marked_paths_choose(&paths, &rng)]++;
	/* 1/3 to 1: a quarter takes path 0. */
	assert_in_range(times[0], DRAWS * 24 / 100, DRAWS * 26 / 100);
}

TEST(each_expiry_halves_the_marks)
{
	for (unsigned i = 0; i < 8; i++)
		mark(1, 10);
	marked_paths_expire(&paths, TIMER, 10 + TIMER);
	assert_int_equal(4, paths.marks[1]);
	marked_paths_expire(&paths, TIMER, 10 + 3 * TIMER);
	assert_int_equal(1, paths.marks[1]);
}

TEST(an_expiry_without_a_mark_closes_the_path_opened_last)
{
	mark(0, 0);
	mark(0, 0);
	assert_int_equal(3, paths.open);
	assert_int_equal(1, marked_paths_expire(&paths, TIMER, 2 * TIMER));
	assert_int_equal(2, paths.open);
}

TEST(an_expiry_after_a_mark_closes_nothing)
{
	mark(0, 0);
	mark(0, 0);
	assert_int_equal(0, marked_paths_expire(&paths, TIMER, TIMER));
	assert_int_equal(3, paths.open);
}

TEST(path_0_stays)
{
	mark(0, 0);
	marked_paths_expire(&paths, TIMER, 1000 * TIMER);
	assert_int_equal(1, paths.open);
}

TEST(the_timer_runs_from_the_first_mark)
{
	mark(0, 700);
	mark(0, 1500);
	marked_paths_expire(&paths, TIMER, 1699);
	assert_int_equal(2, paths.marks[0]);
	marked_paths_expire(&paths, TIMER, 1700);
	assert_int_equal(1, paths.marks[0]);
}

TEST(a_timer_that_has_nothing_left_to_do_stops)
{
	mark(0, 0);
	marked_paths_expire(&paths, TIMER, 50 * TIMER + 1);
	mark(0, 50 * TIMER + 300);
	marked_paths_expire(&paths, TIMER, 51 * TIMER + 299);
	assert_int_equal(1, paths.marks[0]);
}
