/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "flow.h"

#include <arpa/inet.h>

#include "nic_control.h"

#define OVERTAKEN_FADE 256
#define FAR            65536u /* frames; exceeds any window */

#define MESSAGE_FLOW(message) ((uint16_t)((message) >> 16))

void flow_rx_init(struct nic *nic)
{
	for (unsigned peer = 0; peer < nic->config.hosts; peer++)
		nic->rx[peer].window = RESEQUENCER_NONE;
}

static void discard(struct nic *nic, struct weft_packet *packet, enum nic_counter reason)
{
	nic->count[reason]++;
	nic_release_packet(nic, packet);
}

/* Makes an acknowledgement due. It covers everything received until it is sent. */
static void ack_now(struct nic *nic, uint16_t peer)
{
	deadline_queue_cancel(&nic->ack_delay, peer);
	flow_due(nic, peer, FLOW_DUE_ACK);
}

static void ack_soon(struct nic *nic, uint16_t peer, weft_time now)
{
	struct flow_rx *rx = &nic->rx[peer];

	if (rx->unacked >= nic->config.ack_frames)
		ack_now(nic, peer);
	else if ((rx->due & FLOW_DUE_ACK) == 0 && !deadline_queue_armed(&nic->ack_delay, peer))
		deadline_queue_arm(&nic->ack_delay, peer, now);
}

/* Starts the gap timer when a frame before a received one is missing. With several paths, the frame
 * counts as lost only after some time. */
static void notice_gap(struct nic *nic, uint16_t peer, weft_time now)
{
	if (!deadline_queue_armed(&nic->gap, peer))
		deadline_queue_arm(&nic->gap, peer, now);
}

/* Returns the known number of frames missing from 'expected' on: up to the first held frame, or as
 * in the last request if no frame is held. */
static uint8_t count_missing(const struct nic *nic, const struct flow_rx *rx)
{
	uint32_t gap;

	if (rx->window == RESEQUENCER_NONE)
		return rx->missing;
	gap = resequencer_gap(&nic->resequencer, rx->window, rx->expected);
	return gap < UINT8_MAX ? (uint8_t)gap : UINT8_MAX;
}

static bool has_asked(const struct flow_rx *rx)
{
	return rx->asked && rx->asked_at == rx->expected;
}

/* Requests missing frames. Each request for the same frame waits for twice as many gap times as the
 * last, up to the sender's timeout, because more requests would be wasted while a cable is cut. The
 * wait exceeds the timeout if gaps become longer meanwhile; the sender then resends by itself. */
static void ask_again(struct nic *nic, uint16_t peer, weft_time now)
{
	struct flow_rx *rx = &nic->rx[peer];

	if (!has_asked(rx))
		rx->gap_waits = 1;
	else if (2 * rx->gap_waits * nic->gap.delay_ps <= nic->config.retry_ps)
		rx->gap_waits *= 2;
	rx->gap_wait = rx->gap_waits;
	rx->again = rx->again == UINT8_MAX ? 1 : (uint8_t)(rx->again + 1);
	rx->missing = count_missing(nic, rx);
	rx->asked_at = rx->expected;
	rx->ask = rx->asked = true;
	ack_now(nic, peer);
	deadline_queue_arm(&nic->gap, peer, now); /* in case the request is lost */
}

/* Adapts the time after which a gap counts as a loss: twice the observed delay of overtaken frames,
 * with slow decay. */
static void adapt_gap_time(struct nic *nic, weft_time ps)
{
	nic->overtaken_ps -= nic->overtaken_ps / OVERTAKEN_FADE;
	if (ps > nic->overtaken_ps)
		nic->overtaken_ps = ps;
	if (nic->overtaken_ps > nic->config.retry_ps)
		nic->overtaken_ps = nic->config.retry_ps;
	nic->gap.delay_ps = 2 * nic->overtaken_ps > nic->config.gap_ps ? 2 * nic->overtaken_ps
								       : nic->config.gap_ps;
}

