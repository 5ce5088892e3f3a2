/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "real/loop_commands.h"

#include "unit.h"

UNIT_TEST(down_cuts_and_up_joins)
{
	struct link_command order;

	assert_true(link_command_parse("s0:1 down", &order));
	assert_true(order.cut);
	assert_true(link_command_names(&order, "s0:1"));
	assert_false(link_command_names(&order, "s0:12"));
	assert_false(link_command_names(&order, "s0:"));
	assert_true(link_command_parse("s0:12 up", &order));
	assert_false(order.cut);
	assert_true(link_command_names(&order, "s0:12"));
	assert_false(link_command_names(&order, "s0:1"));
}

/* A misspelt word joins no cable. */
UNIT_TEST(any_other_word_is_no_order)
{
	static const char *const bad[] = {"", " ", "s0:1", "s0:1 ", "s0:1 dwon", "s0:1 upp",
		"s0:1  up", "s0:1 up ", "s0:1 Down", " down", "s0:1 down now"};
	struct link_command order;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(link_command_parse(bad[i], &order));
}
