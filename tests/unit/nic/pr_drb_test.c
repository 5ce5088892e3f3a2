/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/congestion/pr_drb.h"

#include "unit.h"

#define TO 7 /* the destination */

/* Four paths of 100 ns; H above 300, L below 150; no gaps. */
static struct pr_drb control;
static struct metapath path;
static struct episode episode;

static int start(void **state)
{
	const uint32_t zero[] = {100, 100, 100, 100};
	struct solutions_config config;

	solutions_config_default(&config);
	memset(&control, 0, sizeof(control));
	assert_int_equal(0, solutions_init(&control.base, &config));
	metapath_rules_default(&control.paths);
	control.paths.close_gap_ns = 0;
	control.rules.improve = true;
	metapath_init(&path, 4, zero);
	memset(&episode, 0, sizeof(episode));
	return 0;
}

static int end(void **state)
{
	solutions_fini(&control.base);
	return 0;
}

static struct cn_flow flow(uint16_t source)
{
	return (struct cn_flow){source, 99};
}

/* Flows first, first + 1, ... */
static void hear(unsigned which, uint32_t waiting, unsigned first, unsigned flows)
{
	struct cn cn = {.path = (uint8_t)which,
		.waiting_ns = waiting,
		.flows = (uint8_t)flows,
		.flags = flows != 0 ? CN_F_PREDICTIVE : 0};

	for (unsigned i = 0; i < flows; i++)
		cn.flow[i] = flow((uint16_t)(first + i));
	pr_drb_on_notification(&control, &path, &episode, TO, &cn, 0);
}

/* All open paths have this waiting time. */
static void hear_all(uint32_t waiting, unsigned first, unsigned flows)
{
	for (unsigned i = 0, open = path.open; i < open && i < path.open; i++)
		hear(i, waiting, first, flows);
}

/* Opens paths until the zone is M, where they are saved. */
static void solve(unsigned first, unsigned flows)
{
	hear(0, 800, first, flows);
	hear(0, 800, first, flows);
	assert_int_equal(3, path.open);
	hear_all(500, 0, 0); /* 1 / (3 / 600) = 200 */
}

/* Closes all paths except one. */
static void settle(void)
{
	while (path.open > 1)
		hear(0, 0, 0, 0);
	hear(0, 0, 0, 0);
}

#define TEST(name) UNIT_WITH(name, start, end)

TEST(without_a_solution_paths_open_as_by_drb)
{
	hear(0, 900, 1, 3);
	assert_int_equal(2, path.open);
	assert_int_equal(1, control.count.missed);
}

TEST(stable_paths_are_saved)
{
	solve(1, 3);
	assert_int_equal(1, control.base.stored);
	assert_int_equal(3, control.base.entry[0].open);
	assert_int_equal(3, control.base.entry[0].pattern.count);
	assert_int_equal(TO, control.base.entry[0].destination);
}

TEST(one_path_is_not_saved)
{
	hear(0, 150, 1, 3);
	assert_int_equal(0, control.base.stored);
}

TEST(nothing_is_saved_in_other_zones)
{
	hear(0, 900, 1, 3);
	hear(0, 900, 1, 3);
	assert_int_equal(0, control.base.stored);
	hear(0, 0, 1, 3);
	assert_int_equal(0, control.base.stored);
}

TEST(by_the_letter_they_are_saved_below)
{
	control.rules.save_below = true;
	solve(1, 3);
	assert_int_equal(0, control.base.stored);
	hear(0, 100, 0, 0);
	assert_int_equal(1, control.base.stored);
}

TEST(the_same_pattern_brings_the_paths_back_at_once)
{
	solve(1, 3);
	settle();
	hear(0, 900, 1, 3);
	assert_int_equal(3, path.open);
	assert_int_equal(1, control.count.applied);
	assert_int_equal(control.base.entry[0].latency_ns[2], path.latency_ns[2]);
}

