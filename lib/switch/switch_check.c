/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arbiter.h"
#include "switch.h"

static bool is_data_discard(unsigned counter)
{
	return counter >= SWITCH_DISCARD_ROUTING_ERROR && counter <= SWITCH_DISCARD_WATCHDOG;
}

uint64_t switch_stored_packets(const struct weft_switch *sw)
{
	unsigned queues = (unsigned)sw->ports * sw->vcs * (sw->voq ? sw->ports : 1);
	uint64_t stored = 0;

	for (unsigned i = 0; i < queues; i++)
		for (const struct weft_packet *packet = sw->queue[i].head; packet != NULL;
			packet = packet->next)
			stored++;
	return stored;
}

static const char *check_accounting(const struct weft_switch *sw)
{
	uint64_t in = 0, out = 0;

	for (unsigned port = 0; port < sw->ports; port++) {
		in += sw->port[port].count[SWITCH_DATA_IN];
		out += sw->port[port].count[SWITCH_DATA_OUT];
		for (unsigned i = 0; i < SWITCH_COUNTER_COUNT; i++)
			if (is_data_discard(i))
				out += sw->port[port].count[i];
	}
	return in == out + switch_stored_packets(sw)
		       ? NULL
		       : "packets in differ from out + stored + discarded";
}

/* Walks one queue: its own sums, and the sets that its head has to be in. */
static const char *check_queue(const struct weft_switch *sw, unsigned input, unsigned vc,
	const struct voq *queue, uint32_t *blocks)
{
	uint32_t sum = 0;

	for (const struct weft_packet *packet = queue->head; packet != NULL;
		packet = packet->next) {
		sum += packet->blocks;
		if (packet->in_port != input || packet->vc != vc)
			return "a packet is stored in another input's or VC's queue";
	}
	if (sum != queue->blocks)
		return "a queue's sum of blocks differs from what is in it";
	if (queue->head != NULL) {
		unsigned output = queue->head->out_port;
		const struct crosspoint *cross = switch_cross(sw, output, input);
		const struct switch_output *out = &sw->port[output].output;
		bool ready = (cross->ready >> vc & 1) != 0,
		     stalled = (cross->stalled >> vc & 1) != 0;

		if (ready == stalled)
			return "a head is not in exactly one of ready and stalled";
		if (ready && ((out->ready & BIT64(input)) == 0 || (sw->busy & BIT64(output)) == 0))
			return "a ready head is missing in its output's sets";
		if (stalled && (out->stalled & BIT64(input)) == 0)
			return "a stalled head is missing in its output's sets";
	}
	*blocks += sum;
	return NULL;
}

static const char *check_buffer(const struct weft_switch *sw, unsigned input, unsigned vc)
{
	const struct credit_rx *rx = &sw->port[input].link.rx[vc];
	unsigned outputs = sw->voq ? sw->ports : 1;
	const char *wrong = NULL;
	uint32_t blocks = 0;

	for (unsigned output = 0; output < outputs && wrong == NULL; output++)
		wrong = check_queue(
			sw, input, vc, &switch_cross(sw, output, input)->queue[vc], &blocks);
	if (wrong != NULL)
		return wrong;
	/* Blocks of packets that were transmitted and not yet released count as stored. */
	if (credit_stored(rx) < blocks)
		return "a buffer holds more blocks than its credits know of";
	if (credit_stored(rx) > rx->capacity)
		return "a buffer is over its capacity";
	return NULL;
}

const char *switch_check(const struct weft_switch *sw)
{
	const char *wrong = check_accounting(sw);

	for (unsigned input = 0; input < sw->ports; input++)
		for (unsigned vc = 0; vc < sw->vcs && wrong == NULL; vc++)
			wrong = check_buffer(sw, input, vc);
	return wrong;
}
