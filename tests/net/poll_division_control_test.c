/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A divided switch under the orders of the control thread, which the test plays between iterations.
 * To the control thread, the shards are one switch. Ports 0 and 2 belong to the first shard, 1 and
 * 3 to the second. */

#include "switch_orders.h"

static void begin_parts(unsigned shards)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 64, .shards = shards});
}

/* Runs until the order is complete. */
static void finish_orders(void)
{
	for (unsigned i = 0; !device_control_caught_up(control); i++) {
		assert_true(i < 1000);
		turn(&bench);
	}
	device_control_collect(control);
}

static void order(enum device_order_kind kind)
{
	assert_true(device_control_order(control, kind));
	finish_orders();
}

static void commit(struct switch_tables *tables)
{
	assert_true(device_control_commit(control, tables, NULL));
	finish_orders();
}

UNIT_TEST(a_frame_for_the_agent_goes_up_from_any_part)
{
	begin_parts(2);
	for (uint8_t i = 0; i < PORTS; i++) {
		send_mapper(i, FRAME_MAPPER, i, 1);
		turns(&bench, 20);
		expect_taken(i, FRAME_MAPPER, i);
	}
	end();
}

UNIT_TEST(frames_of_the_agent_leave_by_the_ports_of_all_parts)
{
	begin_parts(3);
	expect_frames_of_the_agent_leave();
	end();
}

UNIT_TEST(a_frame_of_the_agent_for_a_link_that_is_down_is_lost)
{
	begin_parts(2);
	bench.lossy = true;
	bench.host[1].silent = true;
	turns(&bench, 5000);
	assert_true(order_send(1, 1));
	turns(&bench, 20);
	assert_int_equal(loop_of(&bench, 1)->port[1].agent_lost, 1);
	end();
}

UNIT_TEST(the_links_of_all_parts_are_told)
{
	begin_parts(2);
	assert_int_equal(device_control_linked(control), 15);
	bench.lossy = true;
	bench.host[3].silent = true;
	turns(&bench, 5000);
	assert_int_equal(device_control_linked(control), 7);
	end();
}

UNIT_TEST(a_switch_is_idle_when_all_its_parts_are)
{
	begin_parts(2);
	assert_false(device_control_idle(control));
	order(DEVICE_PAUSE);
	turns(&bench, 10);
	assert_true(device_control_idle(control));
	order(DEVICE_RESUME);
	assert_false(device_control_idle(control));
	end();
}

/* From the first shard to the second, in the other direction, and within the second. */
UNIT_TEST(a_part_that_stores_data_keeps_the_switch_from_being_idle)
{
	for (unsigned i = 0; i < 3; i++) {
		static const unsigned pair[3][2] = {{0, 1}, {1, 0}, {1, 3}};
		unsigned to = pair[i][1];

		begin_parts(2);
		order(DEVICE_PAUSE);
		withhold_credits(to);
		send_data(&bench, pair[i][0], to);
		turns(&bench, 10);
		for (unsigned turns_left = 50; turns_left > 0; turns_left--) {
			turn(&bench);
			assert_false(device_control_idle(control));
		}
		bench.host[to].silent = false;
		turns(&bench, 1000);
		assert_true(device_control_idle(control));
		assert_int_equal(bench.host[to].data_seen, 1);
		end();
	}
}

UNIT_TEST(a_commit_counts_for_what_comes_after_it_in_all_parts)
{
	begin_parts(2);
	bench.astray = bench.lossy = true;
	commit(make_tables(2, 3));
	send_data(&bench, 0, 2);
	send_data(&bench, 1, 2);
	turns(&bench, 20);
	assert_int_equal(left_by(3), 2);
	commit(make_tables(2, 1));
	send_data(&bench, 0, 2);
	send_data(&bench, 3, 2);
	turns(&bench, 20);
	assert_int_equal(left_by(1), 2);
	assert_int_equal(left_by(2), 0);
	end();
}

UNIT_TEST(tables_go_back_when_no_part_uses_them)
{
	begin_parts(2);
	commit(make_tables(2, 2));
	assert_true(device_control_commit(control, make_tables(2, 2), NULL));
	for (unsigned i = 0; i < 20; i++) /* the second shard does not run */
		poll_switch_run(bench.division->shard[0], bench.now);
	assert_int_equal(device_control_collect(control), 0);
	finish_orders();
	end();
}

UNIT_TEST(tables_that_the_switch_cannot_use_go_back)
{
	struct switch_tables *good = make_tables(2, 3), *bad = make_tables(2, 1);

	begin_parts(2);
	bench.astray = true;
	commit(good);
	bad->queues = VCS + 1;
	commit(bad);
	assert_ptr_equal(bench.ps->mapper.tables, good);
	assert_int_equal(device_control_refusals(control), 1);
	send_data(&bench, 1, 2);
	turns(&bench, 20);
	assert_int_equal(left_by(3), 1);
	end();
}

static void purge(void)
{
	order(DEVICE_PURGE);
}

UNIT_TEST(a_purge_loses_what_is_stored_in_all_parts_and_no_credit)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 8, .shards = 2});
	purge_under_load(purge);
	assert_true(sum_part(0, SWITCH_DISCARD_PURGED) > 50);
	assert_true(sum_part(1, SWITCH_DISCARD_PURGED) > 50);
	end();
}

static void send_drawn(void)
{
	unsigned from = (unsigned)rng_below(&bench.rng, PORTS);

	if (tx_queue_has_room(&bench.host[from].tx))
		send_mapper(from, FRAME_MAPPER, 1, 1);
}

UNIT_TEST(tables_change_in_all_parts_and_not_a_frame_is_lost_or_overtaken)
{
	static const struct bench_config configs[] = {{.voq = true, .slots = 8, .shards = 2},
		{.voq = true, .slots = 1, .shards = 4}, {.voq = true, .slots = 64, .shards = 3}};

	for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++)
		exchange_under_load(&configs[i], send_drawn);
}

int main(void)
{
	char name[] = "poll-division-control-test";

	return run_with_eal(name, POOL_MBUFS, &pool);
}
