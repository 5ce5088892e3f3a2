/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A divided switch on a bench: neighbours that keep their credits and check those that they give,
 * and packets that carry their number in the flow of (input, VC, output). A neighbour belongs to
 * its port's shard, so that shards may run in turn in one thread or in separate threads. Port o
 * leads to host o. */

#include "base/rng.h"
#include "switch/forward.h"
#include "switch/switch_shard.h"
#include "unit.h"

#define PB_SESSION  7
#define PB_HELLO_PS (10 * PS_PER_MS)
#define PB_TURN_PS  (PS_PER_US * 50)
#define PB_PORTS    12
#define PB_VCS      4
#define PB_PACKETS  2048 /* per input */
#define PB_BURST    8
#define PB_BLOCKS   64 /* per VC */

struct pb_packet {
	struct weft_packet packet; /* first */
	uint32_t used;             /* atomic */
};

struct pb_neighbour {
	uint32_t session;
	struct control_credit says;          /* what it grants, and what it has sent */
	uint32_t may_send[PB_VCS];           /* what the switch has granted */
	uint32_t got[PB_VCS];                /* blocks */
	uint32_t next[PB_VCS][PB_PORTS];     /* number of the next packet, by VC and output */
	uint32_t expected[PB_PORTS][PB_VCS]; /* at this output, by input and its VC */
	uint64_t from[PB_PORTS];             /* packets that it got, by input */
	uint64_t sent, received, lost_in_flow, control_received;
	unsigned next_packet;
	bool silent, greedy;      /* no hellos; grants all it can */
	struct pb_packet *packet; /* [PB_PACKETS] */
};

struct shard_bench {
	struct switch_division *division;
	uint8_t table[PB_PORTS];
	uint64_t alternatives[PB_PORTS];
	struct pb_neighbour neighbour[PB_PORTS];
	weft_time now[SWITCH_SHARDS_MAX];
	struct rng rng[SWITCH_SHARDS_MAX]; /* one per shard */
	uint64_t discarded[SWITCH_SHARDS_MAX];
	unsigned ports, vcs, shards;
	bool lossless;  /* a gap in a flow is an error */
	unsigned sends; /* maximum packets that a neighbour sends per turn */
};

static inline struct switch_config pb_config(struct shard_bench *bench)
{
	struct switch_config config = {
		.device = 1,
		.session = PB_SESSION,
		.ports = (uint8_t)bench->ports,
		.vcs = (uint8_t)bench->vcs,
		.voq = true,
		.buffer_blocks = PB_BLOCKS * bench->vcs,
		.hello_ps = PB_HELLO_PS,
		.credit_refresh_ps = PS_PER_MS,
		.watchdog_ps = WEFT_TIME_NEVER,
		.control_reserve = 8,
		.table_port = bench->table,
		.table_alternatives = bench->alternatives,
		.table_hosts = bench->ports,
	};

	for (unsigned sl = 0; sl < 16; sl++)
		config.sl_to_vc[sl] = (uint8_t)(sl % bench->vcs);
	return config;
}

static inline struct switch_shard *pb_owner(const struct shard_bench *bench, unsigned port)
{
	return bench->division->shard[bench->division->owner[port]];
}

static inline struct switch_port *pb_port(const struct shard_bench *bench, unsigned port)
{
	return &pb_owner(bench, port)->sw->port[port];
}

static inline void pb_say(struct shard_bench *bench, unsigned port)
{
	struct pb_neighbour *n = &bench->neighbour[port];
	const struct control_hello hello = {
		.device = 100 + port, .session = n->session, .peer_session = PB_SESSION};
	struct switch_shard *shard = pb_owner(bench, port);

	switch_on_hello(shard->sw, port, &hello, bench->now[shard->number]);
}

