/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Exhausted pools, from the counters of any device that reports one. */

#include "lab/lab_ready.h"

#include "unit.h"

static void expect(json_t *devices, bool hosts, const char *said)
{
	struct error error = {""};

	assert_non_null(devices);
	assert_int_equal(
		lab_pools_check_counters(devices, hosts, &error), said == NULL ? 0 : -ENOBUFS);
	assert_string_equal(error.text, said == NULL ? "" : said);
	json_decref(devices);
}

UNIT_TEST(devices_without_such_a_counter_or_with_zero_are_well)
{
	expect(json_object(), false, NULL);
	expect(json_pack("{s:{s:i, s:i}, s:{s:i}}", "s0", "no_mbuf", 0, "frames", 9, "s1",
		       "no_mbufs", 7),
		false, NULL);
}

UNIT_TEST(the_device_and_how_often_are_said)
{
	expect(json_pack("{s:{s:i}, s:{s:I}}", "s0:1", "no_mbuf", 0, "s0:2", "no_mbuf",
		       (json_int_t)2047362),
		false,
		"s0:2: no buffer for control frames, 2047362 times: the pool of control frames is "
		"exhausted");
	expect(json_pack("{s:{s:i}}", "h3", "no_mbuf", 4), true,
		"h3: no buffer for sending, 4 times: a pool of this process is exhausted");
	expect(json_pack("{s:{s:i}}", "h3", "pool_empty", 4), true,
		"h3: no buffer, 4 times: a pool of this process is exhausted");
}

UNIT_TEST(of_several_the_first_is_named_and_the_others_are_counted)
{
	expect(json_pack("{s:{s:i, s:i}, s:{s:i}}", "s0", "no_mbuf", 1, "pool_empty", 2, "s1",
		       "no_mbuf", 5),
		false,
		"s0: no buffer for control frames, 1 times: the pool of control frames is exhausted (2 more counters also show this)");
}
