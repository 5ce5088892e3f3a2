/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A switch's poll loop under the orders of the control thread, which the test plays between
 * iterations (docs/explanation/the-mapper.md, 'In a process'). */

#include "switch_orders.h"

static unsigned order(enum device_order_kind kind)
{
	assert_true(device_control_order(control, kind));
	turn(&bench);
	return device_control_collect(control);
}

static void commit(struct switch_tables *tables)
{
	assert_true(device_control_commit(control, tables, NULL));
	turn(&bench);
	assert_int_equal(device_control_collect(control), 1);
}

UNIT_TEST(a_frame_of_the_mapper_goes_on_by_its_port)
{
	unsigned port, bytes;

	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	send_mapper(0, FRAME_SCOUT, 9, 0);
	turns(&bench, 5);
	assert_int_equal(bench.host[2].mapper_seen, 1); /* frames that passed frame_check() */
	assert_int_equal(bench.host[2].mapper_payload, 9);
	assert_int_equal(frame_header_const(bench.host[2].mapper_frame)->cursor, 1);
	assert_null(device_control_take(control, &port, &bytes));
	end();
}

UNIT_TEST(one_that_has_arrived_goes_up_as_it_came)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	for (uint8_t i = 0; i < 3; i++) {
		enum frame_kind kind = i % 2 == 0 ? FRAME_MAPPER : FRAME_SCOUT;

		send_mapper(0, kind, i, 1);
		turns(&bench, 5);
		expect_taken(0, kind, i);
	}
	assert_int_equal(bench.sw->port[0].count[SWITCH_CONTROL_AGENT], 3);
	end();
}

UNIT_TEST(what_has_no_room_above_is_lost_and_counted)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	for (uint8_t i = 0; i < 200; i++) {
		send_mapper(0, FRAME_MAPPER, i, 1);
		turn(&bench);
	}
	turns(&bench, 5);
	assert_int_equal(bench.sw->port[0].count[SWITCH_CONTROL_AGENT], 200);
	assert_true(device_control_dropped_up(control) > 0);
	end();
}

UNIT_TEST(without_a_control_thread_it_is_a_routing_error)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	poll_switch_set_control(bench.ps, NULL, NULL);
	send_mapper(0, FRAME_MAPPER, 1, 1);
	turns(&bench, 5);
	assert_int_equal(bench.sw->port[0].count[SWITCH_CONTROL_DISCARD_ROUTE], 1);
	end();
}

UNIT_TEST(frames_of_the_agent_leave_by_the_ports_that_it_says)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	expect_frames_of_the_agent_leave();
	end();
}

UNIT_TEST(frames_for_ports_that_are_not_up_are_lost_and_hold_nothing_up)
{
	begin(&(struct bench_config){.voq = true, .slots = 64});
	bench.host[1].silent = true; /* has not said hello */
	assert_true(order_send(1, 1));
	assert_true(order_send(PORTS, 1));
	turn(&bench);
	assert_int_equal(device_control_collect(control), 2);
	assert_int_equal(bench.ps->port[1].agent_lost, 1);
	bench.host[1].silent = false;
	turns(&bench, 100);
	assert_int_equal(bench.host[1].mapper_seen, 0);
	end();
}

UNIT_TEST(a_port_without_room_keeps_orders_in_their_order)
{
	unsigned kept = 0;

	begin_up(&(struct bench_config){.voq = true, .slots = 1});
	bench.host[1].silent = true;
	while (device_control_collect(control) == 1 || kept == 0) {
		assert_true(order_send(1, (uint8_t)kept++));
		turn(&bench);
		assert_true(kept < 100);
	}
	assert_true(device_control_order(control, DEVICE_PAUSE));
	turns(&bench, 10);
	assert_int_equal(device_control_collect(control), 0);
	assert_false(bench.ps->mapper.paused);
	bench.host[1].silent = false;
	turns(&bench, 1000);
	assert_int_equal(device_control_collect(control), 2);
	assert_true(bench.ps->mapper.paused);
	assert_int_equal(bench.host[1].mapper_seen, kept);
	assert_int_equal(bench.host[1].mapper_payload, kept - 1);
	end();
}

UNIT_TEST(links_that_are_up_are_told)
{
	begin(&(struct bench_config){.voq = true, .slots = 64});
	bench.host[3].silent = true;
	turn(&bench);
	turns(&bench, 100);
	assert_int_equal(device_control_linked(control), 7);
	bench.host[3].silent = false;
	turns(&bench, 2000);
	assert_int_equal(device_control_linked(control), 15);
	end();
}

