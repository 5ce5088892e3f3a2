/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* One switch on a bench, for tests of lib/switch: neighbours exist only as control frames that they
 * would send, and packets are distinguished by sequence numbers. Each neighbour has met the switch,
 * was granted its whole buffer, and grants nothing until bench_grant(). */

#include "base/rng.h"
#include "switch/forward.h"
#include "switch/switch.h"
#include "unit.h"

#define BENCH_SESSION   7
#define BENCH_HELLO_PS  (10 * PS_PER_MS)
#define BENCH_HOSTS     64
#define BENCH_PACKETS   4096
#define BENCH_UNLIMITED 100000

struct bench {
	struct weft_switch *sw;
	weft_time now;
	uint8_t table[BENCH_HOSTS]; /* host h hangs on port h % ports */
	uint64_t alternatives[BENCH_HOSTS];
	uint32_t peer_session[SWITCH_PORTS_MAX];
	struct control_credit peer_credit[SWITCH_PORTS_MAX]; /* what each neighbour said last */
	struct weft_packet packet[BENCH_PACKETS];
	unsigned packets;
};

/* The fields of a packet; the rest are defaults. */
struct bench_packet {
	uint16_t destination; /* by table; = output port while the table is unchanged */
	const uint8_t *route; /* NULL: by table */
	uint8_t route_length, cursor;
	uint8_t vc, sl;
	uint8_t vc_original, flags;
	uint16_t blocks; /* 0: 1 */
	bool control;
	uint8_t kind; /* control frames: enum frame_kind */
};

/* SL n to VC n, 64 blocks a VC, no watchdog. */
static inline struct switch_config bench_config(unsigned ports, unsigned vcs)
{
	struct switch_config config = {
		.device = 1,
		.session = BENCH_SESSION,
		.ports = (uint8_t)ports,
		.vcs = (uint8_t)vcs,
		.voq = true,
		.buffer_blocks = 64 * vcs,
		.hello_ps = BENCH_HELLO_PS,
		.credit_refresh_ps = PS_PER_MS,
		.watchdog_ps = WEFT_TIME_NEVER,
		.control_reserve = 8,
	};

	for (unsigned sl = 0; sl < 16; sl++)
		config.sl_to_vc[sl] = (uint8_t)(sl % vcs);
	return config;
}

/* Returns what the switch can grant now, as in its next credit frame. */
static inline struct control_credit bench_told(struct bench *bench, unsigned port)
{
	struct control_credit credit;

	link_end_fill_credit(&bench->sw->port[port].link, &credit, bench->now);
	return credit;
}

static inline void bench_hello(struct bench *bench, unsigned port)
{
	const struct control_hello hello = {
		.device = 100 + port,
		.session = bench->peer_session[port],
		.peer_session = BENCH_SESSION,
	};

	switch_on_hello(bench->sw, port, &hello, bench->now);
}

/* The neighbour at 'port' grants 'blocks' more in 'vc'. */
static inline void bench_grant(struct bench *bench, unsigned port, unsigned vc, uint32_t blocks)
{
	struct control_credit *credit = &bench->peer_credit[port];

	for (unsigned i = 0; i < bench->sw->vcs; i++) /* nothing is lost on this wire */
		credit->sent[i] = bench->sw->port[port].link.rx[i].received;
	credit->limit[vc] += blocks;
	switch_on_credit(bench->sw, port, credit, bench->now);
}

static inline void bench_grant_all(struct bench *bench)
{
	for (unsigned port = 0; port < bench->sw->ports; port++)
		for (unsigned vc = 0; vc < bench->sw->vcs; vc++)
			bench_grant(bench, port, vc, BENCH_UNLIMITED);
}

/* A neighbour, new or restarted, that has just heard of the switch. */
static inline void bench_meet(struct bench *bench, unsigned port, uint32_t session)
{
	bench->peer_session[port] = session;
	bench->peer_credit[port] = (struct control_credit){
		.session = session, .peer_session = BENCH_SESSION, .vcs = bench->sw->vcs};
	bench_hello(bench, port);
	bench_told(bench, port);
}

static inline void bench_meet_all(struct bench *bench)
{
	for (unsigned port = 0; port < bench->sw->ports; port++)
		if ((bench->sw->absent & BIT64(port)) == 0 &&
			!bench->sw->port[port].link.config.open)
			bench_meet(bench, port, 1000 + port);
}

/* 'config' without its table, which is the bench's. */
static inline struct bench *bench_create(const struct switch_config *config)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct switch_config own = *config;

	assert_non_null(bench);
	bench->now = PS_PER_S;
	for (unsigned host = 0; host < BENCH_HOSTS; host++)
		bench->table[host] = (uint8_t)(host % config->ports);
	own.table_port = bench->table;
	own.table_alternatives = bench->alternatives;
	own.table_hosts = BENCH_HOSTS;
	bench->sw = switch_create(&own, bench->now);
	assert_non_null(bench->sw);
	bench_meet_all(bench);
	return bench;
}

