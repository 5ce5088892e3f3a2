/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/congestion/source_control.h"

#include "unit.h"

#define HOSTS 4
#define TO    2

static struct source_control *control;
static const uint8_t switches[] = {2, 4, 4, 4};

/* Zero-load times of 100, plus 10 per switch: 120, 140. */
static void start(enum source_control_kind kind)
{
	struct source_control_config config;

	source_control_config_default(&config);
	config.kind = kind;
	config.hosts = HOSTS;
	config.frame_ns = 100;
	config.hop_ns = 10;
	config.paths.close_gap_ns = 0;
	config.iba.timer_ns = 1000;
	control = source_control_create(&config);
	assert_non_null(control);
	source_control_begin(control, TO, 4, switches);
}

static int end(void **state)
{
	source_control_destroy(control);
	control = NULL;
	return 0;
}

static void hear_at(struct cn cn, uint64_t now)
{
	source_control_on_notification(control, TO, &cn, now);
}

static void hear(struct cn cn)
{
	hear_at(cn, 0);
}

static uint64_t count(enum source_control_counter counter)
{
	uint64_t counts[SOURCE_CONTROL_COUNTER_COUNT];

	source_control_counters(control, counts);
	return counts[counter];
}

/* Paths that messages currently use, as a set. */
static unsigned taken(void)
{
	unsigned set = 0;

	for (unsigned i = 0; i < 200; i++)
		set |= 1u << source_control_choose(control, TO, 0);
	return set;
}

#define TEST(name) UNIT_WITH(name, NULL, end)

TEST(zero_load_times_grow_with_the_switches_of_a_path)
{
	start(SOURCE_CONTROL_DRB);
	assert_int_equal(120, control->path[TO].zero_ns[0]);
	assert_int_equal(140, control->path[TO].zero_ns[1]);
}

TEST(iba_cc_slows_down_and_opens_nothing)
{
	start(SOURCE_CONTROL_IBA_CC);
	hear((struct cn){.flags = CN_F_BECN});
	source_control_sent(control, TO, 80, 100);
	assert_int_equal(100 + 80 + 10, source_control_ready_ns(control, TO));
	assert_int_equal(1, taken());
}

TEST(a_pause_counts_as_far_as_something_waited)
{
	start(SOURCE_CONTROL_IBA_CC);
	hear((struct cn){.flags = CN_F_BECN});
	source_control_sent(control, TO, 80, 100); /* ready at 190 */
	source_control_count_pause(control, TO, 150, 200);
	assert_int_equal(40, count(SOURCE_CONTROL_THROTTLED_NS));
	source_control_count_pause(control, TO, 195, 200);
	assert_int_equal(40, count(SOURCE_CONTROL_THROTTLED_NS));
}

TEST(iba_cc_ignores_what_is_not_marked)
{
	start(SOURCE_CONTROL_IBA_CC);
	hear((struct cn){.waiting_ns = 100000});
	source_control_sent(control, TO, 80, 100);
	assert_int_equal(180, source_control_ready_ns(control, TO));
}

TEST(drb_cn_opens_and_does_not_slow_down)
{
	start(SOURCE_CONTROL_DRB_CN);
	hear((struct cn){.flags = CN_F_BECN});
	assert_int_equal(3, taken());
	source_control_sent(control, TO, 80, 100);
	assert_int_equal(0, source_control_ready_ns(control, TO));
	assert_int_equal(1, count(SOURCE_CONTROL_PATHS_OPENED));
}

TEST(drb_cn_ignores_what_is_not_marked)
{
	start(SOURCE_CONTROL_DRB_CN);
	hear((struct cn){.waiting_ns = 100000});
	assert_int_equal(1, taken());
}

TEST(drb_cn_closes_by_its_timer_when_a_message_leaves)
{
	start(SOURCE_CONTROL_DRB_CN);
	hear((struct cn){.flags = CN_F_BECN});
	source_control_choose(control, TO, 5000);
	assert_int_equal(1, count(SOURCE_CONTROL_PATHS_CLOSED));
}

TEST(drb_opens_by_latency_and_not_by_marks)
{
	start(SOURCE_CONTROL_DRB);
	hear((struct cn){.flags = CN_F_BECN});
	assert_int_equal(1, taken());
	hear((struct cn){.waiting_ns = 100000});
	assert_int_equal(3, taken());
	assert_int_equal(1, count(SOURCE_CONTROL_PATHS_OPENED));
	assert_int_equal(0, source_control_ready_ns(control, TO));
}

TEST(a_pair_hears_for_itself)
{
	start(SOURCE_CONTROL_DRB);
	source_control_begin(control, 1, 4, switches);
	hear((struct cn){.waiting_ns = 100000});
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(0, source_control_choose(control, 1, 0));
}

TEST(a_path_that_the_pair_does_not_have_is_ignored)
{
	start(SOURCE_CONTROL_DRB);
	hear((struct cn){.waiting_ns = 100000, .path = 4});
	hear((struct cn){.waiting_ns = 100000, .path = 200});
	assert_int_equal(1, taken());
}

TEST(a_host_that_there_is_not_is_ignored)
{
	const struct cn cn = {.waiting_ns = 100000};

	start(SOURCE_CONTROL_DRB);
	source_control_on_notification(control, HOSTS, &cn, 0);
	assert_int_equal(0, count(SOURCE_CONTROL_CN_RECEIVED));
}

TEST(new_routes_forget_what_was_open)
{
	start(SOURCE_CONTROL_PR_DRB);
	hear((struct cn){.waiting_ns = 100000, .flows = 1, .flow = {{1, 3}}});
	source_control_begin(control, TO, 4, switches);
	assert_int_equal(1, taken());
	assert_int_equal(0, control->episode[TO].pattern.count);
}

