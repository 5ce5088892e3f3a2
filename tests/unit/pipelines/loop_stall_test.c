/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real/loop_stall.h"

#include "unit.h"

#define MAX 100u

UNIT_TEST(the_longest_iteration_and_the_sum_of_too_long_ones_count)
{
	struct loop_stall stall = {0};

	loop_stall_begin(&stall, 1000);
	loop_stall_note(&stall, 1050, MAX);
	assert_int_equal(stall.longest, 50);
	assert_int_equal(stall.sum, 0);
	loop_stall_note(&stall, 1200, MAX);
	loop_stall_note(&stall, 1400, MAX);
	assert_int_equal(stall.longest, 200);
	assert_int_equal(stall.sum, 350);
}

UNIT_TEST(work_that_takes_long_is_no_absence)
{
	struct loop_stall stall = {0};

	loop_stall_begin(&stall, 1000);
	loop_stall_note(&stall, 1010, MAX);
	loop_stall_exempt(&stall, 500);
	loop_stall_note(&stall, 1520, MAX);
	assert_int_equal(stall.longest, 10);
	assert_int_equal(stall.sum, 0);
}

/* Nine hundred iterations of 1 us and one of 100 us: a tenth of the time is in the long one. */
UNIT_TEST(time_counts_by_the_iterations_in_which_it_went_by)
{
	static struct loop_stall stall;
	weft_time now = PS_PER_S;

	loop_stall_begin(&stall, now);
	for (unsigned i = 0; i < 900; i++)
		loop_stall_note(&stall, now += PS_PER_US, PS_PER_S);
	loop_stall_note(&stall, now += 100 * PS_PER_US, PS_PER_S);
	assert_int_equal(stall.spent.count, 1000000);
	assert_in_range(histogram_quantile(&stall.spent, 0.89), 980, 1020);
	assert_in_range(histogram_quantile(&stall.spent, 0.91), 98000, 102000);
	loop_stall_reset(&stall);
	assert_int_equal(stall.spent.count, 0);
}

/* The loop is stopped between the start of its iteration and the start of its work, or during the
 * work. */
UNIT_TEST(a_stop_beside_the_work_is_not_excused)
{
	struct loop_stall stall = {0};

	loop_stall_begin(&stall, 1000);
	loop_stall_note(&stall, 1010, MAX);
	/* Stopped for 300, then it works for 20. */
	loop_stall_note(&stall, 1310, MAX);
	loop_stall_exempt(&stall, 20);
	loop_stall_note(&stall, 1340, MAX);
	assert_int_equal(stall.longest, 300);
	assert_int_equal(stall.sum, 300);
	/* It works for 20, and is stopped for 400 during that. */
	loop_stall_exempt(&stall, 20);
	loop_stall_note(&stall, 1760, MAX);
	assert_int_equal(stall.longest, 400);
	assert_int_equal(stall.sum, 700);
}

UNIT_TEST(a_clock_that_was_read_before_the_work_ended_is_no_absence)
{
	struct loop_stall stall = {0};

	loop_stall_begin(&stall, 1000);
	loop_stall_exempt(&stall, 50);
	loop_stall_note(&stall, 1049, MAX);
	assert_int_equal(stall.longest, 0);
	assert_int_equal(stall.sum, 0);
}

UNIT_TEST(traffic_begins_with_no_absence_and_keeps_the_sum)
{
	struct loop_stall stall = {0};

	loop_stall_note(&stall, 500, MAX);
	loop_stall_reset(&stall);
	assert_int_equal(stall.longest, 0);
	assert_int_equal(stall.sum, 500);
}
