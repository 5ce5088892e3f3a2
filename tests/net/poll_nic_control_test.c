/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A host's poll loop under the orders of the control thread, which the test plays between
 * iterations (docs/explanation/the-mapper.md, 'In a process'). */

#include "nic_neighbours.h"

#define FRAMES 8 /* waiting in each direction */
#define BYTES  40

static const uint8_t to_agent[] = {ROUTE_TYPE_AGENT};

struct mapped {
	struct bench bench;
	struct device_control *control[2];
};

static void begin_with(struct mapped *mapped, bool routed, unsigned slots)
{
	start_with(&mapped->bench, routed, slots);
	for (unsigned i = 0; i < 2; i++) {
		mapped->control[i] = device_control_create(1600, FRAMES);
		assert_non_null(mapped->control[i]);
		poll_nic_set_control(mapped->bench.side[i].pn, mapped->control[i]);
	}
}

/* 'routed': has routes from the start. */
static void begin(struct mapped *mapped, bool routed)
{
	begin_with(mapped, routed, 1024);
}

/* The link is up, and neither host has routes. */
static void begin_up(struct mapped *mapped)
{
	begin(mapped, false);
	run_for(&mapped->bench, 5 * PS_PER_MS);
}

static void end(struct mapped *mapped)
{
	stop(&mapped->bench);
	device_control_destroy(mapped->control[0]);
	device_control_destroy(mapped->control[1]);
}
#define mapped_out_of_scope end

static struct host_tables *make_tables(uint16_t host, unsigned way)
{
	struct host_tables *tables = calloc(1, sizeof(*tables));

	assert_non_null(tables);
	tables->routes = side_routes(host, way);
	return tables;
}

static void commit(struct mapped *mapped, uint16_t host, unsigned way)
{
	assert_true(device_control_commit(mapped->control[host], NULL, make_tables(host, way)));
	step(&mapped->bench);
	assert_int_equal(device_control_collect(mapped->control[host]), 1);
}

static void order(struct mapped *mapped, uint16_t host, enum device_order_kind kind)
{
	assert_true(device_control_order(mapped->control[host], kind));
	step(&mapped->bench);
	assert_int_equal(device_control_collect(mapped->control[host]), 1);
}

static unsigned build(
	uint8_t *frame, enum frame_kind kind, const uint8_t *route, unsigned length, uint8_t number)
{
	const struct frame_fields fields = {.kind = kind,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE,
		.route = route,
		.route_length = (uint8_t)length,
		.payload_bytes = BYTES};

	memset(frame + FRAME_HEADER_BYTES + length, number, BYTES);
	return frame_build(frame, &fields);
}

/* Host 0 sends it to host 1. */
static void send_mapper(struct mapped *mapped, enum frame_kind kind, const uint8_t *route,
	unsigned length, uint8_t number)
{
	uint8_t frame[256];
	unsigned bytes = build(frame, kind, route, length, number);

	assert_true(device_control_send(mapped->control[0], 0, frame, bytes));
	run_for(&mapped->bench, 20 * PS_PER_US);
	assert_int_equal(device_control_collect(mapped->control[0]), 1);
}

static uint64_t counted(const struct mapped *mapped, unsigned host, enum nic_counter counter)
{
	return count_of(&mapped->bench.side[host])[counter];
}

UNIT_TEST(what_is_for_the_agent_goes_up_as_it_came)
{
	static const enum frame_kind kinds[] = {FRAME_SCOUT, FRAME_MAPPER};
	OWNED(mapped) mapped;
	uint8_t wanted[256];

	begin_up(&mapped);
	for (unsigned i = 0; i < 2; i++) {
		unsigned port, bytes, length = build(wanted, kinds[i], to_agent, 1, 7);
		const uint8_t *frame;

		send_mapper(&mapped, kinds[i], to_agent, 1, 7);
		frame = device_control_take(mapped.control[1], &port, &bytes);
		assert_non_null(frame);
		assert_int_equal(port, 0);
		assert_int_equal(bytes, length);
		assert_memory_equal(frame, wanted, length);
		device_control_taken(mapped.control[1]);
		assert_null(device_control_take(mapped.control[1], &port, &bytes));
	}
	assert_int_equal(counted(&mapped, 1, NIC_AGENT_ASTRAY), 0);
}