/* In a new life. */
static inline void pb_meet(struct shard_bench *bench, unsigned port, uint32_t session)
{
	struct pb_neighbour *n = &bench->neighbour[port];

	n->session = session;
	n->says = (struct control_credit){
		.session = session, .peer_session = PB_SESSION, .vcs = (uint8_t)bench->vcs};
	memset(n->may_send, 0, sizeof(n->may_send));
	memset(n->got, 0, sizeof(n->got));
	pb_say(bench, port);
}

/* Ports are dealt out to the shards. */
static inline struct shard_bench *pb_create(
	unsigned ports, unsigned vcs, unsigned shards, uint64_t seed, weft_time watchdog_ps)
{
	struct shard_bench *bench = calloc(1, sizeof(*bench));
	struct switch_config config;
	uint8_t owner[PB_PORTS];

	assert_non_null(bench);
	*bench = (struct shard_bench){.ports = ports, .vcs = vcs, .shards = shards, .sends = 4};
	for (unsigned port = 0; port < ports; port++) {
		bench->table[port] = (uint8_t)port;
		bench->neighbour[port].packet = calloc(PB_PACKETS, sizeof(struct pb_packet));
		owner[port] = (uint8_t)(port % shards);
	}
	config = pb_config(bench);
	config.watchdog_ps = watchdog_ps;
	bench->division = switch_division_create(&config, owner, shards);
	assert_non_null(bench->division);
	for (unsigned shard = 0; shard < shards; shard++) {
		rng_init(&bench->rng[shard], seed, shard, 0);
		bench->now[shard] = PS_PER_S;
		assert_int_equal(switch_shard_create(bench->division, shard, PS_PER_S), 0);
	}
	switch_division_connect(bench->division);
	for (unsigned port = 0; port < ports; port++)
		pb_meet(bench, port, 1000 + port);
	return bench;
}

static inline void pb_check(const struct shard_bench *bench)
{
	const char *wrong = switch_division_check(bench->division);

	if (wrong != NULL)
		fail_msg("%s", wrong);
}

/* --- packets --- */

static inline void pb_free(struct weft_packet *packet)
{
	struct pb_packet *own = (struct pb_packet *)packet;

	/* Doubled otherwise. */
	assert_int_equal(__atomic_exchange_n(&own->used, 0, __ATOMIC_ACQ_REL), 1);
}

/* NULL: the next one is still under way. */
static inline struct weft_packet *pb_make(
	struct shard_bench *bench, unsigned input, unsigned vc, unsigned output, unsigned blocks)
{
	struct pb_neighbour *n = &bench->neighbour[input];
	struct pb_packet *own = &n->packet[n->next_packet];

	if (__atomic_load_n(&own->used, __ATOMIC_ACQUIRE) != 0)
		return NULL;
	n->next_packet = (n->next_packet + 1) % PB_PACKETS;
	own->packet = (struct weft_packet){
		.bytes = (uint16_t)(blocks * FRAME_BLOCK_BYTES),
		.blocks = (uint16_t)blocks,
		.in_port = (uint8_t)input,
		.vc = (uint8_t)vc,
		.header_vc = (uint8_t)vc,
		.sl = (uint8_t)vc,
		.source = (uint16_t)input,
		.destination = (uint16_t)output,
	};
	__atomic_store_n(&own->used, 1, __ATOMIC_RELAXED);
	return &own->packet;
}

/* A packet has left through 'output': in order, within credits, in the right VC. */
static inline void pb_deliver(
	struct shard_bench *bench, unsigned output, struct weft_packet *packet)
{
	struct pb_neighbour *n = &bench->neighbour[output];
	unsigned vc = packet->sl;
	uint32_t *expected = &n->expected[packet->source][vc];

	if (packet->control) {
		n->control_received++;
		pb_free(packet);
		return;
	}
	assert_int_equal(bench->table[packet->destination], output);
	assert_true(packet->sequence >= *expected);
	if (bench->lossless)
		assert_int_equal(packet->sequence, *expected);
	*expected = packet->sequence + 1;
	n->got[vc] += packet->blocks;
	assert_true((int32_t)(n->says.limit[vc] - n->got[vc]) >= 0);
	n->received++;
	n->from[packet->source]++;
	pb_free(packet);
}

