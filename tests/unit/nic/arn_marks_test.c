/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/arn_marks.h"

#include "unit.h"

#define TTL (10 * PS_PER_MS)

static struct arn_marks marks;

UNIT_TEST(a_mark_holds_for_its_destination_and_vc_only)
{
	arn_marks_init(&marks, TTL);
	assert_false(arn_marks_has(&marks, 4, 1, 0));
	arn_marks_set(&marks, 4, 1, 0);
	assert_true(arn_marks_has(&marks, 4, 1, 0));
	assert_false(arn_marks_has(&marks, 4, 0, 0));
	assert_false(arn_marks_has(&marks, 5, 1, 0));
}

UNIT_TEST(a_mark_ends_with_its_time_unless_it_is_set_again)
{
	arn_marks_init(&marks, TTL);
	arn_marks_set(&marks, 4, 1, 7);
	assert_true(arn_marks_has(&marks, 4, 1, 6 + TTL));
	assert_false(arn_marks_has(&marks, 4, 1, 7 + TTL));
	arn_marks_set(&marks, 4, 1, 6 + TTL);
	assert_true(arn_marks_has(&marks, 4, 1, 5 + 2 * TTL));
	assert_false(arn_marks_has(&marks, 4, 1, 6 + 2 * TTL));
}

/* Also if another one is still alive. */
UNIT_TEST(each_mark_has_its_own_time)
{
	arn_marks_init(&marks, TTL);
	arn_marks_set(&marks, 4, 1, 0);
	arn_marks_set(&marks, 5, 1, TTL / 2);
	assert_false(arn_marks_has(&marks, 4, 1, TTL));
	assert_true(arn_marks_has(&marks, 5, 1, TTL));
}

UNIT_TEST(a_hundred_marks_live_side_by_side)
{
	arn_marks_init(&marks, TTL);
	for (uint16_t host = 0; host < 100; host++)
		arn_marks_set(&marks, (uint16_t)(host * 4), host % 3, host);
	for (uint16_t host = 0; host < 100; host++)
		assert_true(arn_marks_has(&marks, (uint16_t)(host * 4), host % 3, TTL - 1));
	for (uint16_t host = 0; host < 100; host++)
		arn_marks_set(&marks, (uint16_t)(host * 4), host % 3, TTL / 2);
	for (uint16_t host = 0; host < 100; host++)
		assert_true(arn_marks_has(&marks, (uint16_t)(host * 4), host % 3, TTL * 5 / 4));
	assert_int_equal(marks.forgotten, 0);
}

/* If there are too many marks, those that would end first are removed and counted. */
UNIT_TEST(the_latest_marks_are_kept_when_there_are_too_many)
{
	unsigned kept = 0, last = 0;

	arn_marks_init(&marks, TTL);
	for (uint16_t host = 0; host < 2000; host++)
		arn_marks_set(&marks, host, 0, host);
	for (uint16_t host = 0; host < 2000; host++)
		if (arn_marks_has(&marks, host, 0, 2000)) {
			kept++;
			last += host >= 1900;
		}
	assert_int_equal(kept + marks.forgotten, 2000);
	assert_true(kept > ARN_MARKS * 9 / 10);
	assert_int_equal(last, 100);
	/* And none of them is mistaken for another one. */
	for (uint16_t host = 0; host < 2000; host++) {
		assert_false(arn_marks_has(&marks, host, 1, 2000));
		assert_false(arn_marks_has(&marks, (uint16_t)(host + 2000), 0, 2000));
	}
}

UNIT_TEST(without_a_time_to_live_there_are_no_marks)
{
	struct arn_marks *some;

	assert_int_equal(arn_marks_create(&some, TTL), 0);
	assert_false(arn_marks_has(some, 4, 1, 0));
	arn_marks_set(some, 4, 1, 0);
	assert_true(arn_marks_has(some, 4, 1, TTL - 1));
	free(some);
	assert_int_equal(arn_marks_create(&some, 0), 0);
	assert_null(some);
}