UNIT_TEST(a_frame_of_the_agent_waits_for_the_wire)
{
	OWNED(mapped) mapped;
	struct poll_nic *pn;
	struct nic_message message = {.destination = 1, .bytes = 40 * MTU};
	uint8_t frame[256];
	unsigned bytes = build(frame, FRAME_MAPPER, to_agent, 1, 7);

	begin(&mapped, true);
	run_for(&mapped.bench, 5 * PS_PER_MS);
	pn = mapped.bench.side[0].pn;
	for (unsigned i = 0; i < 2; i++) { /* the first one begins the flow */
		settle(&mapped.bench);
		message.generated_ps = mapped.bench.now;
		assert_int_equal(nic_send(pn->nic, &message, mapped.bench.now), 0);
	}
	assert_true(device_control_send(mapped.control[0], 0, frame, bytes));
	step(&mapped.bench);
	/* Data that is still on the wire left before it. */
	assert_true(pn->tx.pacer.free_at > mapped.bench.now + bytes_ps(bytes + FRAME_WIRE_OVERHEAD,
								      byte_time_of(RATE_BPS)));
	settle(&mapped.bench);
}

UNIT_TEST(what_is_not_for_an_agent_here_is_counted)
{
	static const uint8_t on[] = {ROUTE_PORT_BIT | 3, ROUTE_TYPE_AGENT},
			     host[] = {ROUTE_TYPE_HOST},
			     early[] = {ROUTE_TYPE_AGENT, ROUTE_PORT_BIT | 3},
			     transit[] = {ROUTE_TYPE_ITB, ROUTE_PORT_BIT | 3, ROUTE_TYPE_AGENT};
	OWNED(mapped) mapped;
	unsigned port, bytes;

	begin_up(&mapped);
	send_mapper(&mapped, FRAME_SCOUT, on, sizeof(on), 1);
	send_mapper(&mapped, FRAME_MAPPER, host, sizeof(host), 1);
	send_mapper(&mapped, FRAME_MAPPER, early, sizeof(early), 1);
	send_mapper(&mapped, FRAME_SCOUT, transit, sizeof(transit), 1);
	send_mapper(&mapped, FRAME_MAPPER, NULL, 0, 1);
	assert_int_equal(counted(&mapped, 1, NIC_AGENT_ASTRAY), 5);
	mapped.bench.side[1].pn->mapper.control = NULL; /* a host without an agent */
	send_mapper(&mapped, FRAME_SCOUT, to_agent, 1, 1);
	assert_int_equal(counted(&mapped, 1, NIC_AGENT_ASTRAY), 6);
	assert_null(device_control_take(mapped.control[1], &port, &bytes));
}

UNIT_TEST(a_frame_for_a_link_that_is_down_is_lost_and_counted)
{
	OWNED(mapped) mapped;
	uint8_t frame[256];

	begin(&mapped, false);
	assert_true(device_control_send(
		mapped.control[0], 0, frame, build(frame, FRAME_SCOUT, to_agent, 1, 1)));
	mapped.bench.now += STEP_PS;
	poll_nic_run(mapped.bench.side[0].pn, mapped.bench.now);
	assert_int_equal(device_control_collect(mapped.control[0]), 1);
	assert_int_equal(mapped.bench.side[0].pn->mapper.orders_lost, 1);
}

UNIT_TEST(the_control_thread_sees_the_link)
{
	OWNED(mapped) mapped;

	begin(&mapped, false);
	assert_int_equal(device_control_linked(mapped.control[0]), 0);
	run_for(&mapped.bench, 5 * PS_PER_MS);
	assert_int_equal(device_control_linked(mapped.control[0]), 1);
	for (unsigned i = 0; i < 5000; i++) { /* the neighbour is silent */
		mapped.bench.now += STEP_PS;
		poll_nic_run(mapped.bench.side[0].pn, mapped.bench.now);
	}
	assert_int_equal(device_control_linked(mapped.control[0]), 0);
}

