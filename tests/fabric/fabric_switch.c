/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The drivers of a switch in a test fabric. */

#include "fabric_wire.h"
#include "forward.h"

#define BURST 8

/* Fills the fields that a driver reads from the frame. */
static void fill_descriptor(struct weft_packet *packet)
{
	packet->vc = packet->header_vc;
	packet->hop = packet->cursor < packet->route_length ? packet->route[packet->cursor] : 0;
	packet->stalled = 0;
}

static void receive_direct(struct fabric *fabric, struct fabric_switch *at, unsigned input,
	struct weft_packet *packet, uint64_t outputs)
{
	struct switch_port *port = &at->sw->port[input];
	struct arrival arrival = {
		.blocks = packet->blocks,
		.mutable_word = packet->mutable_word,
		.destination = packet->destination,
		.vc = packet->vc,
		.sl = packet->sl,
		.route_length = packet->route_length,
		.hop = packet->hop,
	};
	unsigned output = at->sw->voq
				  ? forward_direct(at->sw, port, input, &arrival, outputs, true)
				  : forward_direct(at->sw, port, input, &arrival, outputs, false);

	if (output == SWITCH_PORT_NONE) {
		switch_receive(at->sw, input, &packet, 1, fabric->now);
		return;
	}
	port->count[SWITCH_DATA_IN]++;
	port->count[SWITCH_BYTES_IN] += packet->bytes;
	forward_direct_sent(at->sw, input, packet->vc, output, 1, packet->bytes);
	packet->mutable_word = arrival.mutable_word;
	fabric_wire_send(fabric, at->end[output]->out, packet);
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

static void receive(struct fabric *fabric, struct fabric_switch *at, unsigned input)
{
	struct fabric_wire *wire = at->end[input]->in;
	struct weft_packet *burst[BURST];
	struct fabric_item *item;
	unsigned count = 0;

	while ((item = fabric_wire_next(fabric, wire)) != NULL) {
		wire->head++;
		/* A credit frame speaks of exactly the data before it. */
		if (count == BURST || (item->packet == NULL && count > 0)) {
			switch_receive(at->sw, input, burst, count, fabric->now);
			count = 0;
		}
		if (item->packet == NULL) {
			receive_control(fabric, at, input);
			continue;
		}
		fill_descriptor(item->packet);
		if (fabric->config.driver == FABRIC_DIRECT)
			receive_direct(fabric, at, input, item->packet, open_outputs(at));
		else
			burst[count++] = item->packet;
	}
	if (count > 0)
		switch_receive(at->sw, input, burst, count, fabric->now);
}

static void keep_release(
	struct fabric *fabric, struct fabric_switch *at, const struct weft_packet *packet)
{
	if (at->release_tail - at->release_head > at->release_mask)
		fabric_fail(fabric, "more packets leave than a switch holds");
	at->release[at->release_tail++ & at->release_mask] =
		(struct fabric_release){.due_ps = fabric->now + FABRIC_STEP_PS, .what = *packet};
}

static void do_releases(const struct fabric *fabric, struct fabric_switch *at)
{
	while (at->release_head != at->release_tail) {
		struct fabric_release *release = &at->release[at->release_head & at->release_mask];

		if (release->due_ps > fabric->now)
			return;
		switch_release(at->sw, &release->what);
		at->release_head++;
	}
}

static void transmit(struct fabric *fabric, struct fabric_switch *at, unsigned output)
{
	struct fabric_wire *wire = at->end[output]->out;
	bool delayed = fabric->config.driver == FABRIC_DELAYED;
	struct weft_packet *burst[BURST];

	while (wire->budget_blocks > 0) {
		unsigned count =
			delayed ? switch_transmit(at->sw, output, burst, BURST, fabric->now)
				: switch_transmit_released(
					  at->sw, output, burst, BURST, fabric->now);

		if (count == 0)
			return;
		for (unsigned i = 0; i < count; i++) {
			if (delayed)
				keep_release(fabric, at, burst[i]);
			fabric_wire_send(fabric, wire, burst[i]);
		}
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

	do_releases(fabric, at);
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