TEST(another_pattern_does_not)
{
	solve(1, 3);
	settle();
	hear(0, 900, 11, 3);
	assert_int_equal(2, path.open);
	assert_int_equal(0, control.count.applied);
}

TEST(no_flows_are_no_pattern)
{
	solve(1, 3);
	settle();
	hear(0, 900, 0, 0);
	assert_int_equal(2, path.open);
	assert_int_equal(0, control.count.applied);
}

TEST(four_in_five_flows_suffice)
{
	solve(1, 4);
	settle();
	hear(0, 900, 1, 5);
	assert_int_equal(1, control.count.applied);
}

TEST(three_in_four_do_not)
{
	solve(1, 3);
	settle();
	hear(0, 900, 1, 4);
	assert_int_equal(0, control.count.applied);
}

TEST(part_of_the_stored_flows_suffices)
{
	solve(1, 8);
	settle();
	hear(0, 900, 1, 2);
	assert_int_equal(1, control.count.applied);
}

TEST(of_the_union_it_does_not)
{
	control.base.config.of_union = true;
	solve(1, 8);
	settle();
	hear(0, 900, 1, 2);
	assert_int_equal(0, control.count.applied);
}

TEST(another_destinations_solution_does_not_match)
{
	solve(1, 3);
	settle();
	control.base.entry[0].destination = TO + 1;
	hear(0, 900, 1, 3);
	assert_int_equal(0, control.count.applied);
}

TEST(a_solution_is_applied_once_in_an_episode)
{
	solve(1, 3);
	settle();
	hear(0, 900, 1, 3);
	path.open = 2;
	hear(0, 9000, 1, 8);
	hear_all(9000, 1, 8);
	assert_int_equal(1, control.count.applied);
}

TEST(a_new_episode_applies_it_again)
{
	solve(1, 3);
	settle();
	hear(0, 900, 1, 3);
	settle();
	hear(0, 900, 1, 3);
	assert_int_equal(2, control.count.applied);
}

TEST(an_episode_ends_at_one_path_in_zone_low)
{
	hear(0, 900, 1, 3);
	assert_int_equal(3, episode.pattern.count);
	hear(0, 0, 0, 0);
	assert_int_equal(1, path.open);
	assert_int_equal(0, episode.pattern.count);
}

TEST(with_more_paths_it_does_not_end)
{
	solve(1, 3);
	hear(0, 0, 0, 0);
	assert_int_equal(2, path.open);
	assert_int_equal(3, episode.pattern.count);
}

TEST(a_pattern_is_the_union_over_an_episode)
{
	hear(0, 900, 1, 2);
	hear(0, 900, 2, 3);
	assert_int_equal(4, episode.pattern.count);
}

TEST(other_paths_flows_are_not_in_it)
{
	hear(0, 900, 1, 2);
	hear(1, 900, 5, 2);
	assert_int_equal(2, episode.pattern.count);
}

TEST(still_high_it_opens_further_paths)
{
	solve(1, 3);
	settle();
	hear(0, 900, 1, 3);
	hear_all(2000, 1, 3);
	assert_int_equal(4, path.open);
}

TEST(not_if_it_must_not_improve)
{
	control.rules.improve = false;
	solve(1, 3);
	settle();
	hear(0, 900, 1, 3);
	hear_all(2000, 1, 3);
	assert_int_equal(3, path.open);
}

TEST(a_lower_latency_replaces_a_solution)
{
	uint64_t before;

	solve(1, 3);
	before = control.base.entry[0].best;
	hear_all(400, 0, 0);
	assert_int_equal(1, control.base.stored);
	assert_true(control.base.entry[0].best < before);
}

TEST(a_higher_latency_does_not)
{
	uint64_t before;

	solve(1, 3);
	hear_all(500, 0, 0);
	before = control.base.entry[0].best;
	hear_all(600, 0, 0);
	assert_int_equal(before, control.base.entry[0].best);
}

TEST(more_paths_replace_a_solution)
{
	solve(1, 3);
	hear_all(3000, 0, 0);
	assert_int_equal(4, path.open);
	hear_all(1000, 0, 0);
	assert_int_equal(4, control.base.entry[0].open);
}