UNIT_TEST(traffic_waits_for_the_first_routes)
{
	OWNED(mapped) mapped;
	struct bench *bench = &mapped.bench;

	begin_up(&mapped);
	for (unsigned i = 0; i < 2; i++)
		add_traffic(&bench->side[i], 300000, bench->now, bench->now + 20 * PS_PER_MS);
	run_for(bench, 5 * PS_PER_MS);
	assert_int_equal(counted(&mapped, 0, NIC_MESSAGES_QUEUED), 0);
	commit(&mapped, 0, 0);
	commit(&mapped, 1, 1);
	run_for(bench, 15 * PS_PER_MS);
	settle(bench);
	check_traffic(bench);
	assert_int_equal(counted(&mapped, 0, NIC_FRAMES_RETRANSMITTED), 0);
}

UNIT_TEST(tables_change_under_traffic_without_loss)
{
	OWNED(mapped) mapped;
	struct bench *bench = &mapped.bench;

	begin_up(&mapped);
	for (uint16_t i = 0; i < 2; i++) {
		commit(&mapped, i, 0);
		add_traffic(&bench->side[i], 500000, bench->now, bench->now + 20 * PS_PER_MS);
	}
	for (unsigned change = 1; change < 100; change++) {
		commit(&mapped, change % 2, change / 2 % 2);
		run_for(bench, 200 * PS_PER_US);
	}
	settle(bench);
	check_traffic(bench);
	assert_int_equal(
		counted(&mapped, 0, NIC_ROUTE_CHANGES) + counted(&mapped, 1, NIC_ROUTE_CHANGES),
		101);
	assert_true(counted(&mapped, 0, NIC_MESSAGES_REROUTED) > 0);
	assert_int_equal(counted(&mapped, 0, NIC_FRAMES_RETRANSMITTED), 0);
}

UNIT_TEST(tables_that_do_not_fit_go_back)
{
	struct host_tables *tables = host_tables_create(3);
	const struct nic_routes *before;
	OWNED(mapped) mapped;

	begin_up(&mapped);
	commit(&mapped, 0, 0);
	before = nic_config(mapped.bench.side[0].pn->nic)->routes;
	assert_true(device_control_commit(mapped.control[0], NULL, tables));
	step(&mapped.bench);
	assert_int_equal(device_control_collect(mapped.control[0]), 1); /* and frees them */
	assert_ptr_equal(nic_config(mapped.bench.side[0].pn->nic)->routes, before);
	assert_int_equal(device_control_refusals(mapped.control[0]), 1);
}

UNIT_TEST(a_queuing_scheme_comes_with_the_routes)
{
	struct queuing many = {.queues = 2, .hosts = 2}, one = {.queues = 1, .hosts = 2};
	struct host_tables *tables[2];
	OWNED(mapped) mapped;

	begin_up(&mapped);
	for (unsigned i = 0; i < 2; i++) {
		tables[i] = make_tables(0, 0);
		tables[i]->queuing = calloc(1, sizeof(struct queuing));
		assert_non_null(tables[i]->queuing);
		*tables[i]->queuing = i == 0 ? one : many;
		assert_true(device_control_commit(mapped.control[0], NULL, tables[i]));
	}
	step(&mapped.bench);
	assert_int_equal(device_control_collect(mapped.control[0]), 2);
	/* The link has one VC. */
	assert_int_equal(device_control_refusals(mapped.control[0]), 1);
	assert_ptr_equal(nic_config(mapped.bench.side[0].pn->nic)->queuing, tables[0]->queuing);
}

/* Both are paused during traffic, become idle, get different routes, and continue. */
UNIT_TEST(a_change_behind_a_pause_loses_nothing)
{
	OWNED(mapped) mapped;
	struct bench *bench = &mapped.bench;
	uint64_t sent;

	begin(&mapped, true);
	run_for(bench, 5 * PS_PER_MS);
	for (unsigned i = 0; i < 2; i++)
		add_traffic(&bench->side[i], 500000, bench->now, bench->now + 20 * PS_PER_MS);
	run_for(bench, 2 * PS_PER_MS);
	assert_false(device_control_idle(mapped.control[0]));
	order(&mapped, 0, DEVICE_PAUSE);
	assert_false(device_control_idle(mapped.control[0])); /* the other one still sends */
	order(&mapped, 1, DEVICE_PAUSE);
	run_for(bench, 5 * PS_PER_MS);
	sent = counted(&mapped, 0, NIC_FRAMES_INJECTED);
	for (unsigned i = 0; i < 2; i++)
		assert_true(device_control_idle(mapped.control[i]));
	run_for(bench, 100 * PS_PER_MS);
	assert_int_equal(counted(&mapped, 0, NIC_FRAMES_INJECTED), sent);
	assert_int_equal(device_control_linked(mapped.control[0]), 1);
	order(&mapped, 0, DEVICE_PURGE);
	for (uint16_t i = 0; i < 2; i++)
		commit(&mapped, i, 1);
	run_for(bench, PS_PER_MS);
	assert_int_equal(counted(&mapped, 0, NIC_FRAMES_INJECTED), sent);
	order(&mapped, 0, DEVICE_RESUME);
	order(&mapped, 1, DEVICE_RESUME);
	assert_false(device_control_idle(mapped.control[0]));
	run_for(bench, 20 * PS_PER_MS);
	settle(bench);
	check_traffic(bench);
	assert_int_equal(counted(&mapped, 0, NIC_FRAMES_RETRANSMITTED), 0);
}

