/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The drivers of a switch in a test fabric. */

#include "fabric_wire.h"
#include "switch/forward.h"

#define BURST 8

/* Fills the fields that a driver reads from the frame. */
static void fill_descriptor(struct weft_packet *packet)
{
	packet->vc = packet->header_vc;
	packet->hop = packet->cursor < packet->route_length ? packet->route[packet->cursor] : 0;
	packet->stalled = 0;
}

static void send_passed(struct fabric *fabric, struct fabric_switch *at, struct weft_packet *packet,
	unsigned output)
{
	switch_count_passed(at->sw, packet->in_port, packet->vc, output, 1, packet->bytes);
	fabric_wire_send(fabric, at->end[output]->out, packet);
}

/* Like the poll driver: first without a descriptor. */
static void receive_direct(struct fabric *fabric, struct fabric_switch *at,
	struct switch_port *port, struct weft_packet *packet, uint64_t outputs)
{
	struct weft_packet read = *packet;
	unsigned output = at->sw->voq ? switch_receive_direct(at->sw, port, &read, outputs, true)
				      : switch_receive_direct(at->sw, port, &read, outputs, false);

	if (output == SWITCH_PORT_NONE) {
		switch_receive(at->sw, packet, fabric->now);
		return;
	}
	packet->mutable_word = read.mutable_word;
	send_passed(fabric, at, packet, output);
}

/* As the virtual driver. */
static void receive_single(struct fabric *fabric, struct fabric_switch *at,
	struct switch_port *port, struct weft_packet *packet, uint64_t outputs)
{
	unsigned output = switch_admit(at->sw, port, packet, fabric->now);

	if (output == SWITCH_PORT_NONE)
		return;
	if (at->sw->voq && (outputs >> output & 1) != 0 &&
		switch_pass(at->sw, port, packet, output, true))
		send_passed(fabric, at, packet, output);
	else
		switch_store(at->sw, packet, output, fabric->now);
}

static uint64_t open_outputs(const struct fabric_switch *at)
{
	uint64_t outputs = 0;

	for (unsigned port = 0; port < at->sw->ports; port++)
		if (at->end[port] != NULL && at->end[port]->out->budget_blocks > 0)
			outputs |= BIT64(port);
	return outputs;
}

static void receive_control(struct fabric *fabric, struct fabric_switch *at, unsigned input)
{
	struct fabric_control_frame frame;

	fabric_take_control(at->end[input]->in, &frame);
	if (frame.kind == FRAME_CREDIT)
		switch_on_credit(at->sw, input, &frame.credit, fabric->now);
	else
		switch_on_hello(at->sw, input, &frame.hello, fabric->now);
}

static void receive_packet(struct fabric *fabric, struct fabric_switch *at, unsigned input,
	struct weft_packet *packet, uint64_t outputs)
{
	struct switch_port *port = &at->sw->port[input];

	fill_descriptor(packet);
	packet->in_port = (uint8_t)input;
	switch_count_in(port, 1, packet->bytes);
	if (fabric->config.driver == FABRIC_DIRECT)
		receive_direct(fabric, at, port, packet, outputs);
	else if (fabric->config.driver == FABRIC_SINGLE)
		receive_single(fabric, at, port, packet, outputs);
	else
		switch_receive(at->sw, packet, fabric->now);
}

static void receive(struct fabric *fabric, struct fabric_switch *at, unsigned input)
{
	struct fabric_wire *wire = at->end[input]->in;
	struct fabric_item *item;

	while ((item = fabric_wire_next(fabric, wire)) != NULL) {
		wire->head++;
		if (item->packet == NULL)
			receive_control(fabric, at, input);
		else
			receive_packet(fabric, at, input, item->packet, open_outputs(at));
	}
}

static unsigned take(struct fabric *fabric, struct fabric_switch *at, unsigned output,
	struct weft_packet **burst)
{
	if (fabric->config.driver != FABRIC_SINGLE)
		return switch_transmit(at->sw, output, burst, BURST, fabric->now);
	burst[0] = at->sw->voq ? switch_transmit_one(at->sw, output, fabric->now, true)
			       : switch_transmit_one(at->sw, output, fabric->now, false);
	return burst[0] != NULL;
}

static void transmit(struct fabric *fabric, struct fabric_switch *at, unsigned output)
{
	struct fabric_wire *wire = at->end[output]->out;
	struct weft_packet *burst[BURST];

	while (wire->budget_blocks > 0) {
		unsigned count = take(fabric, at, output, burst);

		if (count == 0)
			return;
		for (unsigned i = 0; i < count; i++)
			fabric_wire_send(fabric, wire, burst[i]);
	}
}

static void free_discards(struct fabric *fabric, struct fabric_switch *at)
{
	struct weft_packet *packet = switch_take_discards(at->sw), *next;

	for (; packet != NULL; packet = next) {
		next = packet->next;
		fabric->discarded++;
		fabric_packet_put(fabric, packet);
	}
}

void fabric_switch_turn(struct fabric *fabric, struct fabric_switch *at)
{
	unsigned ports = at->sw->ports;

	for (unsigned port = 0; port < ports; port++)
		if (at->end[port] != NULL)
			fabric_wire_refill(at->end[port]->out, fabric->config.link_blocks);
	for (unsigned port = 0; port < ports; port++)
		if (at->end[port] != NULL)
			receive(fabric, at, port);
	for (uint64_t busy = at->sw->busy; busy != 0; busy &= busy - 1)
		transmit(fabric, at, (unsigned)__builtin_ctzll(busy));
	for (unsigned port = 0; port < ports; port++)
		if (at->end[port] != NULL)
			fabric_send_control(
				fabric, at->end[port], switch_poll_link(at->sw, port, fabric->now));
	switch_poll_watchdog(at->sw, fabric->now);
	free_discards(fabric, at);
}