static void deliver(struct nic *nic, const struct weft_packet *packet, const uint8_t *frame,
	weft_time arrived, weft_time now)
{
	struct flow_rx *rx = &nic->rx[packet->source];
	const struct frame_header *header = frame_header_const(frame);
	struct nic_delivery delivery = {
		.source = packet->source,
		.sl = packet->sl,
		.flags = packet->flags,
		.new_flow = !rx->begun,
		.first = !rx->mid_message,
		.tail = (packet->flags & FRAME_F_TAIL) != 0,
		.message = packet->message,
		.sequence = packet->sequence - rx->first,
		.offset = rx->offset,
		.payload = frame + frame_payload_offset(header),
		.bytes = ntohs(header->payload_bytes_be),
		.injected_ns = packet->injected_ns,
		.arrived = arrived,
		.arrived_due = packet->arrived_ps,
		.now = now,
		.due_ps = packet->arrived_ps > nic->due_ps ? packet->arrived_ps : nic->due_ps,
	};

	rx->begun = true;
	rx->mid_message = !delivery.tail;
	rx->offset = delivery.tail ? 0 : rx->offset + delivery.bytes;
	rx->expected++;
	rx->unacked++;
	if (rx->due_ps < nic->due_ps)
		rx->due_ps = nic->due_ps;
	nic->count[NIC_FRAMES_DELIVERED]++;
	nic->count[NIC_BYTES_DELIVERED] += delivery.bytes;
	nic->count[NIC_MESSAGES_DELIVERED] += delivery.tail;
	if (nic->config.above.deliver != NULL)
		nic->config.above.deliver(nic->config.above.ctx, &delivery);
}

static void deliver_held(struct nic *nic, uint16_t peer, weft_time now)
{
	struct flow_rx *rx = &nic->rx[peer];

	while (rx->window != RESEQUENCER_NONE) {
		struct held_frame held =
			resequencer_take(&nic->resequencer, rx->window, rx->expected);

		if (held.packet == NULL)
			return;
		deliver(nic, held.packet, held.frame, held.since, now);
		nic_release_packet(nic, held.packet);
		if (nic->resequencer.held[rx->window] == 0) {
			resequencer_close(&nic->resequencer, rx->window);
			rx->window = RESEQUENCER_NONE;
		}
	}
}

static void receive_expected(
	struct nic *nic, struct weft_packet *packet, const uint8_t *frame, weft_time now)
{
	uint16_t peer = packet->source;
	struct flow_rx *rx = &nic->rx[peer];

	if (rx->window != RESEQUENCER_NONE && !has_asked(rx))
		adapt_gap_time(nic, now - nic->gap.node[peer].since);
	rx->ask = false; /* cancels a request that has not been sent */
	deliver(nic, packet, frame, now, now);
	nic_release_packet(nic, packet);
	deliver_held(nic, peer, now);
	/* The remaining held frames wait behind another gap, whose timer starts now. */
	if (nic->rx[peer].window != RESEQUENCER_NONE)
		deadline_queue_arm(&nic->gap, peer, now);
	else
		deadline_queue_cancel(&nic->gap, peer);
	ack_soon(nic, peer, now);
}

/* Handles a duplicate. If it was requested, it was overtaken rather than lost, and for longer than
 * assumed. */
static void receive_duplicate(struct nic *nic, struct weft_packet *packet)
{
	struct flow_rx *rx = &nic->rx[packet->source];

	if (rx->asked && packet->sequence - rx->asked_at < rx->missing) {
		rx->asked = false; /* adapt once per request */
		adapt_gap_time(nic, nic->gap.delay_ps);
	}
	ack_now(nic, packet->source); /* the acknowledgement may have been lost */
	discard(nic, packet, NIC_DISCARD_DUPLICATE);
}

/* Discards a frame that cannot be held. A request asks for all frames unless one is held. */
static void discard_early(struct nic *nic, struct weft_packet *packet, enum nic_counter reason)
{
	nic->rx[packet->source].missing = 0;
	discard(nic, packet, reason);
}

static void receive_early(
	struct nic *nic, struct weft_packet *packet, const uint8_t *frame, weft_time now)
{
	uint16_t peer = packet->source;
	struct flow_rx *rx = &nic->rx[peer];

