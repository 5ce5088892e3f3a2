/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The poll driver of a switch with real frames, on a test clock: four neighbours at the far ends of
 * in-memory links send under credits, read when they like, and check what arrives. For the tests of
 * poll_switch; each program has one pool. */

#include <arpa/inet.h>
#include <unistd.h>

#include <rte_mempool.h>

#include "eal_tests.h"
#include "poll/poll_division.h"
#include "wire/control.h"

#define POOL_MBUFS 8191u
#define PORTS      4u
#define VCS        2u
#define VC_BLOCKS  192u
#define STEP_PS    PS_PER_US
#define ROUTED     2 /* elements of a source route: a port and the host */

static struct rte_mempool *pool;
/* Continues across tests: buffers carry times from one to the next. */
static weft_time bench_clock = PS_PER_S;

/* A host: what it has sent to each other host per VC, and received from each. */
struct neighbour {
	struct port port;
	struct link_end link;
	struct tx_queue tx;
	uint32_t sent[PORTS][VCS], seen[PORTS][VCS];
	uint32_t stored_blocks[VCS];
	uint64_t data_sent, data_seen, data_spoilt, control_sent, control_seen, arns_seen;
	struct control_arn arn;                    /* the last one */
	uint64_t mapper_seen;                      /* scout and mapper frames */
	uint8_t mapper_frame[256], mapper_payload; /* the last one, and its first payload byte */
	bool silent;                               /* takes no frames and says nothing */
};

struct bench {
	struct neighbour host[PORTS];
	struct port port[PORTS];
	struct poll_division *division; /* NULL: the switch has one part */
	struct weft_switch *sw;         /* or that of the first part, as 'ps' */
	struct poll_switch *ps;
	uint8_t table[PORTS];
	uint64_t alternatives[PORTS];
	struct rng rng;
	weft_time now;
	bool sending;
	bool lossy;  /* what is missing is no fault */
	bool astray; /* received frames may be for another device */
	uint32_t spoil_ppm;
};

struct bench_config {
	bool voq, timed;
	unsigned slots;  /* size of the links */
	unsigned shards; /* 0: one */
};

static inline struct poll_switch *loop_of(const struct bench *bench, unsigned port)
{
	return bench->division == NULL ? bench->ps : poll_division_owner(bench->division, port);
}

/* Ports are dealt out to the parts. */
static inline void divide(struct bench *bench, const struct switch_config *config, unsigned shards)
{
	uint8_t owner[PORTS];

	for (unsigned i = 0; i < PORTS; i++)
		owner[i] = (uint8_t)(i % shards);
	bench->division = poll_division_create(config, owner, shards);
	assert_non_null(bench->division);
	for (unsigned shard = 0; shard < shards; shard++)
		assert_int_equal(poll_division_place(bench->division, shard, pool, bench->now), 0);
	poll_division_connect(bench->division);
	bench->ps = bench->division->shard[0];
	bench->sw = bench->ps->sw;
}

static inline void start_host(struct bench *bench, const struct bench_config *config, uint8_t i)
{
	struct neighbour *host = &bench->host[i];
	const struct link_end_config link = {.device = 100u + i,
		.device_kind = 1,
		.vcs = VCS,
		.vc_blocks = VC_BLOCKS,
		.session = 100u + i,
		.hello_ps = PS_PER_MS,
		.refresh_ps = 50 * PS_PER_US};
	const struct tx_timing timing = {
		.rate_bps = 10000000000u, .delay_ps = 3 * STEP_PS, .catch_up_ps = STEP_PS};
	struct error error = {""};
	char ours[16], its[16];

	snprintf(ours, sizeof(ours), "h%u:0", i);
	snprintf(its, sizeof(its), "s0:%u", i);
	if (port_open_memory_link(&host->port, ours, &bench->port[i], its, config->slots, &error) <
		0)
		fail_msg("%s", error.text);
	link_end_init(&host->link, &link, bench->now);
	tx_queue_init(&host->tx, &host->port, NULL, NULL);
	poll_switch_attach(
		loop_of(bench, i), i, &bench->port[i], config->timed ? &timing : NULL, NULL);
}

