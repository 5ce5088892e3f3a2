/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/congestion/metapath.h"

#include "unit.h"

#define DRAWS 30000

/* Four paths of 100, 110, 120, 130 ns; H above 300, L below 150; no gaps. */
static const uint32_t zero[] = {100, 110, 120, 130};
static struct metapath path;
static struct metapath_rules rules;

static int start(void **state)
{
	metapath_rules_default(&rules);
	rules.close_gap_ns = 0;
	metapath_init(&path, 4, zero);
	return 0;
}

static void open_paths(unsigned open)
{
	while (path.open < open)
		assert_true(metapath_open_next(&path, &rules, 0));
}

#define TEST(name) UNIT_WITH(name, start, NULL)

TEST(only_path_0_is_open_at_first)
{
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	assert_int_equal(1, path.open);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(0, metapath_choose(&path, &rng));
}

TEST(a_latency_is_the_zero_load_time_and_the_waits)
{
	metapath_measure(&path, &rules, 0, 140, 5);
	assert_int_equal(240, path.latency_ns[0]);
	open_paths(2);
	metapath_measure(&path, &rules, 1, 40, 6);
	assert_int_equal(150, path.latency_ns[1]);
}

TEST(the_last_acknowledgement_alone_counts)
{
	metapath_measure(&path, &rules, 0, 900, 5);
	metapath_measure(&path, &rules, 0, 20, 6);
	assert_int_equal(120, path.latency_ns[0]);
}

TEST(with_smoothing_it_counts_for_a_part)
{
	rules.smoothing = 4;
	metapath_measure(&path, &rules, 0, 300, 5);
	assert_int_equal(400, path.latency_ns[0]);
	metapath_measure(&path, &rules, 0, 0, 6);
	assert_int_equal(325, path.latency_ns[0]);
}

TEST(the_metapaths_latency_is_the_inverse_sum_of_inverses)
{
	open_paths(2);
	metapath_measure(&path, &rules, 0, 200, 1);
	metapath_measure(&path, &rules, 1, 490, 1);
	/* 1 / (1/300 + 1/600) */
	assert_in_range(metapath_latency(&path, &rules), 199, 200);
}

TEST(the_mean_of_a_message_is_so_many_times_that)
{
	rules.mean = true;
	open_paths(2);
	metapath_measure(&path, &rules, 0, 200, 1);
	metapath_measure(&path, &rules, 1, 490, 1);
	assert_in_range(metapath_latency(&path, &rules), 399, 400);
}

TEST(a_message_takes_a_path_by_its_inverse_latency)
{
	unsigned times[2] = {0};
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	open_paths(2);
	metapath_measure(&path, &rules, 0, 200, 1);
	metapath_measure(&path, &rules, 1, 490, 1);
	for (unsigned i = 0; i < DRAWS; i++)
		times[metapath_choose(&path, &rng)]++;
	/* 300 to 600: two in three take path 0. */
	assert_in_range(times[0], DRAWS * 65 / 100, DRAWS * 68 / 100);
}

TEST(zones_are_multiples_of_path_0s_zero_load_time)
{
	metapath_measure(&path, &rules, 0, 201, 1);
	assert_int_equal(METAPATH_HIGH, metapath_zone(&path, &rules));
	metapath_measure(&path, &rules, 0, 199, 1);
	assert_int_equal(METAPATH_MIDDLE, metapath_zone(&path, &rules));
	metapath_measure(&path, &rules, 0, 51, 1);
	assert_int_equal(METAPATH_MIDDLE, metapath_zone(&path, &rules));
	metapath_measure(&path, &rules, 0, 49, 1);
	assert_int_equal(METAPATH_LOW, metapath_zone(&path, &rules));
}

TEST(the_thresholds_themselves_are_in_the_middle)
{
	metapath_measure(&path, &rules, 0, 200, 1);
	assert_int_equal(METAPATH_MIDDLE, metapath_zone(&path, &rules));
	metapath_measure(&path, &rules, 0, 50, 1);
	assert_int_equal(METAPATH_MIDDLE, metapath_zone(&path, &rules));
}

TEST(zone_high_opens_the_next_path)
{
	assert_int_equal(1, metapath_on_notification(&path, &rules, 0, 900, 1));
	assert_int_equal(2, path.open);
}

TEST(zone_middle_changes_nothing)
{
	assert_int_equal(0, metapath_on_notification(&path, &rules, 0, 100, 1));
	open_paths(2);
	metapath_measure(&path, &rules, 1, 290, 1);
	/* 1 / (1/400 + 1/400) = 200 */
	assert_int_equal(0, metapath_on_notification(&path, &rules, 0, 300, 1));
	assert_int_equal(2, path.open);
}