TEST(pr_drb_counts_its_database)
{
	start(SOURCE_CONTROL_PR_DRB);
	hear((struct cn){.waiting_ns = 1000, .flows = 1, .flow = {{1, 3}}});
	hear((struct cn){.waiting_ns = 300});
	assert_int_equal(1, count(SOURCE_CONTROL_SOLUTIONS_MISSED));
	assert_int_equal(1, count(SOURCE_CONTROL_SOLUTIONS_SAVED));
	assert_int_equal(1, count(SOURCE_CONTROL_SOLUTIONS_STORED));
	assert_int_equal(1, count(SOURCE_CONTROL_PATHS_OPENED));
}

/* --- drb-cc --- */

static const struct cn incast = {.waiting_ns = 100000, .flows = 2, .flow = {{1, TO}, {3, TO}}};
static const struct cn crossing = {.waiting_ns = 100000, .flows = 2, .flow = {{1, TO}, {3, 1}}};
static const struct cn mixed = {
	.waiting_ns = 100000, .flows = 3, .flow = {{1, TO}, {3, TO}, {3, 1}}};

TEST(flows_to_other_hosts_open_a_path)
{
	start(SOURCE_CONTROL_DRB_CC);
	hear(crossing);
	hear(crossing);
	hear(crossing);
	assert_int_not_equal(1, taken());
	source_control_sent(control, TO, 80, 100);
	assert_int_equal(180, source_control_ready_ns(control, TO));
}

/* All links are busy with ever different flows. */
TEST(flows_that_never_come_again_open_nothing)
{
	start(SOURCE_CONTROL_DRB_CC);
	for (uint16_t i = 0; i < 50; i++)
		hear((struct cn){.waiting_ns = 100000, .flows = 2, .flow = {{i, 1}, {i, 3}}});
	assert_int_equal(1, taken());
}

TEST(flows_that_no_longer_come_again_close_what_is_open)
{
	start(SOURCE_CONTROL_DRB_CC);
	for (unsigned i = 0; i < 3; i++)
		hear(crossing);
	for (uint16_t i = 0; i < 3 * DRB_CC_SCORE_MAX; i++)
		hear((struct cn){.waiting_ns = 100000, .flows = 2, .flow = {{i, 9}, {i, 10}}});
	assert_int_equal(1, taken());
}

/* This many flows, one after the other, repeatedly. */
static void hear_in_turn(uint16_t flows)
{
	start(SOURCE_CONTROL_DRB_CC);
	for (uint16_t round = 0; round < 4; round++)
		for (uint16_t i = 0; i < flows; i++)
			hear((struct cn){.waiting_ns = 100000, .flows = 1, .flow = {{i, 1}}});
}

TEST(a_flow_is_remembered_until_so_many_others_have_come)
{
	hear_in_turn(DRB_CC_RECENT);
	assert_true(taken() > 1);
	end(state);
	hear_in_turn(DRB_CC_RECENT + 1);
	assert_int_equal(1, taken());
}

TEST(one_notification_of_an_incast_does_not_slow_down)
{
	start(SOURCE_CONTROL_DRB_CC);
	for (unsigned i = 0; i < 3; i++)
		hear(crossing);
	hear(incast);
	source_control_sent(control, TO, 80, 100);
	assert_int_equal(180, source_control_ready_ns(control, TO));
}

TEST(an_incast_slows_down_and_opens_nothing)
{
	start(SOURCE_CONTROL_DRB_CC);
	hear(incast);
	assert_int_equal(1, taken());
	/* Two other sources cause a pause of two packets. */
	source_control_sent(control, TO, 80, 100);
	assert_int_equal(100 + 80 + 160, source_control_ready_ns(control, TO));
}

TEST(it_is_one_if_most_flows_share_the_destination)
{
	start(SOURCE_CONTROL_DRB_CC);
	hear(mixed);
	assert_int_equal(1, taken());
	source_control_sent(control, TO, 80, 100);
	assert_int_equal(100 + 80 + 160, source_control_ready_ns(control, TO));
}

TEST(sources_are_counted_once_and_over_notifications)
{
	start(SOURCE_CONTROL_DRB_CC);
	hear((struct cn){.flows = 1, .flow = {{1, TO}}});
	hear((struct cn){.flows = 1, .flow = {{3, TO}}});
	hear((struct cn){.flows = 1, .flow = {{1, TO}}});
	assert_int_equal(2, control->end[TO].sources);
}

TEST(sources_are_forgotten_once_nothing_pauses)
{
	start(SOURCE_CONTROL_DRB_CC);
	hear(incast);
	hear_at((struct cn){.flows = 1, .flow = {{1, TO}}}, 100000);
	assert_int_equal(1, control->end[TO].sources);
}

TEST(an_incast_closes_what_is_open)
{
	start(SOURCE_CONTROL_DRB_CC);
	for (unsigned i = 0; i < 3; i++)
		hear(crossing);
	for (unsigned i = 0; i < 6; i++)
		hear(incast);
	assert_int_equal(1, taken());
}

TEST(without_flows_the_last_judgement_holds)
{
	start(SOURCE_CONTROL_DRB_CC);
	hear(incast);
	hear((struct cn){.waiting_ns = 100000});
	assert_int_equal(1, taken());
	source_control_sent(control, TO, 80, 100);
	assert_int_equal(100 + 80 + 160, source_control_ready_ns(control, TO));
}

TEST(an_incast_that_ends_is_forgotten)
{
	start(SOURCE_CONTROL_DRB_CC);
	for (unsigned i = 0; i < 50; i++)
		hear(incast);
	for (unsigned i = 0; i < 2 * DRB_CC_SCORE_MAX; i++)
		hear(crossing);
	assert_int_not_equal(1, taken());
}