static inline void start(struct bench *bench, const struct bench_config *config)
{
	struct switch_config sw = {.device = 1,
		.session = 1,
		.ports = PORTS,
		.vcs = VCS,
		.voq = config->voq,
		.buffer_blocks = VCS * VC_BLOCKS,
		.hello_ps = PS_PER_MS,
		.credit_refresh_ps = 50 * PS_PER_US,
		.watchdog_ps = WEFT_TIME_NEVER,
		.control_reserve = 64,
		.table_port = bench->table,
		.table_alternatives = bench->alternatives,
		.table_hosts = PORTS};

	memset(bench, 0, sizeof(*bench));
	bench->now = bench_clock;
	rng_init(&bench->rng, 1, config->voq, config->timed);
	for (unsigned sl = 0; sl < 16; sl++)
		sw.sl_to_vc[sl] = (uint8_t)(sl % VCS);
	for (unsigned i = 0; i < PORTS; i++)
		bench->alternatives[bench->table[i] = (uint8_t)i] = BIT64(i);
	if (config->shards > 1) {
		divide(bench, &sw, config->shards);
	} else {
		bench->sw = switch_create(&sw, bench->now);
		assert_non_null(bench->sw);
		bench->ps = poll_switch_create(bench->sw, pool);
		assert_non_null(bench->ps);
	}
	for (uint8_t i = 0; i < PORTS; i++)
		start_host(bench, config, i);
	bench->sending = true;
}

static inline void stop(struct bench *bench)
{
	bench_clock = bench->now + PS_PER_S;
	if (bench->division == NULL) {
		poll_switch_destroy(bench->ps);
		switch_destroy(bench->sw);
	}
	poll_division_destroy(bench->division);
	for (unsigned i = 0; i < PORTS; i++) {
		tx_queue_drain(&bench->host[i].tx);
		port_close(&bench->host[i].port);
		port_close(&bench->port[i]);
	}
	assert_int_equal(rte_mempool_avail_count(pool), POOL_MBUFS); /* no buffer is lost */
}

static inline struct rte_mbuf *make_frame(uint8_t **frame)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	assert_non_null(mbuf);
	*frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	return mbuf;
}

static inline void send_frame(struct bench *bench, struct neighbour *host, struct rte_mbuf *mbuf,
	const struct frame_fields *fields)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	unsigned bytes = frame_build(frame, fields);

	rte_pktmbuf_data_len(mbuf) = (uint16_t)bytes;
	rte_pktmbuf_pkt_len(mbuf) = bytes;
	mbuf_packet(mbuf)->arrived_ps = bench->now;
	if (fields->kind == FRAME_DATA && rng_chance_ppm(&bench->rng, bench->spoil_ppm)) {
		frame[FRAME_HEADER_OFFSET + rng_below(&bench->rng, 32)] ^= 0x10;
		host->data_spoilt++;
	}
	tx_queue_send(&host->tx, &mbuf, 1, bench->now);
}

/* Sends a data frame if there are credits, or sometimes an acknowledgement. */
static inline void send_random(struct bench *bench, struct neighbour *host)
{
	unsigned self = (unsigned)(host - bench->host);
	unsigned to = (self + 1 + (unsigned)rng_below(&bench->rng, PORTS - 1)) % PORTS;
	unsigned vc = (unsigned)rng_below(&bench->rng, VCS);
	const uint8_t route[ROUTED] = {(uint8_t)(ROUTE_PORT_BIT | to), ROUTE_TYPE_HOST};
	struct frame_fields fields = {.kind = FRAME_DATA,
		.source = (uint16_t)self,
		.destination = (uint16_t)to,
		.sl = (uint8_t)vc,
		.vc = (uint8_t)vc,
		.payload_bytes = (uint16_t)(4 + rng_below(&bench->rng, 1400))};
	struct rte_mbuf *mbuf;
	uint8_t *frame;
	unsigned blocks;

	if (rng_below(&bench->rng, 2) == 0) {
		fields.route = route;
		fields.route_length = ROUTED;
	}
	if (rng_below(&bench->rng, 4) != 0) /* several in a buffer, so that bursts are long */
		fields.payload_bytes = (uint16_t)(4 + rng_below(&bench->rng, 10));
	blocks = frame_blocks(FRAME_HEADER_BYTES + fields.route_length + fields.payload_bytes);
	if (!credit_suffices(&host->link.tx[vc], blocks))
		return;
	if (rng_below(&bench->rng, 20) == 0)
		fields.kind = FRAME_ACK;
	mbuf = make_frame(&frame);
	memset(frame + FRAME_HEADER_BYTES + fields.route_length, (int)self, fields.payload_bytes);
	if (fields.kind == FRAME_DATA) {
		credit_take(&host->link.tx[vc], blocks);
		fields.sequence = host->sent[to][vc]++;
		host->data_sent++;
	} else {
		host->control_sent++;
	}
	send_frame(bench, host, mbuf, &fields);
}

