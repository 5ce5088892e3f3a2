/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Interfaces of a test that carries each frame itself: it takes the next one, checks it, delivers
 * it or loses it. Links are open: no hellos, and credits are renewed at each poll. */

#include <arpa/inet.h>
#include <errno.h>

#include "nic/nic.h"
#include "nic/nic_private.h"
#include "unit.h"
#include "wire/control.h"

#define PAIR_HOSTS 4
#define PAIR_MTU   64

struct box {
	struct weft_packet packet; /* first: what the interface gives back */
	uint8_t frame[FRAME_BYTES_MAX];
	bool held; /* by an interface */
};

struct end {
	struct nic *nic;
	struct nic_routes *routes;
	weft_time now;
	uint32_t sequence[256]; /* delivered, in order */
	uint32_t first;         /* sequence number of the flow begun last: pair_begin() */
	unsigned delivered, new_flows, tails;
	unsigned acked, failed;
	uint64_t last_cookie;
	int last_error;
};

static inline void end_deliver(void *ctx, const struct nic_delivery *delivery)
{
	struct end *end = ctx;

	end->sequence[end->delivered++ % 256] = delivery->sequence;
	end->new_flows += delivery->new_flow;
	end->tails += delivery->tail;
}

static inline void end_done(void *ctx, const struct nic_outcome *outcome)
{
	struct end *end = ctx;

	if (outcome->error == 0)
		end->acked++;
	else
		end->failed++;
	end->last_cookie = outcome->cookie;
	end->last_error = outcome->error;
}

/* The configuration for end_start(); tests may change it before. */
static inline struct nic_config end_config(struct end *end, uint16_t host, uint32_t session)
{
	struct nic_config config;

	memset(end, 0, sizeof(*end));
	end->now = PS_PER_S;
	end->routes = nic_routes_create(PAIR_HOSTS);
	for (uint16_t to = 0; to < PAIR_HOSTS; to++)
		nic_routes_by_table(end->routes, to);
	nic_config_default(&config, host, PAIR_HOSTS);
	config.mtu_bytes = PAIR_MTU;
	config.routes = end->routes;
	config.messages = 64; /* one peer alone gets half */
	config.payloads = 16;
	config.payload_bytes = 256;
	config.window_frames = 8;
	config.ack_frames = 4;
	config.ack_delay_ps = 50 * PS_PER_US;
	config.gap_ps = PS_PER_MS;
	config.retry_ps = 20 * PS_PER_MS;
	config.give_up_ps = PS_PER_S;
	config.link.open = true;
	config.link.session = session;
	memcpy(config.secret, &session, sizeof(session));
	config.above = (struct nic_host){.ctx = end, .deliver = end_deliver, .done = end_done};
	return config;
}

/* In the first session of each host, flows to and from all hosts are open and begin at frame 0. In
 * later sessions they must be opened. */
#define PAIR_SESSION(host) ((host) + 1u)
#define PAIR_FLOW(host)    ((uint16_t)(500 + (host)))

static inline void end_open_flows(struct nic *nic)
{
	uint16_t host = nic->config.host;

	for (uint16_t peer = 0; peer < nic->config.hosts; peer++) {
		struct flow_tx *tx = &nic->tx[peer];

		tx->flow = PAIR_FLOW(host);
		tx->phase = FLOW_OPEN;
		tx->open = tx->window;
		tx->acked = tx->send = tx->high = tx->next = tx->repeat_end = 0;
		limit_times_init(&tx->opened, tx->open);
		tx->peer_session = PAIR_SESSION(peer);
		nic->rx[peer].known = true;
		nic->rx[peer].flow = PAIR_FLOW(peer);
	}
}

static inline void end_begin(struct end *end, const struct nic_config *config)
{
	end->nic = nic_create(config, end->now);
	assert_non_null(end->nic);
	if (config->link.session == PAIR_SESSION(config->host))
		end_open_flows(end->nic);
	nic_poll(end->nic, end->now);
}

static inline void end_start(struct end *end, uint16_t host, uint32_t session)
{
	struct nic_config config = end_config(end, host, session);

	end_begin(end, &config);
}

/* Like end_start(), with a neighbour that has not been heard yet. */
static inline void end_start_unlinked(struct end *end, uint16_t host, uint32_t session)
{
	struct nic_config config = end_config(end, host, session);

	config.link.open = false;
	end_begin(end, &config);
}

static inline void end_stop(struct end *end)
{
	assert_null(nic_check(end->nic));
	for (struct weft_packet *packet = nic_drain(end->nic); packet != NULL;) {
		struct weft_packet *next = packet->next;

		((struct box *)packet)->held = false;
		packet = next;
	}
	nic_destroy(end->nic);
	nic_routes_destroy(end->routes);
}

