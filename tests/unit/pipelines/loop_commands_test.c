/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real/loop_commands.h"

#include "real/real_private.h"
#include "unit.h"

UNIT_TEST(a_loop_takes_an_order_once)
{
	struct loop_commands orders = {0};
	unsigned seen = 0;

	assert_false(loop_commands_take(&orders, &seen));
	loop_commands_give(&orders, 1);
	assert_true(loop_commands_take(&orders, &seen));
	assert_false(loop_commands_take(&orders, &seen));
}

UNIT_TEST(an_order_is_done_when_all_loops_have_obeyed)
{
	struct loop_commands orders = {0};

	assert_true(loop_commands_done(&orders));
	loop_commands_give(&orders, 2);
	assert_false(loop_commands_done(&orders));
	loop_commands_obeyed(&orders);
	assert_false(loop_commands_done(&orders));
	loop_commands_obeyed(&orders);
	assert_true(loop_commands_done(&orders));
}

/* When traffic has begun, a loop may still be creating sources. No partial state may be read, and
 * traffic may not be stopped. */
UNIT_TEST(the_leader_waits_until_all_loops_have_obeyed)
{
	struct topology topology = {.links = 0};
	struct real_fabric fabric = {
		.options = {.topology = &topology},
		.phase = REAL_MEASURING,
		.loops = 2,
	};
	atomic_bool stop = true;

	fabric.work = &fabric.given;
	fabric.stop = &stop;
	fabric.deadlock_due = fabric.shortage.due = WEFT_TIME_NEVER;
	clock_start(&fabric.clock, 1);
	loop_commands_give(&fabric.orders, fabric.loops);
	loop_commands_obeyed(&fabric.orders);
	assert_false(real_lead(&fabric));
	assert_int_equal(fabric.phase, REAL_MEASURING);
	assert_int_equal(fabric.given.window.batches, 0);
}