static inline void send_link_local(
	struct bench *bench, struct neighbour *host, enum frame_kind kind)
{
	struct frame_fields fields = {
		.kind = kind, .source = FRAME_HOST_NONE, .destination = FRAME_HOST_NONE};
	struct control_credit credit;
	struct control_hello hello;
	uint8_t *frame;
	struct rte_mbuf *mbuf = make_frame(&frame);

	if (kind == FRAME_CREDIT) {
		link_end_fill_credit(&host->link, &credit, bench->now);
		fields.payload_bytes =
			(uint16_t)control_credit_encode(&credit, frame + FRAME_HEADER_BYTES);
	} else {
		link_end_fill_hello(&host->link, &hello, bench->now);
		fields.payload_bytes =
			(uint16_t)control_hello_encode(&hello, frame + FRAME_HEADER_BYTES);
	}
	send_frame(bench, host, mbuf, &fields);
}

static inline void receive_data(
	struct bench *bench, struct neighbour *host, const uint8_t *frame, unsigned bytes)
{
	const struct frame_header *header = frame_header_const(frame);
	unsigned from = ntohs(header->source_be), vc = header->vc;
	uint32_t *seen = &host->seen[from][vc];
	uint32_t sequence = ntohl(header->sequence_be);

	if (!bench->astray)
		assert_int_equal(ntohs(header->destination_be), host - bench->host);
	assert_int_equal(vc, header->sl);
	assert_true(header->route_length == 0 || header->cursor == 1);
	if (bench->spoil_ppm == 0 && !bench->lossy)
		assert_int_equal(sequence, *seen); /* none lost, doubled or overtaken */
	else
		assert_true((int32_t)(sequence - *seen) >= 0);
	*seen = sequence + 1;
	host->data_seen++;
	assert_true(credit_arrive(&host->link.rx[vc], frame_blocks(bytes)));
	host->stored_blocks[vc] += frame_blocks(bytes);
}

static inline void receive_mapper(struct neighbour *host, const uint8_t *frame, unsigned bytes)
{
	assert_true(bytes <= sizeof(host->mapper_frame));
	memcpy(host->mapper_frame, frame, bytes);
	host->mapper_payload = frame[frame_payload_offset(frame_header_const(frame))];
	host->mapper_seen++;
}

static inline void receive_one(struct bench *bench, struct neighbour *host, struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const struct frame_header *header = frame_header_const(frame);
	const uint8_t *payload = frame + frame_payload_offset(header);
	unsigned payload_bytes = ntohs(header->payload_bytes_be);
	struct control_credit credit;
	struct control_hello hello;

	assert_int_equal(frame_check(frame, rte_pktmbuf_data_len(mbuf)), FRAME_FAULT_OK);
	assert_true(frame_payload_ok(frame));
	if (header->kind == FRAME_DATA)
		receive_data(bench, host, frame, rte_pktmbuf_data_len(mbuf));
	else if (header->kind == FRAME_CREDIT &&
		 control_credit_decode(&credit, payload, payload_bytes))
		link_end_on_credit(&host->link, &credit, bench->now);
	else if (header->kind == FRAME_HELLO &&
		 control_hello_decode(&hello, payload, payload_bytes))
		link_end_on_hello(&host->link, &hello, bench->now);
	else if (header->kind == FRAME_ARN &&
		 control_arn_decode(&host->arn, payload, payload_bytes))
		host->arns_seen++;
	else if (header->kind == FRAME_SCOUT || header->kind == FRAME_MAPPER)
		receive_mapper(host, frame, rte_pktmbuf_data_len(mbuf));
	else
		host->control_seen += header->kind == FRAME_ACK;
	rte_pktmbuf_free(mbuf);
}

