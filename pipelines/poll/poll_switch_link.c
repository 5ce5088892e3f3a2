/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Link-local control frames of a switch: credits, hellos and notifications. */

#include "poll_switch_private.h"

#include <arpa/inet.h>

#include "wire/control.h"

/* Handles a notification that packets sent through this port contribute to congestion. */
static bool receive_arn(struct poll_switch *ps, unsigned at, const uint8_t *payload, unsigned bytes,
	weft_time due, weft_time now)
{
	const struct link_end *link = &ps->sw->port[at].link;
	struct control_arn arn;

	if (ps->sw->congestion == NULL || !control_arn_decode(&arn, payload, bytes))
		return false;
	if (link->config.open || arn.destination >= ps->sw->congestion->hosts_max ||
		!arn_policer_admits(&ps->port[at].arn_policer, &ps->arn_policer, link, &arn, now)) {
		ps->port[at].arns_refused++;
		return true;
	}
	ps->port[at].arns_in++;
	congestion_control_on_arn(ps->sw->congestion, at, &arn, due, now);
	return true;
}

void poll_switch_limit_arns(struct poll_switch *ps, const struct arn_policer_config *guard)
{
	ps->arn_policer = *guard;
}

void poll_switch_receive_link(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const struct frame_header *header = frame_header_const(frame);
	const uint8_t *payload = frame + frame_payload_offset(header);
	unsigned bytes = ntohs(header->payload_bytes_be);
	weft_time due = port_due(ps->port[at].port, mbuf, now);
	struct control_credit credit;
	struct control_hello hello;

	if (!frame_payload_ok(frame)) {
		ps->port[at].faults[FRAME_FAULT_PAYLOAD_CRC]++;
	} else if (!port_auth_admits(&ps->port[at].guard, &ps->sw->port[at].link, frame) ||
		   !port_auth_open(&ps->port[at].guard, &ps->sw->port[at].link, mbuf)) {
		return;
	} else if (header->kind == FRAME_CREDIT && control_credit_decode(&credit, payload, bytes) &&
		   credit.vcs == ps->sw->vcs) {
		switch_on_credit(ps->sw, at, &credit, now);
		credit_times_update(
			&ps->port[at].credits, ps->sw->port[at].link.tx, ps->sw->vcs, due);
	} else if (header->kind == FRAME_HELLO && control_hello_decode(&hello, payload, bytes)) {
		switch_on_hello(ps->sw, at, &hello, now);
		port_auth_follow(&ps->port[at].guard, &ps->sw->port[at].link);
		poll_switch_learn_host(ps, at);
	} else if (header->kind != FRAME_ARN || !receive_arn(ps, at, payload, bytes, due, now)) {
		ps->port[at].control_bad++;
	}
}

/* Allocates a link-local frame. Returns the position of its payload, or NULL if there is no buffer.
 */
static uint8_t *begin_link_local(struct poll_switch *ps, unsigned at, struct rte_mbuf **mbuf)
{
	*mbuf = rte_pktmbuf_alloc(ps->pool);
	if (*mbuf != NULL)
		return rte_pktmbuf_mtod(*mbuf, uint8_t *) + FRAME_HEADER_BYTES;
	ps->port[at].no_mbuf++;
	return NULL;
}

static void end_link_local(struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf,
	enum frame_kind kind, unsigned payload_bytes, weft_time ready, weft_time now)
{
	struct port_auth *guard = &ps->port[at].guard;
	struct frame_fields fields = {.kind = kind,
		.fabric = guard->fabric,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE,
		.payload_bytes = (uint16_t)payload_bytes};

	rte_pktmbuf_data_len(mbuf) =
		(uint16_t)frame_build(rte_pktmbuf_mtod(mbuf, uint8_t *), &fields);
	rte_pktmbuf_pkt_len(mbuf) = rte_pktmbuf_data_len(mbuf);
	if (!port_auth_close(guard, &ps->sw->port[at].link, mbuf)) {
		ps->port[at].no_mbuf++;
		rte_pktmbuf_free(mbuf);
		return;
	}
	mbuf = port_auth_fill(guard, mbuf);
	poll_switch_send_own(ps, at, mbuf, ready, now);
}

/* Returns when the last packet from this input left the switch, through any output. */
static weft_time left_at(const struct poll_switch *ps, unsigned at)
{
	weft_time here = ps->port[at].left_at;

	return ps->shard == NULL ? here : RTE_MAX(here, ps->shard->left_at[at]);
}

/* Returns when a credit frame is ready: when the tail of the last packet that it frees was sent. */
static weft_time credit_ready(const struct poll_switch *ps, unsigned at, weft_time now)
{
	weft_time left = left_at(ps, at);

	return left > ps->port[at].granted_at && left < now ? left : now;
}