	if (rx->window == RESEQUENCER_NONE && nic->resequencer.total < nic->config.reorder_frames)
		rx->window = resequencer_open(&nic->resequencer);
	if (rx->window == RESEQUENCER_NONE || nic->resequencer.total >= nic->config.reorder_frames)
		discard(nic, packet, NIC_DISCARD_NO_WINDOW);
	else if (resequencer_hold(
			 &nic->resequencer, rx->window, packet->sequence, packet, frame, now))
		nic->count[NIC_FRAMES_REORDERED]++;
	else
		discard(nic, packet, NIC_DISCARD_DUPLICATE);
}

static void clear_window(struct nic *nic, uint16_t peer, enum nic_counter reason)
{
	struct flow_rx *rx = &nic->rx[peer];

	if (rx->window == RESEQUENCER_NONE)
		return;
	for (uint32_t i = 0; i <= nic->resequencer.mask; i++) {
		struct held_frame held = resequencer_take(&nic->resequencer, rx->window, i);

		if (held.packet != NULL)
			discard(nic, held.packet, reason);
	}
	resequencer_close(&nic->resequencer, rx->window);
	rx->window = RESEQUENCER_NONE;
	deadline_queue_cancel(&nic->gap, peer);
}

static void adopt_flow(struct nic *nic, uint16_t peer, uint16_t flow, uint32_t first)
{
	struct flow_rx *rx = &nic->rx[peer];

	if (nic->clocks != NULL)
		peer_clocks_begin(nic->clocks, peer, flow_handshake_offers(nic, peer, flow));
	clear_window(nic, peer, NIC_DISCARD_FLOW_END);
	deadline_queue_cancel(&nic->gap, peer);
	rx->known = true;
	rx->flow = flow;
	rx->taken_up++;
	rx->expected = rx->first = first;
	rx->offset = 0;
	rx->begun = rx->mid_message = rx->ask = rx->asked = false;
}

/* Returns true if name and sequence number belong to the current flow. A sequence number that is
 * too far off belongs to a different flow with the same name. */
static bool is_in_use(const struct flow_rx *rx, uint16_t flow, uint32_t sequence)
{
	return rx->known && rx->flow == flow && sequence - rx->expected + FAR < 2 * FAR;
}

static bool is_ours(const struct flow_rx *rx, const struct weft_packet *packet)
{
	return is_in_use(rx, MESSAGE_FLOW(packet->message), packet->sequence);
}

static bool is_genuine(
	const struct nic *nic, const struct weft_packet *packet, const uint8_t *frame)
{
	return nic->config.data_key == NULL ||
	       data_tag_matches(
		       nic->config.data_key, nic->config.link.session, frame, packet->bytes);
}

/* Checks a frame that does not belong to the current flow. The first frame of an offered flow
 * starts that flow, which replaces the current one. Any other frame is answered with an offer,
 * which the current flow's true sender ignores; its tag may be for an earlier session of this host.
 * Returns NIC_COUNTER_COUNT, or the reason for discarding the frame. */
static enum nic_counter check_new_flow(
	struct nic *nic, const struct weft_packet *packet, const uint8_t *frame)
{
	uint16_t flow = MESSAGE_FLOW(packet->message), messages;
	struct flow_start start;

	if (!flow_handshake_is_on_offer(nic, packet->source, flow, packet->sequence, &start)) {
		flow_handshake_answer(nic, packet->source, flow, packet->sequence);
		return NIC_DISCARD_OLD_FLOW;
	}
	/* Each message before this frame has at least one frame. */
	messages = (uint16_t)(packet->message - start.number);
	if (messages > packet->sequence - start.first)
		return NIC_DISCARD_OLD_FLOW;
	if (!is_genuine(nic, packet, frame))
		return NIC_DISCARD_DATA_TAG;
	adopt_flow(nic, packet->source, flow, start.first);
	return NIC_COUNTER_COUNT;
}

void flow_rx_on_ask(struct nic *nic, uint16_t peer, const struct control_flow *ask)
{
	struct flow_start start;

	if (is_in_use(&nic->rx[peer], ask->flow, ask->sequence) ||
		flow_handshake_is_on_offer(nic, peer, ask->flow, ask->sequence, &start))
		nic->count[NIC_ASKS_FOREIGN]++;
	else
		flow_handshake_answer(nic, peer, ask->flow, ask->sequence);
}

/* Handles a corrupt payload with a correct header, or the end of a message that an in-transit host
 * re-injected too early. Requests the frame immediately, but only once per loss; the gap timer
 * sends further requests. */
