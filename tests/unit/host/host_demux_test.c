/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "host/measure_sink.h"

#include "traffic/synthetic.h"
#include "unit.h"

#define HOST  1
#define HOSTS 3

struct bench {
	struct measure_sink *sink;
	struct host_demux demux;
	struct edge *edge;
	uint8_t payload[100];
	unsigned packets;
	struct nic_delivery delivery;
};

static void take_packet(void *ctx, const struct edge_packet *packet)
{
	((struct bench *)ctx)->packets++;
}

static void start(struct bench *bench, bool edge)
{
	struct edge_config config = {.host = HOST,
		.hosts = HOSTS,
		.base = EDGE_BASE_DEFAULT,
		.mtu_bytes = 1500,
		.reassemblies = 1};

	memset(bench, 0, sizeof(*bench));
	bench->sink = measure_sink_create(HOST, HOSTS);
	assert_int_equal(host_demux_init(&bench->demux, bench->sink, HOSTS), 0);
	bench->edge = edge_create(&config);
	bench->demux.edge = edge ? bench->edge : NULL;
	bench->demux.ctx = bench;
	bench->demux.packet = take_packet;
	bench->delivery = (struct nic_delivery){.payload = bench->payload};
}

static void stop(struct bench *bench)
{
	edge_destroy(bench->edge);
	host_demux_fini(&bench->demux);
	measure_sink_destroy(bench->sink);
}
#define bench_out_of_scope stop

static void deliver(struct bench *bench, bool first, bool tail, uint32_t bytes)
{
	bench->delivery.first = first;
	bench->delivery.tail = tail;
	bench->delivery.bytes = bytes;
	host_demux_deliver(&bench->demux, &bench->delivery);
	bench->delivery.sequence++;
	bench->delivery.offset = tail ? 0 : bench->delivery.offset + bytes;
	bench->delivery.message += tail;
}

static void deliver_synthetic(struct bench *bench)
{
	struct synthetic message = {
		.destination = HOST, .message = bench->delivery.message, .message_bytes = 40};

	synthetic_fill(&message, 0, bench->payload, 40);
	deliver(bench, true, true, 40);
}

static void deliver_packet(struct bench *bench)
{
	static const uint8_t ip[20] = {0x45, 0, 0, 40};

	memset(bench->payload, 0, sizeof(bench->payload));
	memcpy(bench->payload, ip, sizeof(ip));
	deliver(bench, true, false, 30);
	deliver(bench, false, true, 10);
}

UNIT_TEST(packets_go_to_the_edge_and_synthetic_messages_to_the_sink)
{
	OWNED(bench) bench;

	start(&bench, true);
	for (unsigned i = 0; i < 3; i++) {
		deliver_synthetic(&bench);
		deliver_packet(&bench);
	}
	assert_int_equal(bench.packets, 3);
	assert_int_equal(bench.sink->messages, 3);
	assert_int_equal(bench.sink->altered, 0);
	assert_int_equal(bench.sink->network_ns.count, 3);
	assert_int_equal(bench.sink->edges_ns.count, 6);
	assert_int_equal(bench.sink->edge_frames, 6);
	assert_true(bench.sink->edge_bytes > 0);
	assert_int_equal(edge_counters(bench.edge)[EDGE_BYTES_TO_TAP], 3 * 40);
}

static void take_message(void *ctx, uint16_t source, weft_time due_ps)
{
	assert_int_equal(source, 2);
	assert_int_equal(due_ps, 77);
	(*(unsigned *)ctx)++;
}

UNIT_TEST(complete_synthetic_messages_are_told_of_and_no_packets)
{
	OWNED(bench) bench;
	unsigned messages = 0;

	start(&bench, true);
	bench.demux.message_ctx = &messages;
	bench.demux.message = take_message;
	bench.delivery.source = 2;
	bench.delivery.due_ps = 77;
	deliver_packet(&bench);
	assert_int_equal(messages, 0);
	memset(bench.payload, 0, sizeof(bench.payload));
	deliver(&bench, true, false, 40);
	assert_int_equal(messages, 0);
	deliver(&bench, false, true, 40);
	assert_int_equal(messages, 1);
}

UNIT_TEST(order_is_watched_across_both)
{
	OWNED(bench) bench;

	start(&bench, true);
	deliver_synthetic(&bench);
	deliver_packet(&bench);
	deliver_synthetic(&bench);
	assert_int_equal(bench.sink->lost, 0);
	bench.delivery.sequence++;
	deliver_packet(&bench);
	assert_int_equal(bench.sink->lost, 1);
}

UNIT_TEST(packets_for_a_host_without_an_edge_are_counted)
{
	OWNED(bench) bench;

	start(&bench, false);
	deliver_packet(&bench);
	assert_int_equal(bench.packets, 0);
	assert_int_equal(bench.demux.unclaimed, 2);
}