TEST(the_least_recently_used_goes)
{
	struct flow_pattern pattern[4] = {{.count = 0}};
	struct solutions_config config = {.entries = 3, .similarity_ppm = 800000};

	solutions_fini(&control.base);
	assert_int_equal(0, solutions_init(&control.base, &config));
	path.open = 2;
	for (unsigned i = 0; i < 4; i++)
		flow_pattern_add(&pattern[i], flow((uint16_t)i));
	for (unsigned i = 0; i < 3; i++)
		assert_true(solutions_save(&control.base, TO, &pattern[i], &path, 10));
	assert_non_null(solutions_find(&control.base, TO, &pattern[0]));
	assert_true(solutions_save(&control.base, TO, &pattern[3], &path, 10));
	assert_null(solutions_find(&control.base, TO, &pattern[1]));
	assert_non_null(solutions_find(&control.base, TO, &pattern[0]));
	assert_non_null(solutions_find(&control.base, TO, &pattern[2]));
	assert_non_null(solutions_find(&control.base, TO, &pattern[3]));
}

TEST(the_most_similar_solution_matches)
{
	struct flow_pattern some = {.count = 0}, all = {.count = 0};

	control.base.config.similarity_ppm = 500000;
	path.open = 2;
	for (unsigned i = 0; i < 4; i++)
		flow_pattern_add(&all, flow((uint16_t)i));
	flow_pattern_add(&some, flow(1));
	assert_true(solutions_save(&control.base, TO, &some, &path, 10));
	path.open = 3;
	control.base.config.similarity_ppm = 1000000;
	assert_true(solutions_save(&control.base, TO, &all, &path, 10));
	control.base.config.similarity_ppm = 200000;
	assert_int_equal(3, solutions_find(&control.base, TO, &all)->open);
}

TEST(a_new_flow_makes_the_database_answer_anew)
{
	struct flow_pattern known = {.count = 0}, seen = {.count = 0};

	path.open = 2;
	for (unsigned i = 0; i < 4; i++)
		flow_pattern_add(&known, flow((uint16_t)i));
	assert_true(solutions_save(&control.base, TO, &known, &path, 10));
	flow_pattern_add(&seen, flow(9));
	assert_null(solutions_find(&control.base, TO, &seen));
	for (unsigned i = 0; i < 4; i++)
		flow_pattern_add(&seen, flow((uint16_t)i));
	assert_non_null(solutions_find(&control.base, TO, &seen)); /* 4 of 5 */
	flow_pattern_add(&seen, flow(10));
	assert_null(solutions_find(&control.base, TO, &seen)); /* 4 of 6 */
}

TEST(a_new_solution_makes_the_database_answer_anew)
{
	struct flow_pattern first = {.count = 0}, same = {.count = 0};

	path.open = 2;
	flow_pattern_add(&first, flow(1));
	flow_pattern_add(&same, flow(1));
	assert_null(solutions_find(&control.base, TO, &first));
	assert_true(solutions_save(&control.base, TO, &same, &path, 10));
	assert_non_null(solutions_find(&control.base, TO, &first));
}

TEST(a_solution_of_more_paths_than_there_are_is_cut)
{
	solve(1, 3);
	settle();
	path.count = 2;
	hear(0, 900, 1, 3);
	assert_int_equal(2, path.open);
}

TEST(a_pattern_is_bounded)
{
	struct flow_pattern pattern = {.count = 0};

	for (unsigned i = 0; i < SOLUTION_FLOWS_MAX; i++)
		assert_true(flow_pattern_add(&pattern, flow((uint16_t)i)));
	assert_false(flow_pattern_add(&pattern, flow(1000)));
}

TEST(a_flow_is_in_a_pattern_once)
{
	struct flow_pattern pattern = {.count = 0};

	assert_true(flow_pattern_add(&pattern, flow(1)));
	assert_false(flow_pattern_add(&pattern, flow(1)));
}
