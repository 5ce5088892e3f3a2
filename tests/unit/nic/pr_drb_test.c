/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pr_drb.h"

#include <string.h>

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
	pr_drb_hear(&control, &path, &episode, TO, &cn, 0);
}

/* All open paths wait so long. */
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

/* All paths but one close. */
static void settle(void)
{
	while (path.open > 1)
		hear(0, 0, 0, 0);
	hear(0, 0, 0, 0);
}

static void without_a_solution_paths_open_as_by_drb(void **state)
{
	hear(0, 900, 1, 3);
	assert_int_equal(2, path.open);
	assert_int_equal(1, control.count.missed);
}

static void stable_paths_are_saved(void **state)
{
	solve(1, 3);
	assert_int_equal(1, control.base.stored);
	assert_int_equal(3, control.base.entry[0].open);
	assert_int_equal(3, control.base.entry[0].pattern.count);
	assert_int_equal(TO, control.base.entry[0].destination);
}

static void one_path_is_not_saved(void **state)
{
	hear(0, 150, 1, 3);
	assert_int_equal(0, control.base.stored);
}

static void nothing_is_saved_in_other_zones(void **state)
{
	hear(0, 900, 1, 3);
	hear(0, 900, 1, 3);
	assert_int_equal(0, control.base.stored);
	hear(0, 0, 1, 3);
	assert_int_equal(0, control.base.stored);
}

static void by_the_letter_they_are_saved_below(void **state)
{
	control.rules.save_below = true;
	solve(1, 3);
	assert_int_equal(0, control.base.stored);
	hear(0, 100, 0, 0);
	assert_int_equal(1, control.base.stored);
}

static void the_same_pattern_brings_the_paths_back_at_once(void **state)
{
	solve(1, 3);
	settle();
	hear(0, 900, 1, 3);
	assert_int_equal(3, path.open);
	assert_int_equal(1, control.count.applied);
	assert_int_equal(control.base.entry[0].latency_ns[2], path.latency_ns[2]);
}

static void another_pattern_does_not(void **state)
{
	solve(1, 3);
	settle();
	hear(0, 900, 11, 3);
	assert_int_equal(2, path.open);
	assert_int_equal(0, control.count.applied);
}

static void no_flows_are_no_pattern(void **state)
{
	solve(1, 3);
	settle();
	hear(0, 900, 0, 0);
	assert_int_equal(2, path.open);
	assert_int_equal(0, control.count.applied);
}

static void four_in_five_flows_suffice(void **state)
{
	solve(1, 4);
	settle();
	hear(0, 900, 1, 5);
	assert_int_equal(1, control.count.applied);
}

static void three_in_four_do_not(void **state)
{
	solve(1, 3);
	settle();
	hear(0, 900, 1, 4);
	assert_int_equal(0, control.count.applied);
}

static void part_of_the_stored_flows_suffices(void **state)
{
	solve(1, 8);
	settle();
	hear(0, 900, 1, 2);
	assert_int_equal(1, control.count.applied);
}

static void of_the_union_it_does_not(void **state)
{
	control.base.config.of_union = true;
	solve(1, 8);
	settle();
	hear(0, 900, 1, 2);
	assert_int_equal(0, control.count.applied);
}

static void another_destinations_solution_does_not_match(void **state)
{
	solve(1, 3);
	settle();
	control.base.entry[0].destination = TO + 1;
	hear(0, 900, 1, 3);
	assert_int_equal(0, control.count.applied);
}

static void a_solution_is_applied_once_in_an_episode(void **state)
{
	solve(1, 3);
	settle();
	hear(0, 900, 1, 3);
	path.open = 2;
	hear(0, 9000, 1, 8);
	hear_all(9000, 1, 8);
	assert_int_equal(1, control.count.applied);
}

static void a_new_episode_applies_it_again(void **state)
{
	solve(1, 3);
	settle();
	hear(0, 900, 1, 3);
	settle();
	hear(0, 900, 1, 3);
	assert_int_equal(2, control.count.applied);
}

static void an_episode_ends_at_one_path_in_zone_low(void **state)
{
	hear(0, 900, 1, 3);
	assert_int_equal(3, episode.pattern.count);
	hear(0, 0, 0, 0);
	assert_int_equal(1, path.open);
	assert_int_equal(0, episode.pattern.count);
}

static void with_more_paths_it_does_not_end(void **state)
{
	solve(1, 3);
	hear(0, 0, 0, 0);
	assert_int_equal(2, path.open);
	assert_int_equal(3, episode.pattern.count);
}

static void a_pattern_is_the_union_over_an_episode(void **state)
{
	hear(0, 900, 1, 2);
	hear(0, 900, 2, 3);
	assert_int_equal(4, episode.pattern.count);
}