UNIT_TEST(a_switch_is_idle_only_while_it_pauses)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	assert_false(device_control_idle(control));
	order(DEVICE_PAUSE);
	turn(&bench);
	assert_true(device_control_idle(control));
	order(DEVICE_RESUME);
	turn(&bench);
	assert_false(device_control_idle(control));
	end();
}

UNIT_TEST(a_turn_in_which_data_passes_is_not_idle)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	order(DEVICE_PAUSE);
	turn(&bench);
	assert_true(device_control_idle(control));
	send_data(&bench, 0, 2);
	turn(&bench);
	assert_int_equal(left_by(2), 1); /* past the queues, in that turn */
	assert_false(device_control_idle(control));
	turn(&bench);
	assert_true(device_control_idle(control));
	end();
}

UNIT_TEST(a_switch_that_stores_data_is_not_idle)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	order(DEVICE_PAUSE);
	withhold_credits(2);
	send_data(&bench, 0, 2);
	for (unsigned i = 0; i < 20; i++) {
		turn(&bench);
		assert_false(device_control_idle(control));
	}
	bench.host[2].silent = false;
	turns(&bench, 1000);
	assert_true(device_control_idle(control));
	assert_int_equal(bench.host[2].data_seen, 1);
	end();
}

/* Links with one slot, which hellos and credit frames do not use for 10 us. */
static void begin_with_one_slot(void)
{
	const struct link_end *link;

	begin_up(&(struct bench_config){.voq = true, .slots = 1});
	link = &bench.sw->port[2].link;
	while (RTE_MIN(link->hello_due, link->credit_due) < bench.now + 10 * PS_PER_US)
		turn(&bench);
}

UNIT_TEST(data_that_waits_for_its_port_is_not_idle)
{
	begin_with_one_slot();
	bench.host[2].silent = true;
	order(DEVICE_PAUSE);
	for (unsigned i = 0; i < 3 && !tx_queue_holds_data(&bench.ps->port[2].tx); i++) {
		send_data(&bench, 0, 2);
		turn(&bench);
	}
	assert_true(switch_is_empty(bench.sw));
	assert_true(tx_queue_holds_data(&bench.ps->port[2].tx));
	assert_false(device_control_idle(control));
	bench.host[2].silent = false;
	turns(&bench, 1000);
	assert_true(device_control_idle(control));
	end();
}

/* Host 2 does not read, and its port has no space, so frames to it wait. Returns how many frames
 * were sent. */
static unsigned fill_port_two(void)
{
	unsigned sent = 0;

	bench.lossy = true;
	bench.host[2].silent = true;
	for (; !tx_queue_holds_data(&bench.ps->port[2].tx); sent++) {
		assert_true(sent < 5);
		send_data(&bench, 0, 2);
		turn(&bench);
	}
	return sent;
}

/* The switch is paused. Returns how many frames were sent. */
static unsigned begin_with_port_two_full(void)
{
	begin_with_one_slot();
	order(DEVICE_PAUSE);
	return fill_port_two();
}

/* The neighbour may be unresponsive for hours, during which its port accepts nothing. */
UNIT_TEST(data_for_a_neighbour_that_has_gone_is_idle_when_its_link_is_down)
{
	unsigned sent = begin_with_port_two_full();
	const struct tx_queue *tx = &bench.ps->port[2].tx;

	while (bench.sw->linked >> 2 & 1) {
		assert_false(device_control_idle(control));
		turn(&bench);
	}
	for (unsigned i = 0; i < 5000; i++) {
		turn(&bench);
		assert_true(device_control_idle(control));
		assert_false(tx_queue_holds_data(tx));
	}
	assert_true(tx->lost > 0);
	order(DEVICE_RESUME);
	bench.host[2].silent = false;
	turns(&bench, 5000);
	assert_int_equal(bench.host[2].data_seen + tx->lost, sent);
	assert_int_equal(bench.host[2].link.blocks_healed, tx->lost); /* a block each */
	expect_whole_credits();
	end();
}

UNIT_TEST(a_purge_takes_the_data_that_waits_for_its_port_and_leaves_other_frames)
{
	unsigned sent = begin_with_port_two_full();
	const struct tx_queue *tx = &bench.ps->port[2].tx;

	for (uint8_t i = 1; i <= 3; i++) {
		assert_true(order_send(2, i));
		turn(&bench);
	}
	assert_int_equal(device_control_collect(control), 3);
	assert_false(device_control_idle(control));
	order(DEVICE_PURGE);
	assert_int_not_equal(bench.sw->linked & BIT64(2), 0);
	turn(&bench);
	assert_true(device_control_idle(control));
	assert_true(tx->lost > 0);
	bench.host[2].silent = false;
	turns(&bench, 1000);
	assert_int_equal(bench.host[2].data_seen + tx->lost, sent);
	assert_int_equal(bench.host[2].mapper_seen, 3);
	assert_int_equal(bench.host[2].mapper_payload, 3);
	expect_whole_credits();
	end();
}