/* All earlier data has been sent, so the totals count exactly the data before this frame. */
static void send_credit(struct poll_switch *ps, unsigned at, weft_time now)
{
	struct control_credit credit;
	struct rte_mbuf *mbuf;
	uint8_t *payload = begin_link_local(ps, at, &mbuf);

	if (payload == NULL)
		return;
	link_end_fill_credit(&ps->sw->port[at].link, &credit, now);
	end_link_local(ps, at, mbuf, FRAME_CREDIT, control_credit_encode(&credit, payload),
		credit_ready(ps, at, now), now);
	ps->port[at].granted_at = RTE_MIN(left_at(ps, at), now);
}

static void send_hello(struct poll_switch *ps, unsigned at, weft_time now)
{
	struct control_hello hello;
	struct rte_mbuf *mbuf;
	uint8_t *payload = begin_link_local(ps, at, &mbuf);

	if (payload == NULL)
		return;
	link_end_fill_hello(&ps->sw->port[at].link, &hello, now);
	end_link_local(ps, at, mbuf, FRAME_HELLO, control_hello_encode(&hello, payload), now, now);
}

static void send_arn(
	struct poll_switch *ps, const struct congestion_control_arn *arn, weft_time now)
{
	struct poll_switch_port *port = &ps->port[arn->port];
	struct rte_mbuf *mbuf;
	uint8_t *payload;

	/* Dropped as if lost on a link; it is sent again while the root persists. */
	if (!tx_queue_has_room(&port->tx))
		return;
	payload = begin_link_local(ps, arn->port, &mbuf);
	if (payload == NULL)
		return;
	port->arns_out++;
	end_link_local(
		ps, arn->port, mbuf, FRAME_ARN, control_arn_encode(&arn->arn, payload), now, now);
}

void poll_switch_poll_congestion(struct poll_switch *ps, weft_time now)
{
	struct congestion_control *congestion = ps->sw->congestion;
	struct congestion_control_arn arn;

	congestion_control_poll(congestion, now);
	while (congestion_control_take_arn(congestion, &arn))
		send_arn(ps, &arn, now);
}

/* Packets whose tail has not been sent still occupy the buffer of 'input', although they have left
 * its queues. If 'held', subtracts their blocks from the released ones, otherwise adds them back.
 */
static void hold_leaving(struct poll_switch *ps, unsigned input, weft_time now, bool held)
{
	struct credit_rx *rx = ps->sw->port[input].link.rx;

	PORT_SET_EACH(set, ps->port[input].leaving_by) {
		unsigned at = port_set_first(set);
		const struct poll_switch_leaving *leaving = &ps->port[at].leaving;

		if (leaving->input != input || leaving->end <= now) {
			ps->port[input].leaving_by &= ~port_set_of(at);
			continue;
		}
		if (held)
			rx[leaving->vc].released -= leaving->blocks;
		else
			rx[leaving->vc].released += leaving->blocks;
	}
}

void poll_switch_push(struct poll_switch *ps, weft_time now)
{
	struct switch_shard *shard = ps->shard;
	port_set leaving = PORT_SET_NONE;

	PORT_SET_EACH(inputs, shard->guests) {
		unsigned input = port_set_first(inputs);
		weft_time left = ps->port[input].left_at;

		__atomic_store_n(
			&shard->board.left_at[input], RTE_MIN(left, now), __ATOMIC_RELAXED);
		if (left <= now)
			continue;
		hold_leaving(ps, input, now, true);
		leaving |= port_set_of(input);
	}
	switch_shard_push(shard);
	PORT_SET_EACH(left, leaving)
		hold_leaving(ps, port_set_first(left), now, false);
}

static void send_due(struct poll_switch *ps, unsigned at, unsigned due, weft_time now)
{
	if (due & LINK_SEND_HELLO)
		send_hello(ps, at, now);
	if (due & LINK_SEND_CREDIT)
		send_credit(ps, at, now);
}

void poll_switch_poll_link(struct poll_switch *ps, unsigned at, weft_time now)
{
	struct link_end *link = &ps->sw->port[at].link;
	bool dark = port_is_cut_by(ps->port[at].port, PORT_CUT_CARRIER);
	bool leaving = ps->port[at].left_at > now;
	unsigned due;

	if (__builtin_expect(dark != link->dark, 0))
		link_end_set_dark(link, dark, now);
	if (leaving)
		hold_leaving(ps, at, now, true);
	due = switch_poll_link(ps->sw, at, now);

	/* If nothing reads the port, waiting frames would never be sent. */
	if (due & LINK_WENT_DOWN) {
		poll_switch_free_discards(ps, true, now);
		tx_queue_drain(&ps->port[at].tx);
		port_auth_follow(&ps->port[at].guard, link);
		link_falls_note(&ps->port[at].falls, link, ps->port[at].port);
	}
	if (tx_queue_has_room(&ps->port[at].tx))
		send_due(ps, at, due, now);
	if (leaving)
		hold_leaving(ps, at, now, false);
}

void poll_switch_unplug(struct poll_switch *ps, unsigned at)
{
	ps->present &= ~port_set_of(at);
	ps->direct &= ~port_set_of(at);
}

void poll_switch_plug(struct poll_switch *ps, unsigned at)
{
	ps->present |= port_set_of(at);
	ps->sw->absent &= ~port_set_of(at);
}
