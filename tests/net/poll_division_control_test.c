/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The parts of a switch under the orders of the control thread, which is played here between turns:
 * to it they are one switch. Ports 0 and 2 are the first part's, 1 and 3 the second one's. */

#include "device_control.h"
#include "switch_neighbours.h"

#define FRAMES 8 /* that wait, each way */

static const uint8_t to_two[] = {ROUTE_PORT_BIT | 2, ROUTE_TYPE_AGENT};

static struct bench bench;
static struct device_control *control;

static void begin_up(unsigned parts, unsigned slots)
{
	control = device_control_create(1600, FRAMES);
	assert_non_null(control);
	start(&bench, &(struct bench_config){.voq = true, .slots = slots, .parts = parts});
	poll_division_set_control(bench.division, control, pool);
	bench.sending = false;
	turns(&bench, 2000);
}

static void end(void)
{
	stop(&bench);
	device_control_destroy(control);
}

static unsigned build(uint8_t *frame, uint8_t number)
{
	const struct frame_fields fields = {.kind = FRAME_MAPPER,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE,
		.route = to_two,
		.route_length = sizeof(to_two),
		.payload_bytes = 40};

	memset(frame + FRAME_HEADER_BYTES + sizeof(to_two), number, 40);
	return frame_build(frame, &fields);
}

/* For the agent of the switch. */
static void send_mapper(unsigned from, uint8_t number)
{
	uint8_t *frame;
	struct rte_mbuf *mbuf = make_frame(&frame);
	unsigned bytes = build(frame, number);

	frame_update_mutable(frame, frame_mutable_word(0, 0, 1, 0));
	rte_pktmbuf_data_len(mbuf) = (uint16_t)bytes;
	rte_pktmbuf_pkt_len(mbuf) = bytes;
	mbuf_packet(mbuf)->arrived_ps = bench.now;
	tx_queue_send(&bench.host[from].tx, &mbuf, 1, bench.now);
}

static bool order_send(unsigned port, uint8_t number)
{
	uint8_t frame[256];
	unsigned bytes = build(frame, number);

	return device_control_send(control, port, frame, bytes);
}

/* Until it is done. */
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

/* Every host behind its own port, but for 'host', which is behind 'port'. */
static struct switch_tables *make_tables(unsigned host, uint8_t port)
{
	struct switch_tables *tables = switch_tables_create(PORTS);

	assert_non_null(tables);
	for (unsigned i = 0; i < PORTS; i++) {
		tables->port[i] = (uint8_t)(i == host ? port : i);
		tables->alternatives[i] = BIT64(tables->port[i]);
	}
	return tables;
}

static void commit(struct switch_tables *tables)
{
	assert_true(device_control_commit(control, tables, NULL));
	finish_orders();
}

static uint64_t left_by(unsigned port)
{
	return loop_of(&bench, port)->sw->port[port].count[SWITCH_DATA_OUT];
}

static void a_frame_for_the_agent_goes_up_from_any_part(void **state)
{
	uint8_t expected[256];
	unsigned port, bytes;

	(void)state;
	begin_up(2, 64);
	for (uint8_t i = 0; i < PORTS; i++) {
		const uint8_t *frame;

		send_mapper(i, i);
		turns(&bench, 20);
		frame = device_control_take(control, &port, &bytes);
		assert_non_null(frame);
		assert_int_equal(port, i);
		assert_int_equal(bytes, build(expected, i));
		frame_update_mutable(expected, frame_mutable_word(0, 0, 1, 0));
		assert_memory_equal(frame, expected, bytes);
		device_control_taken(control);
	}
	end();
}

static void frames_of_the_agent_leave_by_the_ports_of_all_parts(void **state)
{
	(void)state;
	begin_up(3, 64);
	for (uint8_t i = 0; i < PORTS; i++)
		assert_true(order_send(i, (uint8_t)(i + 20)));
	turns(&bench, 100);
	assert_int_equal(device_control_collect(control), PORTS);
	for (unsigned i = 0; i < PORTS; i++) {
		assert_int_equal(loop_of(&bench, i)->port[i].agent_sent, 1);
		assert_int_equal(bench.host[i].mapper_seen, 1);
		assert_int_equal(bench.host[i].mapper_payload, i + 20);
	}
	end();
}