UNIT_TEST(frames_of_the_mapper_do_not_keep_a_switch_from_being_idle)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	order(DEVICE_PAUSE);
	turn(&bench);
	for (uint8_t i = 0; i < 20; i++) {
		send_mapper(0, FRAME_MAPPER, i, 0);
		turn(&bench);
		assert_true(device_control_idle(control));
	}
	end();
}

UNIT_TEST(a_commit_counts_for_what_comes_after_it)
{
	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	bench.astray = bench.lossy = true;
	commit(make_tables(2, 3));
	send_data(&bench, 0, 2);
	turns(&bench, 5);
	assert_int_equal(left_by(3), 1);
	commit(make_tables(2, 1));
	send_data(&bench, 0, 2);
	turns(&bench, 5);
	assert_int_equal(left_by(1), 1);
	assert_int_equal(left_by(2), 0);
	end();
}

UNIT_TEST(service_levels_go_into_the_queues_that_a_commit_names)
{
	struct switch_tables *tables = make_tables(2, 2);

	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	tables->queues = 1;
	commit(tables);
	assert_int_equal(bench.sw->sl_to_vc[0], 0);
	assert_int_equal(bench.sw->sl_to_vc[1], 0);
	tables = make_tables(2, 2);
	tables->queues = 2;
	commit(tables);
	assert_int_equal(bench.sw->sl_to_vc[1], 1);
	assert_int_equal(bench.sw->sl_to_vc[2], 0);
	commit(make_tables(2, 2));
	assert_int_equal(bench.sw->sl_to_vc[1], 1);
	end();
}

UNIT_TEST(tables_that_the_switch_cannot_use_go_back)
{
	struct switch_tables *good = make_tables(2, 3), *bad = make_tables(2, 1);

	begin_up(&(struct bench_config){.voq = true, .slots = 64});
	bench.astray = true;
	commit(good);
	bad->queues = VCS + 1;
	commit(bad);
	assert_ptr_equal(bench.ps->mapper.tables, good);
	assert_int_equal(device_control_refusals(control), 1);
	send_data(&bench, 0, 2);
	turns(&bench, 5);
	assert_int_equal(left_by(3), 1);
	end();
}

static void purge(void)
{
	order(DEVICE_PURGE);
}

static void a_purge_under_load_loses_what_is_stored_and_no_credit(bool voq)
{
	begin_up(&(struct bench_config){.voq = voq, .slots = 8});
	purge_under_load(purge);
	assert_true(sum_count(&bench, SWITCH_DISCARD_PURGED) > 100);
	end();
}

UNIT_TEST(a_purge_loses_what_is_stored_and_no_credit)
{
	a_purge_under_load_loses_what_is_stored_and_no_credit(true);
	a_purge_under_load_loses_what_is_stored_and_no_credit(false);
}

/* Hosts accept nothing for longer than three hellos, one host after the other. */
static void neighbours_come_and_go(bool voq)
{
	uint64_t lost = 0;

	begin_up(&(struct bench_config){.voq = voq, .slots = 1});
	bench.lossy = bench.sending = true;
	for (unsigned i = 0; i < PORTS; i++) {
		bench.host[i].silent = true;
		turns(&bench, 3200);
		assert_int_equal(bench.sw->linked >> i & 1, 0);
		assert_false(tx_queue_holds_data(&bench.ps->port[i].tx));
		bench.host[i].silent = false;
		turns(&bench, 1000);
	}
	come_to_rest();
	for (unsigned i = 0; i < PORTS; i++)
		lost += bench.ps->port[i].tx.lost;
	assert_true(lost > PORTS);
	end();
}

UNIT_TEST(what_waits_for_neighbours_that_go_is_accounted_for_and_no_credit_is_lost)
{
	neighbours_come_and_go(true);
	neighbours_come_and_go(false);
}

static void send_drawn(void)
{
	if (tx_queue_has_room(&bench.host[0].tx))
		send_mapper(0, FRAME_MAPPER, 1, (uint8_t)rng_below(&bench.rng, 3));
}

UNIT_TEST(tables_change_and_not_a_frame_is_lost_or_overtaken)
{
	exchange_under_load(&(struct bench_config){.voq = true, .slots = 8}, send_drawn);
	exchange_under_load(&(struct bench_config){.voq = true, .slots = 1}, send_drawn);
	exchange_under_load(&(struct bench_config){.voq = false, .slots = 8}, send_drawn);
}

int main(void)
{
	char name[] = "poll-switch-control-test";

	return run_with_eal(name, POOL_MBUFS, &pool);
}
