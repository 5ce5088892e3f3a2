/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "answers.h"

#include "unit.h"

#define HOSTS 3

static struct answers answers;

static void start(bool all, bool by_message, uint32_t threshold_ns)
{
	const struct answers_config config = {all, by_message, threshold_ns, HOSTS};

	assert_int_equal(0, answers_init(&answers, &config));
}

static int end(void **state)
{
	answers_fini(&answers);
	return 0;
}

static void by_marks_only_a_marked_frame_is_answered(void **state)
{
	struct cn plain = {.waiting_ns = 1000}, marked = {.flags = CN_F_FECN};

	start(false, false, 0);
	assert_false(answers_take(&answers, 1, true, &plain));
	assert_true(answers_take(&answers, 1, false, &marked));
	assert_int_equal(CN_F_FECN | CN_F_BECN, marked.flags);
	assert_int_equal(1, answers.sent);
}

static void by_latency_each_frame_is_answered(void **state)
{
	struct cn cn = {.waiting_ns = 0};

	start(true, false, 0);
	assert_true(answers_take(&answers, 1, false, &cn));
	assert_true(answers_take(&answers, 1, true, &cn));
	assert_int_equal(0, cn.flags & CN_F_BECN);
}

static void below_the_threshold_none_is(void **state)
{
	struct cn below = {.waiting_ns = 99}, at = {.waiting_ns = 100};

	start(true, false, 100);
	assert_false(answers_take(&answers, 1, true, &below));
	assert_true(answers_take(&answers, 1, true, &at));
}

static void a_mark_needs_no_threshold(void **state)
{
	struct cn cn = {.waiting_ns = 99, .flags = CN_F_FECN};

	start(true, false, 100);
	assert_true(answers_take(&answers, 1, true, &cn));
}

static void a_message_is_answered_at_its_last_frame_with_its_worst(void **state)
{
	struct cn worst = {
		.waiting_ns = 700, .flags = CN_F_PREDICTIVE, .flows = 1, .flow = {{1, 2}}};
	struct cn last = {.waiting_ns = 20, .message = 5, .sequence = 9};

	start(true, true, 0);
	assert_false(answers_take(&answers, 1, false, &worst));
	assert_true(answers_take(&answers, 1, true, &last));
	assert_int_equal(700, last.waiting_ns);
	assert_int_equal(1, last.flows);
	assert_int_equal(5, last.message);
	assert_int_equal(9, last.sequence);
}

static void a_mark_of_any_frame_is_the_messages(void **state)
{
	struct cn marked = {.flags = CN_F_FECN}, last = {.waiting_ns = 20};

	start(true, true, 0);
	answers_take(&answers, 1, false, &marked);
	assert_true(answers_take(&answers, 1, true, &last));
	assert_true(last.flags & CN_F_BECN);
}

static void the_next_message_begins_anew(void **state)
{
	struct cn first = {.waiting_ns = 700}, next = {.waiting_ns = 20};

	start(true, true, 0);
	answers_take(&answers, 1, true, &first);
	answers_take(&answers, 1, true, &next);
	assert_int_equal(20, next.waiting_ns);
}

static void messages_of_other_paths_and_sources_are_apart(void **state)
{
	struct cn first = {.waiting_ns = 700}, path = {.waiting_ns = 20, .path = 1};
	struct cn source = {.waiting_ns = 30};

	start(true, true, 0);
	answers_take(&answers, 1, false, &first);
	answers_take(&answers, 1, true, &path);
	answers_take(&answers, 2, true, &source);
	assert_int_equal(20, path.waiting_ns);
	assert_int_equal(30, source.waiting_ns);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_marks_only_a_marked_frame_is_answered),
		TEST(by_latency_each_frame_is_answered),
		TEST(below_the_threshold_none_is),
		TEST(a_mark_needs_no_threshold),
		TEST(a_message_is_answered_at_its_last_frame_with_its_worst),
		TEST(a_mark_of_any_frame_is_the_messages),
		TEST(the_next_message_begins_anew),
		TEST(messages_of_other_paths_and_sources_are_apart),
	};

	return cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL);
}