static inline void end_wait(struct end *end, weft_time ps)
{
	end->now += ps;
	nic_poll(end->nic, end->now);
}

/* Polls without receiving anything until the link goes down. */
static inline void end_miss_hellos(struct end *end)
{
	for (unsigned i = 0; i <= LINK_HELLOS_MISSED; i++)
		end_wait(end, nic_config(end->nic)->link.hello_ps);
}

static inline int end_send(struct end *end, uint16_t to, uint8_t sl, uint32_t bytes)
{
	struct nic_message message = {
		.destination = to, .sl = sl, .bytes = bytes, .cookie = 100u + to};

	return nic_send(end->nic, &message, end->now);
}

/* Takes the interface's next frame. Returns false if there is none. */
static inline bool end_take(struct end *end, struct box *box)
{
	nic_poll(end->nic, end->now);
	if (!nic_inject(end->nic, end->now, &box->packet))
		return false;
	nic_frame_build(end->nic, &box->packet, box->frame, end->now);
	assert_int_equal(frame_check(box->frame, box->packet.bytes), FRAME_FAULT_OK);
	return true;
}

/* Gives the interface a frame due at 'due'; true if it returned at once. */
static inline bool end_give_due(struct end *end, struct box *box, weft_time due)
{
	uint32_t bytes = box->packet.bytes;
	struct weft_packet *packet;

	assert_int_equal(frame_check(box->frame, bytes), FRAME_FAULT_OK);
	nic_poll(end->nic, end->now);
	nic_describe(&box->packet, box->frame, bytes, due);
	box->held = true;
	for (packet = nic_receive(end->nic, &box->packet, box->frame, end->now); packet != NULL;
		packet = packet->next)
		((struct box *)packet)->held = false;
	assert_null(nic_check(end->nic));
	return !box->held;
}

static inline bool end_give(struct end *end, struct box *box)
{
	return end_give_due(end, box, end->now);
}

/* Takes a data frame and checks its number in the flow. */
static inline void end_expect(struct end *end, struct box *box, uint32_t sequence)
{
	assert_true(end_take(end, box));
	assert_int_equal(box->packet.kind, FRAME_DATA);
	assert_int_equal(box->packet.sequence - end->first, sequence);
}

/* Carries the request of 'a' and the offer of 'b': the next frame of 'a' is frame 0 of a flow. */
static inline void pair_begin(struct end *a, struct end *b)
{
	struct box box;

	assert_true(end_take(a, &box));
	assert_int_equal(box.packet.kind, FRAME_FLOW);
	assert_true(end_give(b, &box));
	assert_true(end_take(b, &box));
	assert_int_equal(box.packet.kind, FRAME_FLOW);
	assert_true(end_give(a, &box));
	a->first = a->nic->tx[b->nic->config.host].acked;
}

/* Carries all frames that either has to send. */
static inline void pair_exchange(struct end *a, struct end *b)
{
	struct box box;
	bool more = true;

	while (more) {
		more = false;
		while (end_take(a, &box)) {
			assert_true(end_give(b, &box));
			more = true;
		}
		while (end_take(b, &box)) {
			assert_true(end_give(a, &box));
			more = true;
		}
	}
}

static inline uint64_t end_count(const struct end *end, enum nic_counter counter)
{
	return nic_counters(end->nic)[counter];
}

/* The fields of an acknowledgement. */
static inline struct control_ack box_ack(const struct box *box)
{
	const struct frame_header *header = frame_header_const(box->frame);
	struct control_ack ack;

	assert_int_equal(header->kind, FRAME_ACK);
	assert_true(control_ack_decode(
		&ack, box->frame + frame_payload_offset(header), ntohs(header->payload_bytes_be)));
	return ack;
}

/* For PAIR_TEST(): two ends, of hosts 0 and 1, as struct end[2]. */
static inline int pair_set_up(void **state)
{
	struct end *ends = malloc(2 * sizeof(*ends));

	assert_non_null(ends);
	end_start(&ends[0], 0, 1);
	end_start(&ends[1], 1, 2);
	*state = ends;
	return 0;
}

static inline int pair_tear_down(void **state)
{
	struct end *ends = *state;

	end_stop(&ends[0]);
	end_stop(&ends[1]);
	free(ends);
	return 0;
}

/* A case between two ends created by 'set_up'. */
#define PAIR_WITH(test, set_up)                                   \
	static void test##_between(struct end *a, struct end *b); \
	UNIT_WITH(test, set_up, pair_tear_down)                   \
	{                                                         \
		struct end *ends = *state;                        \
                                                                  \
		test##_between(&ends[0], &ends[1]);               \
	}                                                         \
	static void test##_between(struct end *a, struct end *b)
#define PAIR_TEST(test) PAIR_WITH(test, pair_set_up)
