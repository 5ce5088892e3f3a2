/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/congestion/cn_generator.h"

#include "unit.h"

#define HOSTS 3

static struct answers answers;

static void start(bool all, bool by_message, uint32_t threshold_ns)
{
	const struct cn_generator_config config = {all, by_message, threshold_ns, HOSTS};

	assert_int_equal(0, cn_generator_init(&answers, &config));
}

static int end(void **state)
{
	cn_generator_fini(&answers);
	return 0;
}

#define TEST(name) UNIT_WITH(name, NULL, end)

TEST(by_marks_only_a_marked_frame_is_answered)
{
	struct cn plain = {.waiting_ns = 1000}, marked = {.flags = CN_F_FECN};

	start(false, false, 0);
	assert_false(cn_generator_take(&answers, 1, true, &plain, 0));
	assert_true(cn_generator_take(&answers, 1, false, &marked, 0));
	assert_int_equal(CN_F_FECN | CN_F_BECN, marked.flags);
	assert_int_equal(1, answers.sent);
}

TEST(by_latency_each_frame_is_answered)
{
	struct cn cn = {.waiting_ns = 0};

	start(true, false, 0);
	assert_true(cn_generator_take(&answers, 1, false, &cn, 0));
	assert_true(cn_generator_take(&answers, 1, true, &cn, 0));
	assert_int_equal(0, cn.flags & CN_F_BECN);
}

TEST(below_the_threshold_none_is)
{
	struct cn below = {.waiting_ns = 99}, at = {.waiting_ns = 100};

	start(true, false, 100);
	assert_false(cn_generator_take(&answers, 1, true, &below, 0));
	assert_true(cn_generator_take(&answers, 1, true, &at, 0));
}

TEST(a_mark_needs_no_threshold)
{
	struct cn cn = {.waiting_ns = 99, .flags = CN_F_FECN};

	start(true, false, 100);
	assert_true(cn_generator_take(&answers, 1, true, &cn, 0));
}

TEST(a_message_is_answered_at_its_last_frame_with_its_worst)
{
	struct cn worst = {
		.waiting_ns = 700, .flags = CN_F_PREDICTIVE, .flows = 1, .flow = {{1, 2}}};
	struct cn last = {.waiting_ns = 20, .message = 5, .sequence = 9};

	start(true, true, 0);
	assert_false(cn_generator_take(&answers, 1, false, &worst, 0));
	assert_true(cn_generator_take(&answers, 1, true, &last, 0));
	assert_int_equal(700, last.waiting_ns);
	assert_int_equal(1, last.flows);
	assert_int_equal(5, last.message);
	assert_int_equal(9, last.sequence);
}

TEST(a_mark_of_any_frame_is_the_messages)
{
	struct cn marked = {.flags = CN_F_FECN}, last = {.waiting_ns = 20};

	start(true, true, 0);
	cn_generator_take(&answers, 1, false, &marked, 0);
	assert_true(cn_generator_take(&answers, 1, true, &last, 0));
	assert_true(last.flags & CN_F_BECN);
}

TEST(the_next_message_begins_anew)
{
	struct cn first = {.waiting_ns = 700}, next = {.waiting_ns = 20};

	start(true, true, 0);
	cn_generator_take(&answers, 1, true, &first, 0);
	cn_generator_take(&answers, 1, true, &next, 0);
	assert_int_equal(20, next.waiting_ns);
}

TEST(messages_of_other_paths_and_sources_are_apart)
{
	struct cn first = {.waiting_ns = 700}, path = {.waiting_ns = 20, .path = 1};
	struct cn source = {.waiting_ns = 30};

	start(true, true, 0);
	cn_generator_take(&answers, 1, false, &first, 0);
	cn_generator_take(&answers, 1, true, &path, 0);
	cn_generator_take(&answers, 2, true, &source, 0);
	assert_int_equal(20, path.waiting_ns);
	assert_int_equal(30, source.waiting_ns);
}

TEST(within_the_gap_marks_of_a_source_are_not_answered)
{
	const struct cn_generator_config config = {.hosts = HOSTS, .gap_ps = 50};
	struct cn first = {.flags = CN_F_FECN}, soon = first, other = first, later = first;

	assert_int_equal(0, cn_generator_init(&answers, &config));
	assert_true(cn_generator_take(&answers, 1, false, &first, 1000));
	assert_false(cn_generator_take(&answers, 1, false, &soon, 1049));
	assert_true(cn_generator_take(&answers, 2, false, &other, 1049));
	assert_true(cn_generator_take(&answers, 1, false, &later, 1050));
}