static inline void pb_free_discards(struct shard_bench *bench, struct switch_shard *shard)
{
	struct weft_packet *packet = switch_take_discards(shard->sw);

	while (packet != NULL) {
		struct weft_packet *next = packet->next;

		bench->discarded[shard->number]++;
		pb_free(packet);
		packet = next;
	}
}

/* --- a turn of a shard, as in a poll loop --- */

/* As drivers do it: past the queues, or with a descriptor. */
static inline void pb_arrive(struct shard_bench *bench, struct switch_shard *shard,
	struct weft_packet *packet, uint64_t outputs)
{
	struct switch_port *port = &shard->sw->port[packet->in_port];
	struct weft_packet as = *packet;
	unsigned output;

	switch_count_in(port, 1, packet->bytes);
	output = switch_receive_sharded(shard, port, &as, outputs);
	if (output == SWITCH_PORT_NONE) {
		switch_shard_receive(shard, packet, bench->now[shard->number]);
	} else if (switch_shard_is_foreign(shard, output)) {
		switch_shard_hand(shard, packet, &as, output);
	} else {
		switch_count_passed(
			shard->sw, packet->in_port, packet->vc, output, 1, packet->bytes);
		pb_deliver(bench, output, packet);
	}
}

/* Sends a packet of the flow, if there are credits for it. */
static inline bool pb_send(struct shard_bench *bench, unsigned input, unsigned vc, unsigned output,
	unsigned blocks, uint64_t outputs)
{
	struct pb_neighbour *n = &bench->neighbour[input];
	struct weft_packet *packet;

	if ((int32_t)(n->may_send[vc] - n->says.sent[vc] - blocks) < 0)
		return false;
	packet = pb_make(bench, input, vc, output, blocks);
	if (packet == NULL)
		return false;
	packet->sequence = n->next[vc][output]++;
	n->says.sent[vc] += blocks;
	n->sent++;
	pb_arrive(bench, pb_owner(bench, input), packet, outputs);
	return true;
}

static inline void pb_accept(
	struct shard_bench *bench, struct switch_shard *shard, unsigned from, uint64_t outputs)
{
	struct shard_ring *ring = &shard->in[from];
	uint32_t waiting = shard_ring_waiting(ring);

	for (uint32_t i = 0; i < waiting; i++) {
		const struct shard_entry *entry = shard_ring_at(ring, i);

		if (!switch_shard_pass(shard, entry, outputs)) {
			switch_shard_accept(shard, from, entry, bench->now[shard->number]);
			continue;
		}
		switch_count_passed(
			shard->sw, entry->input, entry->vc, entry->output, 1, entry->bytes);
		pb_deliver(bench, entry->output, entry->packet);
	}
	shard_ring_take(ring, waiting);
}

static inline void pb_transmit(
	struct shard_bench *bench, struct switch_shard *shard, unsigned output, unsigned max)
{
	struct weft_packet *packet[PB_BURST];
	unsigned count = switch_transmit(shard->sw, output, packet, max, bench->now[shard->number]);

	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(packet[i]->vc_next, packet[i]->sl);
		pb_deliver(bench, output, packet[i]);
	}
}

/* The link protocol in both directions, without loss on the wire. */
static inline void pb_link(struct shard_bench *bench, struct switch_shard *shard, unsigned port)
{
	struct pb_neighbour *n = &bench->neighbour[port];
	weft_time now = bench->now[shard->number];
	unsigned due = switch_poll_link(shard->sw, port, now);

	if (due & LINK_SEND_CREDIT) {
		struct control_credit credit;

		link_end_fill_credit(&shard->sw->port[port].link, &credit, now);
		memcpy(n->may_send, credit.limit, sizeof(n->may_send));
	}
	if (n->silent)
		return;
	if (due & LINK_SEND_HELLO)
		pb_say(bench, port);
	for (unsigned vc = 0; vc < bench->vcs; vc++) {
		uint32_t max = n->got[vc] + PB_BLOCKS;
		uint32_t more = max - n->says.limit[vc];

		n->says.limit[vc] +=
			n->greedy ? more
				  : (uint32_t)rng_below(&bench->rng[shard->number], more + 1);
	}
	switch_on_credit(shard->sw, port, &n->says, now);
}