static void a_frame_of_the_agent_for_a_link_that_is_down_is_lost(void **state)
{
	(void)state;
	begin_up(2, 64);
	bench.lossy = true;
	bench.host[1].silent = true;
	turns(&bench, 5000);
	assert_true(order_send(1, 1));
	turns(&bench, 20);
	assert_int_equal(loop_of(&bench, 1)->port[1].agent_lost, 1);
	end();
}

static void the_links_of_all_parts_are_told(void **state)
{
	(void)state;
	begin_up(2, 64);
	assert_int_equal(device_control_linked(control), 15);
	bench.lossy = true;
	bench.host[3].silent = true;
	turns(&bench, 5000);
	assert_int_equal(device_control_linked(control), 7);
	end();
}

static void a_switch_is_idle_when_all_its_parts_are(void **state)
{
	(void)state;
	begin_up(2, 64);
	assert_false(device_control_idle(control));
	order(DEVICE_PAUSE);
	turns(&bench, 10);
	assert_true(device_control_idle(control));
	order(DEVICE_RESUME);
	assert_false(device_control_idle(control));
	end();
}

/* From the first part in the second one, the other way round, and in the second one alone. */
static void a_part_that_stores_data_keeps_the_switch_from_being_idle(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		static const unsigned pair[3][2] = {{0, 1}, {1, 0}, {1, 3}};
		unsigned to = pair[i][1];
		struct switch_port *port;

		begin_up(2, 64);
		order(DEVICE_PAUSE);
		port = &loop_of(&bench, to)->sw->port[to];
		for (unsigned vc = 0; vc < VCS; vc++) /* its host grants nothing */
			port->link.tx[vc].limit = port->link.tx[vc].sent;
		bench.host[to].silent = true;
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

static void a_commit_counts_for_what_comes_after_it_in_all_parts(void **state)
{
	(void)state;
	begin_up(2, 64);
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

static void tables_go_back_when_no_part_uses_them(void **state)
{
	(void)state;
	begin_up(2, 64);
	commit(make_tables(2, 2));
	assert_true(device_control_commit(control, make_tables(2, 2), NULL));
	for (unsigned i = 0; i < 20; i++) /* the second part does not run */
		poll_switch_run(bench.division->part[0], bench.now);
	assert_int_equal(device_control_collect(control), 0);
	finish_orders();
	end();
}

static void tables_that_the_switch_cannot_use_go_back(void **state)
{
	struct switch_tables *good = make_tables(2, 3), *bad = make_tables(2, 1);

	(void)state;
	begin_up(2, 64);
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

static void expect_whole_credits(void)
{
	for (unsigned i = 0; i < PORTS; i++)
		for (unsigned vc = 0; vc < VCS; vc++) {
			const struct weft_switch *sw = loop_of(&bench, i)->sw;

			assert_int_equal(credit_available(&bench.host[i].link.tx[vc]), VC_BLOCKS);
			assert_int_equal(credit_available(&sw->port[i].link.tx[vc]), VC_BLOCKS);
		}
}

static uint64_t sum_part(unsigned part, enum switch_counter counter)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < PORTS; i++)
		sum += bench.division->part[part]->sw->port[i].count[counter];
	return sum;
}

static uint64_t sum_parts(enum switch_counter counter)
{
	uint64_t sum = 0;

	for (unsigned part = 0; part < bench.division->division->parts; part++)
		sum += sum_part(part, counter);
	return sum;
}

static void expect_all_accounted_for(void)
{
	uint64_t sent = 0, gone = 0;

	for (unsigned i = 0; i < PORTS; i++) {
		sent += bench.host[i].data_sent;
		gone += bench.host[i].data_seen + loop_of(&bench, i)->port[i].tx.lost;
	}
	gone += sum_parts(SWITCH_DISCARD_PURGED) + sum_parts(SWITCH_DISCARD_LINK_DOWN);
	assert_true(sent > 3000);
	assert_int_equal(sent, gone);
}

static void a_purge_loses_what_is_stored_in_all_parts_and_no_credit(void **state)
{
	(void)state;
	begin_up(2, 8);
	bench.lossy = true;
	bench.sending = true;
	for (unsigned i = 0; i < 8000; i++) {
		if (i % 100 == 0)
			order(DEVICE_PURGE);
		turn(&bench);
	}
	bench.sending = false;
	turns(&bench, 2000);
	assert_true(sum_part(0, SWITCH_DISCARD_PURGED) > 50);
	assert_true(sum_part(1, SWITCH_DISCARD_PURGED) > 50);
	expect_all_accounted_for();
	expect_whole_credits();
	end();
}

/* Everything that a control thread may do at any time while data is under way. */
static void act(void)
{
	unsigned port, bytes;

	switch (rng_below(&bench.rng, 12)) {
	case 0:
		if (device_control_ready(control))
			assert_true(device_control_commit(control, make_tables(PORTS, 0), NULL));
		break;
	case 1:
	case 2:
		if (device_control_ready(control))
			order_send((unsigned)rng_below(&bench.rng, PORTS + 1), 1);
		break;
	case 3:
		if (device_control_ready(control))
			device_control_order(
				control, rng_below(&bench.rng, 2) ? DEVICE_PAUSE : DEVICE_RESUME);
		break;
	case 4:
		port = (unsigned)rng_below(&bench.rng, PORTS);
		if (tx_queue_has_room(&bench.host[port].tx))
			send_mapper(port, 1);
		break;
	case 5:
		if (device_control_take(control, &port, &bytes) != NULL)
			device_control_taken(control);
		break;
	case 6:
		device_control_collect(control);
		break;
	default:
		break;
	}
}

static void exchange_under_load(unsigned parts, unsigned slots)
{
	begin_up(parts, slots);
	bench.sending = true;
	for (unsigned i = 0; i < 12000; i++) {
		act();
		turn(&bench);
	}
	bench.sending = false;
	turns(&bench, 2000);
	device_control_collect(control);
	assert_int_equal(device_control_refusals(control), 0);
	expect_all_accounted_for(); /* and in order: switch_neighbours.h */
	expect_whole_credits();
	end();
}

static void tables_change_in_all_parts_and_not_a_frame_is_lost_or_overtaken(void **state)
{
	(void)state;
	exchange_under_load(2, 8);
	exchange_under_load(4, 1);
	exchange_under_load(3, 64);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_frame_for_the_agent_goes_up_from_any_part),
	cmocka_unit_test(frames_of_the_agent_leave_by_the_ports_of_all_parts),
	cmocka_unit_test(a_frame_of_the_agent_for_a_link_that_is_down_is_lost),
	cmocka_unit_test(the_links_of_all_parts_are_told),
	cmocka_unit_test(a_switch_is_idle_when_all_its_parts_are),
	cmocka_unit_test(a_part_that_stores_data_keeps_the_switch_from_being_idle),
	cmocka_unit_test(a_commit_counts_for_what_comes_after_it_in_all_parts),
	cmocka_unit_test(tables_go_back_when_no_part_uses_them),
	cmocka_unit_test(tables_that_the_switch_cannot_use_go_back),
	cmocka_unit_test(a_purge_loses_what_is_stored_in_all_parts_and_no_credit),
	cmocka_unit_test(tables_change_in_all_parts_and_not_a_frame_is_lost_or_overtaken),
};

int main(void)
{
	char name[] = "poll-division-control-test";

	return run_with_eal(name, POOL_MBUFS, &pool, tests, sizeof(tests) / sizeof(*tests));
}
