/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The control thread of a switch with the neighbours of switch_neighbours.h: its orders, frames of
 * mappers, and the conditions when all is idle. It sees a divided switch as one. */

#include "mapping/device_control.h"
#include "switch_neighbours.h"

#define FRAMES 8 /* that wait, each way */

static const uint8_t to_two[] = {ROUTE_PORT_BIT | 2, ROUTE_TYPE_AGENT};

static struct bench bench;
static struct device_control *control;

static inline void begin(const struct bench_config *config)
{
	control = device_control_create(1600, FRAMES);
	assert_non_null(control);
	start(&bench, config);
	if (bench.division != NULL)
		poll_division_set_control(bench.division, control, pool);
	else
		poll_switch_set_control(bench.ps, control, pool);
	bench.sending = false;
}

/* All links are up and have their credits. */
static inline void begin_up(const struct bench_config *config)
{
	begin(config);
	turns(&bench, 2000);
}

static inline void end(void)
{
	stop(&bench);
	device_control_destroy(control);
}

static inline unsigned build(uint8_t *frame, enum frame_kind kind, uint8_t number)
{
	const struct frame_fields fields = {.kind = kind,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE,
		.route = to_two,
		.route_length = sizeof(to_two),
		.payload_bytes = 40};

	memset(frame + FRAME_HEADER_BYTES + sizeof(to_two), number, 40);
	return frame_build(frame, &fields);
}

/* 'at': the cursor; 1: for the agent of the switch. */
static inline void send_mapper(unsigned from, enum frame_kind kind, uint8_t number, uint8_t at)
{
	uint8_t *frame;
	struct rte_mbuf *mbuf = make_frame(&frame);
	unsigned bytes = build(frame, kind, number);

	frame_update_mutable(frame, frame_mutable_word(0, 0, at, 0));
	rte_pktmbuf_data_len(mbuf) = (uint16_t)bytes;
	rte_pktmbuf_pkt_len(mbuf) = bytes;
	mbuf_packet(mbuf)->arrived_ps = bench.now;
	tx_queue_send(&bench.host[from].tx, &mbuf, 1, bench.now);
}

static inline bool order_send(unsigned port, uint8_t number)
{
	uint8_t frame[256];
	unsigned bytes = build(frame, FRAME_MAPPER, number);

	return device_control_send(control, port, frame, bytes);
}

/* Takes the frame with that number, sent to the agent by host 'from'. */
static inline void expect_taken(unsigned from, enum frame_kind kind, uint8_t number)
{
	uint8_t expected[256];
	unsigned port, bytes;
	const uint8_t *frame = device_control_take(control, &port, &bytes);

	assert_non_null(frame);
	assert_int_equal(port, from);
	assert_int_equal(bytes, build(expected, kind, number));
	frame_update_mutable(expected, frame_mutable_word(0, 0, 1, 0));
	assert_memory_equal(frame, expected, bytes);
	device_control_taken(control);
}

/* The agent sends a frame to each neighbour, through all ports. */
static inline void expect_frames_of_the_agent_leave(void)
{
	for (uint8_t i = 0; i < PORTS; i++)
		assert_true(order_send(i, (uint8_t)(i + 20)));
	turns(&bench, 100);
	assert_int_equal(device_control_collect(control), PORTS);
	for (unsigned i = 0; i < PORTS; i++) {
		assert_int_equal(loop_of(&bench, i)->port[i].agent_sent, 1);
		assert_int_equal(bench.host[i].mapper_seen, 1);
		assert_int_equal(bench.host[i].mapper_payload, i + 20);
	}
}

/* Host 'to' has granted its port nothing, and reads nothing. */
static inline void withhold_credits(unsigned to)
{
	struct switch_port *port = &loop_of(&bench, to)->sw->port[to];

	for (unsigned vc = 0; vc < VCS; vc++)
		port->link.tx[vc].limit = port->link.tx[vc].sent;
	bench.host[to].silent = true;
}

/* Each host is behind its own port, except 'host', which is behind 'port'. */
static inline struct switch_tables *make_tables(unsigned host, uint8_t port)
{
	struct switch_tables *tables = switch_tables_create(PORTS);

	assert_non_null(tables);
	for (unsigned i = 0; i < PORTS; i++) {
		tables->port[i] = (uint8_t)(i == host ? port : i);
		tables->alternatives[i] = BIT64(tables->port[i]);
	}
	return tables;
}

static inline uint64_t left_by(unsigned port)
{
	return loop_of(&bench, port)->sw->port[port].count[SWITCH_DATA_OUT];
}

/* --- at rest --- */

static inline void expect_whole_credits(void)
{
	for (unsigned i = 0; i < PORTS; i++)
		for (unsigned vc = 0; vc < VCS; vc++) {
			const struct weft_switch *sw = loop_of(&bench, i)->sw;

			assert_int_equal(credit_available(&bench.host[i].link.tx[vc]), VC_BLOCKS);
			assert_int_equal(credit_available(&sw->port[i].link.tx[vc]), VC_BLOCKS);
		}
}

/* Sum over all ports known to a shard, including other shards' ports. */
static inline uint64_t sum_part(unsigned shard, enum switch_counter counter)
{
	const struct poll_switch *ps =
		bench.division != NULL ? bench.division->shard[shard] : bench.ps;
	uint64_t sum = 0;

	for (unsigned i = 0; i < PORTS; i++)
		sum += ps->sw->port[i].count[counter];
	return sum;
}

static inline uint64_t sum_parts(enum switch_counter counter)
{
	unsigned shards = bench.division != NULL ? bench.division->division->shards : 1;
	uint64_t sum = 0;

	for (unsigned shard = 0; shard < shards; shard++)
		sum += sum_part(shard, counter);
	return sum;
}

static inline void expect_all_accounted_for(void)
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

/* --- under load --- */

static inline void come_to_rest(void)
{
	bench.sending = false;
	turns(&bench, 2000);
	expect_all_accounted_for(); /* and in order: switch_neighbours.h */
	expect_whole_credits();
}

static inline void purge_under_load(void (*purge)(void))
{
	bench.lossy = bench.sending = true;
	for (unsigned i = 0; i < 8000; i++) {
		if (i % 100 == 0)
			purge();
		turn(&bench);
	}
	come_to_rest();
}

/* Everything that a control thread may do at any time while data is under way; 'send' sends a
 * mapper's frame. */
static inline void act(void (*send)(void))
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
		send();
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

static inline void exchange_under_load(const struct bench_config *config, void (*send)(void))
{
	begin_up(config);
	bench.sending = true;
	for (unsigned i = 0; i < 12000; i++) {
		act(send);
		turn(&bench);
	}
	come_to_rest();
	device_control_collect(control);
	assert_int_equal(device_control_refusals(control), 0);
	end();
}