static void receive_defective(
	struct nic *nic, struct weft_packet *packet, enum nic_counter reason, weft_time now)
{
	uint16_t peer = packet->source;
	struct flow_rx *rx = &nic->rx[peer];
	bool asked = has_asked(rx);
	uint32_t ahead = packet->sequence - rx->expected;

	if (is_ours(rx, packet) && !sequence_before(packet->sequence, rx->expected) && !asked) {
		rx->missing = ahead < UINT8_MAX ? (uint8_t)(ahead + 1) : UINT8_MAX;
		ask_again(nic, peer, now);
	}
	discard(nic, packet, reason);
}

/* Returns NIC_COUNTER_COUNT if the frame belongs to the current flow or starts it, otherwise the
 * reason for discarding it. */
static enum nic_counter check_flow(
	struct nic *nic, const struct weft_packet *packet, const uint8_t *frame)
{
	if (!is_ours(&nic->rx[packet->source], packet))
		return check_new_flow(nic, packet, frame);
	return is_genuine(nic, packet, frame) ? NIC_COUNTER_COUNT : NIC_DISCARD_DATA_TAG;
}

void flow_rx_data(struct nic *nic, struct weft_packet *packet, const uint8_t *frame,
	enum nic_counter defect, weft_time now)
{
	const struct flow_rx *rx = &nic->rx[packet->source];
	enum nic_counter reason;
	uint32_t ahead;

	if (defect != NIC_COUNTER_COUNT) {
		receive_defective(nic, packet, defect, now);
		return;
	}
	reason = check_flow(nic, packet, frame);
	if (reason != NIC_COUNTER_COUNT) {
		discard(nic, packet, reason);
		return;
	}
	if (nic->control != NULL)
		nic_control_answer(nic, packet, frame);
	ahead = packet->sequence - rx->expected;
	if (ahead == 0) {
		receive_expected(nic, packet, frame, now);
	} else if ((int32_t)ahead < 0) {
		receive_duplicate(nic, packet);
	} else {
		notice_gap(nic, packet->source, now);
		if (ahead < nic->config.window_frames)
			receive_early(nic, packet, frame, now);
		else
			discard_early(nic, packet, NIC_DISCARD_BEYOND_WINDOW);
	}
}

static void expire_gap(struct nic *nic, uint16_t peer, weft_time now)
{
	struct flow_rx *rx = &nic->rx[peer];

	if (has_asked(rx) && --rx->gap_wait > 0)
		deadline_queue_arm(&nic->gap, peer, now);
	else
		ask_again(nic, peer, now);
}

void flow_rx_poll(struct nic *nic, weft_time now)
{
	uint16_t peer;

	while ((peer = deadline_queue_expired(&nic->ack_delay, now)) != DEADLINE_NONE)
		ack_now(nic, peer);
	while ((peer = deadline_queue_expired(&nic->gap, now)) != DEADLINE_NONE)
		expire_gap(nic, peer, now);
}

struct control_ack flow_rx_take_ack(struct nic *nic, uint16_t peer)
{
	struct flow_rx *rx = &nic->rx[peer];
	struct control_ack ack = {.expected = rx->expected,
		.again = rx->ask ? rx->again : 0,
		.missing = rx->ask ? rx->missing : 0,
		.flow = rx->flow,
		.session = nic->config.link.session};

	rx->ask = false;
	rx->unacked = 0;
	deadline_queue_cancel(&nic->ack_delay, peer);
	return ack;
}

void flow_rx_acknowledge_again(struct nic *nic, uint16_t peer)
{
	if (nic->rx[peer].begun)
		ack_now(nic, peer);
}

void flow_rx_resume(struct nic *nic, weft_time now)
{
	for (unsigned peer = 0; peer < nic->config.hosts; peer++)
		if (deadline_queue_armed(&nic->gap, (uint16_t)peer))
			deadline_queue_arm(&nic->gap, (uint16_t)peer, now);
}

void flow_rx_drain(struct nic *nic)
{
	for (unsigned peer = 0; peer < nic->config.hosts; peer++)
		clear_window(nic, (uint16_t)peer, NIC_DISCARD_DRAINED);
}
