/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Handles arrivals: determines their receiver and checks whether they are valid here. */

#include <arpa/inet.h>
#include <string.h>

#include "flow.h"
#include "nic_control.h"
#include "nic_private.h"

void nic_describe(
	struct weft_packet *packet, const uint8_t *frame, uint32_t bytes, weft_time due_ps)
{
	const struct frame_header *header = frame_header_const(frame);

	*packet = (struct weft_packet){
		.arrived_ps = due_ps,
		.bytes = (uint16_t)bytes,
		.blocks = (uint16_t)frame_blocks(bytes),
		.vc = header->vc,
		.route_length = header->route_length,
		.sl = header->sl,
		.control = header->kind != FRAME_DATA,
		.destination = ntohs(header->destination_be),
		.source = ntohs(header->source_be),
		.kind = header->kind,
		.route = frame + FRAME_HEADER_BYTES,
		.message = ntohl(header->message_be),
		.sequence = ntohl(header->sequence_be),
		.injected_ns = ntohl(header->injected_ns_be),
	};
	memcpy(&packet->mutable_word, &header->vc, sizeof(packet->mutable_word));
	if (header->cursor < header->route_length)
		packet->hop = frame[FRAME_HEADER_BYTES + header->cursor];
}

static void receive_ack(struct nic *nic, const struct weft_packet *packet, const uint8_t *payload,
	unsigned bytes, weft_time now)
{
	struct control_ack ack;

	if (control_ack_decode(&ack, payload, bytes))
		flow_tx_on_ack(nic, packet->source, &ack, now);
	else
		nic->count[NIC_CONTROL_BAD]++;
}

static void receive_flow(struct nic *nic, const struct weft_packet *packet, const uint8_t *payload,
	unsigned bytes, weft_time now)
{
	struct control_flow flow;

	if (!control_flow_decode(&flow, payload, bytes))
		nic->count[NIC_CONTROL_BAD]++;
	else if (flow.step == CONTROL_FLOW_ASK)
		flow_rx_on_ask(nic, packet->source, &flow);
	else
		flow_tx_on_offer(nic, packet->source, &flow, now);
}

static void receive_clock(struct nic *nic, const struct weft_packet *packet, const uint8_t *payload,
	unsigned bytes, weft_time now)
{
	struct control_clock clock;

	if (!control_clock_decode(&clock, payload, bytes)) {
		nic->count[NIC_CONTROL_BAD]++;
		return;
	}
	switch (peer_clocks_receive(nic->clocks, packet->source, &clock, now)) {
	case PEER_CLOCKS_DUE:
		flow_due(nic, packet->source, FLOW_DUE_CLOCK_ANSWER);
		break;
	case PEER_CLOCKS_STEPPED:
		nic->count[NIC_CLOCK_STEPS]++;
		break;
	case PEER_CLOCKS_TAKEN:
		nic->count[NIC_CLOCK_ANSWERS_TAKEN]++;
		break;
	case PEER_CLOCKS_REFUSED:
		nic->count[NIC_CLOCKS_REFUSED]++;
	}
}

static void receive_arn(struct nic *nic, const uint8_t *payload, unsigned bytes, weft_time now)
{
	struct control_arn arn;

	if (!control_arn_decode(&arn, payload, bytes))
		nic->count[NIC_CONTROL_BAD]++;
	else if (!arn_policer_admits(
			 &nic->arn_policer, &nic->config.arn_policer, &nic->link, &arn, now))
		nic->count[NIC_ARNS_REFUSED]++;
	else
		nic->count[nic_afi_on_arn(nic, &arn, now) ? NIC_ARNS_RECEIVED : NIC_CONTROL_BAD]++;
}

static void receive_link_local(struct nic *nic, const struct weft_packet *packet,
	const uint8_t *payload, unsigned bytes, weft_time now)
{
	bool up = nic->link.state == LINK_UP;
	struct control_credit credit;
	struct control_hello hello;

	if (packet->kind == FRAME_CREDIT && control_credit_decode(&credit, payload, bytes) &&
		credit.vcs == nic->link.config.vcs) {
		nic->count[NIC_CREDITS_RECEIVED]++;
		link_end_on_credit(&nic->link, &credit, now);
	} else if (packet->kind == FRAME_HELLO && control_hello_decode(&hello, payload, bytes)) {
		nic->count[NIC_HELLOS_RECEIVED]++;
		link_end_on_hello(&nic->link, &hello, now);
	} else {
		nic->count[NIC_CONTROL_BAD]++;
	}
	if (!up && nic->link.state == LINK_UP)
		nic->up_ps = nic->due_ps;
}

/* Returns NIC_COUNTER_COUNT if an end-to-end frame is for this host, otherwise the reason for
 * discarding it. */
static enum nic_counter check(const struct nic *nic, const struct weft_packet *packet)
{
	/* The cursor must be at the interface's element, unless there is no route. After the last
	 * element, 'hop' is 0. */
	if (packet->route_length != 0 && packet->hop != ROUTE_TYPE_HOST)
		return NIC_DISCARD_ROUTING_ERROR;
	if (packet->destination != nic->config.host)
		return NIC_DISCARD_MISROUTED;
	if (packet->source >= nic->config.hosts || packet->source == nic->config.host)
		return NIC_DISCARD_SOURCE;
	return NIC_COUNTER_COUNT;
}

/* Absorbs a frame in transit for re-injection. Returns NIC_COUNTER_COUNT, or the reason for
 * discarding it. */