static inline void free_some(struct bench *bench, struct neighbour *host)
{
	for (unsigned vc = 0; vc < VCS; vc++) {
		uint32_t blocks = (uint32_t)rng_below(&bench->rng, host->stored_blocks[vc] + 1);

		blocks = rng_below(&bench->rng, 3) == 0 ? blocks : 0;
		credit_release(&host->link.rx[vc], blocks);
		host->stored_blocks[vc] -= blocks;
	}
}

static inline void host_turn(struct bench *bench, struct neighbour *host)
{
	struct rte_mbuf *mbufs[PORT_BURST];
	unsigned max = (unsigned)rng_below(&bench->rng, 2) * (unsigned)rng_below(&bench->rng, 12);
	unsigned count =
		host->silent ? 0
			     : port_rx(&host->port, mbufs,
				       (uint16_t)(bench->sending ? max : PORT_BURST), bench->now);
	unsigned due;

	for (unsigned i = 0; i < count; i++)
		receive_one(bench, host, mbufs[i]);
	free_some(bench, host);
	for (unsigned i = 0; i < 32 && bench->sending; i++)
		if (tx_queue_flush(&host->tx, bench->now))
			send_random(bench, host);
	tx_queue_flush(&host->tx, bench->now);
	due = link_end_poll(&host->link, bench->now);
	if (host->silent)
		return;
	assert_true((due & LINK_WENT_DOWN) == 0 || bench->lossy);
	if ((due & LINK_SEND_HELLO) != 0 && tx_queue_has_room(&host->tx))
		send_link_local(bench, host, FRAME_HELLO);
	if ((due & LINK_SEND_CREDIT) != 0 && tx_queue_has_room(&host->tx))
		send_link_local(bench, host, FRAME_CREDIT);
}

/* Its parts run when they like. */
static inline void switch_turn(struct bench *bench)
{
	if (bench->division == NULL)
		poll_switch_run(bench->ps, bench->now);
	for (unsigned i = 0; bench->division != NULL && i < 2 * PORTS; i++) {
		unsigned shard =
			(unsigned)rng_below(&bench->rng, bench->division->division->shards);

		poll_switch_run(bench->division->shard[shard], bench->now);
	}
}

static inline void turn(struct bench *bench)
{
	const char *wrong;

	bench->now += STEP_PS;
	for (unsigned i = 0; i < PORTS; i++)
		host_turn(bench, &bench->host[i]);
	switch_turn(bench);
	for (unsigned i = 0; i < PORTS; i++)
		assert_true(loop_of(bench, i)->port[i].tx.waiting <= 2 * PORT_BURST);
	wrong = bench->division == NULL ? switch_check(bench->sw)
					: switch_division_check(bench->division->division);
	if (wrong != NULL)
		fail_msg("%s", wrong);
}

static inline uint64_t sum_count(const struct bench *bench, enum switch_counter counter)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < PORTS; i++)
		sum += loop_of(bench, i)->sw->port[i].count[counter];
	return sum;
}

static inline void send_data(struct bench *bench, unsigned from, unsigned to)
{
	struct neighbour *host = &bench->host[from];
	const struct frame_fields fields = {.kind = FRAME_DATA,
		.source = (uint16_t)from,
		.destination = (uint16_t)to,
		.sequence = host->sent[to][0]++};
	uint8_t *frame;

	credit_take(&host->link.tx[0], frame_blocks(FRAME_HEADER_BYTES));
	send_frame(bench, host, make_frame(&frame), &fields);
}

static inline void turns(struct bench *bench, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		turn(bench);
}