static inline void pb_send_some(
	struct shard_bench *bench, struct switch_shard *shard, unsigned input, uint64_t outputs)
{
	struct rng *rng = &bench->rng[shard->number];

	for (uint64_t i = rng_below(rng, bench->sends + 1); i > 0; i--) {
		unsigned vc = (unsigned)rng_below(rng, bench->vcs);
		unsigned output = (unsigned)rng_below(rng, bench->ports);

		pb_send(bench, input, vc, output, 1 + (unsigned)rng_below(rng, 9), outputs);
	}
}

static inline void pb_turn(struct shard_bench *bench, unsigned number)
{
	struct switch_shard *shard = bench->division->shard[number];
	struct rng *rng = &bench->rng[number];
	uint64_t outputs = rng_next(rng) | rng_next(rng);

	bench->now[number] += PB_TURN_PS;
	switch_shard_pull(shard);
	for (unsigned port = 0; port < bench->ports; port++)
		if (shard->own >> port & 1)
			pb_send_some(bench, shard, port, outputs);
	switch_shard_flush(shard);
	for (unsigned from = 0; from < bench->shards; from++)
		if (from != number)
			pb_accept(bench, shard, from, outputs);
	for (unsigned port = 0; port < bench->ports; port++) {
		if ((shard->own >> port & 1) == 0)
			continue;
		if (outputs >> port & 1)
			pb_transmit(bench, shard, port, (unsigned)rng_below(rng, PB_BURST) + 1);
		pb_link(bench, shard, port);
	}
	switch_poll_watchdog(shard->sw, bench->now[number]);
	pb_free_discards(bench, shard);
	switch_shard_push(shard);
}

/* --- the end --- */

static inline uint64_t pb_sum(const struct shard_bench *bench, bool sent)
{
	uint64_t sum = 0;

	for (unsigned port = 0; port < bench->ports; port++)
		sum += sent ? bench->neighbour[port].sent : bench->neighbour[port].received;
	return sum;
}

/* Nobody sends, everybody takes. */
static inline void pb_finish(struct shard_bench *bench)
{
	bench->sends = 0;
	for (unsigned port = 0; port < bench->ports; port++)
		bench->neighbour[port].greedy = true;
	for (unsigned turn = 0; turn < 200; turn++)
		for (unsigned shard = 0; shard < bench->shards; shard++)
			pb_turn(bench, shard);
	pb_check(bench);
}

/* Each sender may fill the whole buffer of its port. */
static inline void pb_expect_all_credits(const struct shard_bench *bench)
{
	for (unsigned port = 0; port < bench->ports; port++)
		for (unsigned vc = 0; vc < bench->vcs; vc++) {
			const struct pb_neighbour *n = &bench->neighbour[port];

			assert_int_equal(credit_stored(&pb_port(bench, port)->link.rx[vc]), 0);
			assert_int_equal(n->may_send[vc] - n->says.sent[vc], PB_BLOCKS);
		}
}

static inline void pb_destroy(struct shard_bench *bench)
{
	switch_division_drain(bench->division);
	for (unsigned shard = 0; shard < bench->shards; shard++)
		pb_free_discards(bench, bench->division->shard[shard]);
	assert_int_equal(switch_division_stored(bench->division), 0);
	switch_division_destroy(bench->division);
	for (unsigned port = 0; port < bench->ports; port++) {
		for (unsigned i = 0; i < PB_PACKETS; i++)
			assert_int_equal(bench->neighbour[port].packet[i].used, 0);
		free(bench->neighbour[port].packet);
	}
	free(bench);
}

OWNED_POINTER_BY(shard_bench, pb_destroy)