static inline void bench_check(const struct bench *bench)
{
	const char *wrong = switch_check(bench->sw);

	if (wrong != NULL)
		fail_msg("%s", wrong);
}

static inline void bench_destroy(struct bench *bench)
{
	bench_check(bench);
	switch_drain(bench->sw);
	bench_check(bench);
	assert_int_equal(switch_stored_packets(bench->sw), 0);
	switch_destroy(bench->sw);
	free(bench);
}

OWNED_POINTER_BY(bench, bench_destroy)

/* The descriptor as filled in by a driver. Its sequence is its index. */
static inline struct weft_packet *bench_make(struct bench *bench, const struct bench_packet *what)
{
	struct weft_packet *packet = &bench->packet[bench->packets];

	assert_true(bench->packets < BENCH_PACKETS);
	*packet = (struct weft_packet){
		.blocks = what->blocks == 0 ? 1 : what->blocks,
		.vc = what->vc,
		.header_vc = what->vc,
		.vc_original = what->vc_original,
		.cursor = what->cursor,
		.flags = what->flags,
		.route = what->route,
		.route_length = what->route_length,
		.sl = what->sl,
		.control = what->control,
		.kind = what->kind,
		.destination = what->destination,
		.sequence = bench->packets++,
	};
	packet->bytes = (uint16_t)(packet->blocks * FRAME_BLOCK_BYTES);
	if (what->cursor < what->route_length)
		packet->hop = what->route[what->cursor];
	return packet;
}

/* A packet arrives at 'input', as from a driver that does not let it bypass queues. */
static inline void bench_receive(struct bench *bench, unsigned input, struct weft_packet *packet)
{
	packet->in_port = (uint8_t)input;
	packet->arrived_ps = bench->now;
	if (packet->control) {
		switch_receive_control(bench->sw, packet, bench->now);
		return;
	}
	switch_count_in(&bench->sw->port[input], 1, packet->bytes);
	switch_receive(bench->sw, packet, bench->now);
}

/* A packet that may bypass the queues to 'outputs'; returns the output, or SWITCH_PORT_NONE. */
static inline unsigned bench_pass_queues(
	struct bench *bench, unsigned input, struct weft_packet *packet, uint64_t outputs)
{
	struct switch_port *port = &bench->sw->port[input];

	packet->in_port = (uint8_t)input;
	return bench->sw->voq ? switch_receive_direct(bench->sw, port, packet, outputs, true)
			      : switch_receive_direct(bench->sw, port, packet, outputs, false);
}

/* One packet arrives at 'input'; returns its number. */
static inline unsigned bench_arrive(
	struct bench *bench, unsigned input, const struct bench_packet *what)
{
	struct weft_packet *packet = bench_make(bench, what);

	bench_receive(bench, input, packet);
	return packet->sequence;
}

/* The usual packet: a block for 'output' in 'vc', which it keeps. */
static inline unsigned bench_send(struct bench *bench, unsigned input, unsigned vc, unsigned output)
{
	const struct bench_packet what = {
		.destination = (uint16_t)output, .vc = (uint8_t)vc, .sl = (uint8_t)vc};

	return bench_arrive(bench, input, &what);
}

/* Returns the number of the packet leaving through 'output' now, or -1. */
static inline int bench_leave(struct bench *bench, unsigned output)
{
	struct weft_packet *packet;

	if (switch_transmit(bench->sw, output, &packet, 1, bench->now) == 0)
		return -1;
	return (int)packet->sequence;
}

static inline uint64_t bench_count(
	const struct bench *bench, unsigned port, enum switch_counter counter)
{
	return bench->sw->port[port].count[counter];
}

/* Counts the discarded packets, and empties their list. */
static inline unsigned bench_discarded(struct bench *bench)
{
	unsigned count = 0;

	for (struct weft_packet *packet = switch_take_discards(bench->sw); packet != NULL;
		packet = packet->next)
		count++;
	return count;
}

/* Time passes while all neighbours keep sending hellos, except those in 'silent'. */
static inline void bench_pass(struct bench *bench, weft_time time_ps, uint64_t silent)
{
	weft_time end = bench->now + time_ps;

	while (bench->now < end) {
		weft_time left = end - bench->now;

		bench->now += left < PS_PER_MS ? left : PS_PER_MS;
		for (unsigned port = 0; port < bench->sw->ports; port++) {
			if ((silent & BIT64(port)) == 0)
				bench_hello(bench, port);
			switch_poll_link(bench->sw, port, bench->now);
		}
		switch_poll_watchdog(bench->sw, bench->now);
	}
}