/* Host 1 no longer reads. */
static void run_alone(struct mapped *mapped, weft_time ps)
{
	for (weft_time end = mapped->bench.now + ps; mapped->bench.now < end;) {
		mapped->bench.now += STEP_PS;
		poll_nic_run(mapped->bench.side[0].pn, mapped->bench.now);
	}
}

/* Traffic is in flight over a link with little space, then host 1 no longer reads. Host 0 is paused
 * with data that its port does not accept. */
static const struct tx_queue *pause_with_data_that_waits(struct mapped *mapped)
{
	struct bench *bench = &mapped->bench;
	const struct tx_queue *tx;

	begin_with(mapped, true, 2);
	tx = &bench->side[0].pn->tx;
	run_for(bench, 5 * PS_PER_MS);
	for (unsigned i = 0; i < 2; i++)
		add_traffic(&bench->side[i], 300000, bench->now, bench->now + 5 * PS_PER_MS);
	run_for(bench, PS_PER_MS);
	for (unsigned i = 0; i < 1000 && !tx_queue_holds_data(tx); i++)
		run_alone(mapped, STEP_PS);
	assert_true(tx_queue_holds_data(tx));
	assert_true(device_control_order(mapped->control[0], DEVICE_PAUSE));
	run_alone(mapped, 200 * PS_PER_US);
	assert_int_equal(device_control_linked(mapped->control[0]), 1);
	assert_false(device_control_idle(mapped->control[0]));
	return tx;
}

/* The neighbour reads again, and all lost frames are resent. */
static void go_on(struct mapped *mapped)
{
	struct bench *bench = &mapped->bench;

	assert_true(device_control_order(mapped->control[0], DEVICE_RESUME));
	run_for(bench, 20 * PS_PER_MS);
	settle(bench);
	check_traffic(bench);
	run_for(bench, 5 * PS_PER_MS);
	for (unsigned i = 0; i < 2; i++) {
		const struct link_end *from = nic_link(bench->side[i].pn->nic),
				      *to = nic_link(bench->side[1 - i].pn->nic);

		assert_int_equal(credit_available(&from->tx[0]), to->rx[0].capacity);
	}
	end(mapped);
}

UNIT_TEST(data_for_a_neighbour_that_has_gone_is_idle_when_its_link_is_down)
{
	struct mapped mapped;
	const struct tx_queue *tx = pause_with_data_that_waits(&mapped);

	run_alone(&mapped, 4 * PS_PER_MS);
	for (unsigned i = 0; i < 100; i++) {
		assert_true(device_control_idle(mapped.control[0]));
		run_alone(&mapped, 100 * PS_PER_US);
	}
	assert_int_equal(nic_link(mapped.bench.side[0].pn->nic)->downs, 1);
	assert_true(tx->lost > 0);
	go_on(&mapped);
}

UNIT_TEST(a_purge_takes_the_data_that_waits_for_the_port)
{
	struct mapped mapped;
	const struct tx_queue *tx = pause_with_data_that_waits(&mapped);

	assert_true(device_control_order(mapped.control[0], DEVICE_PURGE));
	run_alone(&mapped, 10 * STEP_PS);
	assert_true(device_control_idle(mapped.control[0]));
	assert_int_equal(nic_link(mapped.bench.side[0].pn->nic)->downs, 0);
	assert_true(tx->lost > 0);
	go_on(&mapped);
}

int main(void)
{
	char name[] = "poll-nic-control-test";

	return run_with_eal(name, POOL_MBUFS, &pool);
}