static void other_paths_flows_are_not_in_it(void **state)
{
	hear(0, 900, 1, 2);
	hear(1, 900, 5, 2);
	assert_int_equal(2, episode.pattern.count);
}

static void still_high_it_opens_further_paths(void **state)
{
	solve(1, 3);
	settle();
	hear(0, 900, 1, 3);
	hear_all(2000, 1, 3);
	assert_int_equal(4, path.open);
}

static void not_if_it_must_not_improve(void **state)
{
	control.rules.improve = false;
	solve(1, 3);
	settle();
	hear(0, 900, 1, 3);
	hear_all(2000, 1, 3);
	assert_int_equal(3, path.open);
}

static void a_lower_latency_replaces_a_solution(void **state)
{
	uint64_t before;

	solve(1, 3);
	before = control.base.entry[0].best;
	hear_all(400, 0, 0);
	assert_int_equal(1, control.base.stored);
	assert_true(control.base.entry[0].best < before);
}

static void a_higher_latency_does_not(void **state)
{
	uint64_t before;

	solve(1, 3);
	hear_all(500, 0, 0);
	before = control.base.entry[0].best;
	hear_all(600, 0, 0);
	assert_int_equal(before, control.base.entry[0].best);
}

static void more_paths_replace_a_solution(void **state)
{
	solve(1, 3);
	hear_all(3000, 0, 0);
	assert_int_equal(4, path.open);
	hear_all(1000, 0, 0);
	assert_int_equal(4, control.base.entry[0].open);
}

static void the_least_recently_used_goes(void **state)
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

static void the_most_similar_solution_matches(void **state)
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

static void a_new_flow_makes_the_database_answer_anew(void **state)
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

static void a_new_solution_makes_the_database_answer_anew(void **state)
{
	struct flow_pattern first = {.count = 0}, same = {.count = 0};

	path.open = 2;
	flow_pattern_add(&first, flow(1));
	flow_pattern_add(&same, flow(1));
	assert_null(solutions_find(&control.base, TO, &first));
	assert_true(solutions_save(&control.base, TO, &same, &path, 10));
	assert_non_null(solutions_find(&control.base, TO, &first));
}

static void a_solution_of_more_paths_than_there_are_is_cut(void **state)
{
	solve(1, 3);
	settle();
	path.count = 2;
	hear(0, 900, 1, 3);
	assert_int_equal(2, path.open);
}

static void a_pattern_is_bounded(void **state)
{
	struct flow_pattern pattern = {.count = 0};

	for (unsigned i = 0; i < SOLUTION_FLOWS_MAX; i++)
		assert_true(flow_pattern_add(&pattern, flow((uint16_t)i)));
	assert_false(flow_pattern_add(&pattern, flow(1000)));
}

static void a_flow_is_in_a_pattern_once(void **state)
{
	struct flow_pattern pattern = {.count = 0};

	assert_true(flow_pattern_add(&pattern, flow(1)));
	assert_false(flow_pattern_add(&pattern, flow(1)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_solution_paths_open_as_by_drb),
		TEST(stable_paths_are_saved),
		TEST(one_path_is_not_saved),
		TEST(nothing_is_saved_in_other_zones),
		TEST(by_the_letter_they_are_saved_below),
		TEST(the_same_pattern_brings_the_paths_back_at_once),
		TEST(another_pattern_does_not),
		TEST(no_flows_are_no_pattern),
		TEST(four_in_five_flows_suffice),
		TEST(three_in_four_do_not),
		TEST(part_of_the_stored_flows_suffices),
		TEST(of_the_union_it_does_not),
		TEST(another_destinations_solution_does_not_match),
		TEST(a_solution_is_applied_once_in_an_episode),
		TEST(a_new_episode_applies_it_again),
		TEST(an_episode_ends_at_one_path_in_zone_low),
		TEST(with_more_paths_it_does_not_end),
		TEST(a_pattern_is_the_union_over_an_episode),
		TEST(other_paths_flows_are_not_in_it),
		TEST(still_high_it_opens_further_paths),
		TEST(not_if_it_must_not_improve),
		TEST(a_lower_latency_replaces_a_solution),
		TEST(a_higher_latency_does_not),
		TEST(more_paths_replace_a_solution),
		TEST(the_least_recently_used_goes),
		TEST(a_new_flow_makes_the_database_answer_anew),
		TEST(a_new_solution_makes_the_database_answer_anew),
		TEST(the_most_similar_solution_matches),
		TEST(a_solution_of_more_paths_than_there_are_is_cut),
		TEST(a_pattern_is_bounded),
		TEST(a_flow_is_in_a_pattern_once),
	};

	return cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL);
}