TEST(zone_low_closes_the_path_opened_last)
{
	open_paths(3);
	assert_int_equal(-1, metapath_on_notification(&path, &rules, 0, 0, 1));
	assert_int_equal(2, path.open);
}

TEST(path_0_stays)
{
	assert_int_equal(0, metapath_on_notification(&path, &rules, 0, 0, 1));
	assert_int_equal(1, path.open);
}

TEST(no_more_paths_open_than_there_are)
{
	for (unsigned i = 0; i < 9; i++)
		for (unsigned k = 0; k < path.open; k++)
			metapath_on_notification(&path, &rules, k, 90000, 1);
	assert_int_equal(4, path.open);
}

TEST(an_opening_waits_for_the_gap_since_the_last)
{
	rules.open_gap_ns = 1000;
	assert_true(metapath_open_next(&path, &rules, 10));
	assert_false(metapath_open_next(&path, &rules, 1009));
	assert_true(metapath_open_next(&path, &rules, 1010));
}

TEST(the_first_opening_waits_for_nothing)
{
	rules.open_gap_ns = 1000;
	assert_true(metapath_open_next(&path, &rules, 0));
}

TEST(a_closing_waits_for_the_gap_since_an_opening)
{
	rules.close_gap_ns = 1000;
	metapath_open_next(&path, &rules, 10);
	assert_false(metapath_close_last(&path, &rules, 1009));
	assert_true(metapath_close_last(&path, &rules, 1010));
}

TEST(a_closing_waits_for_the_gap_since_a_closing)
{
	rules.close_gap_ns = 1000;
	open_paths(3);
	assert_true(metapath_close_last(&path, &rules, 5000));
	assert_false(metapath_close_last(&path, &rules, 5999));
	assert_true(metapath_close_last(&path, &rules, 6000));
}

TEST(a_new_path_begins_with_the_mean_of_the_open_ones)
{
	metapath_measure(&path, &rules, 0, 700, 1);
	open_paths(2);
	assert_int_equal(800, path.latency_ns[1]);
	metapath_measure(&path, &rules, 1, 90, 1);
	open_paths(3);
	assert_int_equal(500, path.latency_ns[2]);
}

TEST(but_not_below_its_own_zero_load_time)
{
	open_paths(2);
	assert_int_equal(110, path.latency_ns[1]);
}

TEST(by_the_letter_it_begins_with_its_zero_load_time)
{
	rules.new_zero = true;
	metapath_measure(&path, &rules, 0, 700, 1);
	open_paths(2);
	assert_int_equal(110, path.latency_ns[1]);
}

TEST(a_closed_paths_acknowledgement_says_nothing)
{
	uint64_t before;

	open_paths(2);
	before = metapath_latency(&path, &rules);
	metapath_measure(&path, &rules, 3, 90000, 1);
	assert_int_equal(before, metapath_latency(&path, &rules));
}

TEST(a_reopened_path_is_not_smoothed_with_what_it_was)
{
	rules.smoothing = 2;
	open_paths(2);
	metapath_measure(&path, &rules, 1, 890, 1);
	metapath_close_last(&path, &rules, 2);
	open_paths(2);
	metapath_measure(&path, &rules, 1, 90, 3);
	assert_int_equal(200, path.latency_ns[1]);
}

TEST(an_idle_pair_closes_a_path_each_idle_time)
{
	rules.idle_ns = 1000;
	open_paths(4);
	metapath_measure(&path, &rules, 0, 0, 500);
	assert_int_equal(0, metapath_close_idle(&path, &rules, 1499));
	assert_int_equal(1, metapath_close_idle(&path, &rules, 1500));
	assert_int_equal(2, metapath_close_idle(&path, &rules, 9000));
	assert_int_equal(1, path.open);
}

TEST(without_an_idle_time_nothing_closes)
{
	open_paths(4);
	assert_int_equal(0, metapath_close_idle(&path, &rules, UINT64_C(1) << 50));
}

TEST(a_replacement_counts_as_opening_and_as_change)
{
	const uint32_t latency[] = {200, 300, 400};

	rules.open_gap_ns = rules.close_gap_ns = 1000;
	metapath_replace(&path, &rules, 3, latency, 10);
	assert_int_equal(3, path.open);
	assert_int_equal(400, path.latency_ns[2]);
	assert_false(metapath_open_next(&path, &rules, 1009));
	assert_false(metapath_close_last(&path, &rules, 1009));
}