static enum nic_counter absorb(struct nic *nic, struct weft_packet *packet, weft_time now)
{
	if (nic->itb == NULL || !itb_is_route(packet))
		return NIC_DISCARD_ROUTING_ERROR;
	return itb_absorb(
		       nic->itb, packet, nic->config.sl_to_vc[packet->sl], packet->arrived_ps, now)
		       ? NIC_COUNTER_COUNT
		       : NIC_ITB_DISCARDED;
}

static bool is_in_transit(const struct weft_packet *packet)
{
	return packet->route_length != 0 && packet->hop == ROUTE_TYPE_ITB;
}

/* Returns true for a mapper frame that is not for an agent; interfaces do not forward these. */
static bool is_astray(const struct weft_packet *packet)
{
	return packet->kind == FRAME_SCOUT || packet->kind == FRAME_MAPPER;
}

static void absorb_control(struct nic *nic, struct weft_packet *packet, weft_time now)
{
	if (is_astray(packet))
		nic->count[NIC_AGENT_ASTRAY]++;
	else if (absorb(nic, packet, now) == NIC_COUNTER_COUNT)
		return;
	else
		nic->count[NIC_ITB_CONTROL_DISCARDED]++;
	nic_release_packet(nic, packet);
}

static void absorb_data(struct nic *nic, struct weft_packet *packet, weft_time now)
{
	enum nic_counter reason = absorb(nic, packet, now);

	if (reason != NIC_COUNTER_COUNT) {
		nic->count[reason]++;
		nic_release_packet(nic, packet);
		return;
	}
	nic->count[NIC_ITB_ABSORBED]++;
	nic->count[NIC_ITB_MESSAGES] = nic->itb->messages;
	nic->count[NIC_ITB_OVERTAKEN] = nic->itb->overtaken;
}

static void receive_control(
	struct nic *nic, struct weft_packet *packet, const uint8_t *frame, weft_time now)
{
	const struct frame_header *header = frame_header_const(frame);
	const uint8_t *payload = frame + frame_payload_offset(header);
	unsigned bytes = ntohs(header->payload_bytes_be);

	if (!frame_payload_ok(frame))
		nic->count[NIC_CONTROL_BAD]++;
	else if (packet->kind == FRAME_ARN && nic->marks != NULL)
		receive_arn(nic, payload, bytes, now);
	else if (packet->kind == FRAME_CREDIT || packet->kind == FRAME_HELLO)
		receive_link_local(nic, packet, payload, bytes, now);
	else if (packet->kind == FRAME_ACK && check(nic, packet) == NIC_COUNTER_COUNT)
		receive_ack(nic, packet, payload, bytes, now);
	else if (packet->kind == FRAME_CN && nic->control != NULL &&
		 check(nic, packet) == NIC_COUNTER_COUNT)
		nic_control_receive(nic, packet, payload, bytes, now);
	else if (packet->kind == FRAME_FLOW && check(nic, packet) == NIC_COUNTER_COUNT)
		receive_flow(nic, packet, payload, bytes, now);
	else if (packet->kind == FRAME_CLOCK && nic->clocks != NULL &&
		 check(nic, packet) == NIC_COUNTER_COUNT)
		receive_clock(nic, packet, payload, bytes, now);
	else
		nic->count[is_astray(packet) ? NIC_AGENT_ASTRAY : NIC_CONTROL_IGNORED]++;
	nic_release_packet(nic, packet);
}

/* Accounts for the blocks, which are free again immediately because the host accepts every arrival.
 * Even frames that wait for others are stored in the host's memory: if they occupied credits, the
 * awaited frames might never arrive. */
static enum nic_counter account_credits(struct nic *nic, const struct weft_packet *packet)
{
	struct credit_rx *rx = &nic->link.rx[packet->vc];
	bool granted;

	if (packet->vc >= nic->link.config.vcs)
		return NIC_DISCARD_VC;
	granted = credit_arrive(rx, packet->blocks);
	credit_release(rx, packet->blocks);
	return granted ? NIC_COUNTER_COUNT : NIC_DISCARD_CREDIT_VIOLATION;
}

/* Returns NIC_COUNTER_COUNT if the payload is valid, otherwise the reason to request it again. */
static enum nic_counter check_payload(const struct weft_packet *packet, const uint8_t *frame)
{
	if (!frame_payload_ok(frame))
		return NIC_DISCARD_PAYLOAD_CRC;
	return itb_was_overtaken(packet) ? NIC_DISCARD_END_MARK : NIC_COUNTER_COUNT;
}

static void receive_data(
	struct nic *nic, struct weft_packet *packet, const uint8_t *frame, weft_time now)
{
	enum nic_counter reason = account_credits(nic, packet);

	nic->count[NIC_FRAMES_RECEIVED]++;
	if (reason == NIC_COUNTER_COUNT && is_in_transit(packet)) {
		absorb_data(nic, packet, now);
		return;
	}
	if (reason == NIC_COUNTER_COUNT)
		reason = check(nic, packet);
	if (reason == NIC_COUNTER_COUNT) {
		flow_rx_data(nic, packet, frame, check_payload(packet, frame), now);
		return;
	}
	nic->count[reason]++;
	nic_release_packet(nic, packet);
}

struct weft_packet *nic_receive(
	struct nic *nic, struct weft_packet *packet, const uint8_t *frame, weft_time now)
{
	struct weft_packet *released;

	nic->due_ps = packet->arrived_ps;
	if (nic->heard_ps < nic->due_ps)
		nic->heard_ps = nic->due_ps;
	if (packet->kind == FRAME_DATA)
		receive_data(nic, packet, frame, now);
	else if (is_in_transit(packet))
		absorb_control(nic, packet, now);
	else
		receive_control(nic, packet, frame, now);
	released = nic->released;
	nic->released = NULL;
	return released;
}
