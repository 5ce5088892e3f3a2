/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arbiter.h"
#include "switch_congestion.h"
#include "switch_shard.h"

static uint64_t sum_counters(const struct weft_switch *sw, unsigned first, unsigned last)
{
	uint64_t sum = 0;

	for (unsigned port = 0; port < sw->ports; port++)
		for (unsigned i = first; i <= last; i++)
			sum += sw->port[port].count[i];
	return sum;
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
	uint64_t in = sum_counters(sw, SWITCH_DATA_IN, SWITCH_DATA_IN);
	uint64_t out = sum_counters(sw, SWITCH_DATA_OUT, SWITCH_DATA_OUT) +
		       sum_counters(sw, SWITCH_DISCARD_ROUTING_ERROR, SWITCH_DISCARD_PURGED);

	return in == out + switch_stored_packets(sw)
		       ? NULL
		       : "packets in differ from out + stored + discarded";
}

static uint64_t waiting_control(const struct switch_output *out)
{
	uint64_t waiting = 0;

	for (const struct weft_packet *packet = out->control_head; packet != NULL;
		packet = packet->next)
		waiting++;
	return waiting;
}

static const char *check_control(const struct weft_switch *sw)
{
	uint64_t in = sum_counters(sw, SWITCH_CONTROL_IN, SWITCH_CONTROL_IN);
	uint64_t out = sum_counters(sw, SWITCH_CONTROL_OUT, SWITCH_CONTROL_AGENT) +
		       sum_counters(sw, SWITCH_CONTROL_DISCARD_ROUTE, SWITCH_CONTROL_DISCARD_DOWN);

	for (unsigned output = 0; output < sw->ports; output++) {
		const struct switch_output *at = &sw->port[output].output;

		if (waiting_control(at) != at->control_waiting)
			return "control frames that wait differ from their count";
		if (at->control_waiting > sw->control_reserve)
			return "the control reserve is exceeded";
		out += at->control_waiting;
	}
	return in == out || sw->shard != NULL
		       ? NULL
		       : "control frames in differ from out + waiting + discarded";
}

/* Checks that each VC in a crosspoint's sets has a head that leaves through this output. */
static const char *check_crosspoint(const struct weft_switch *sw, unsigned output, unsigned input)
{
	unsigned ready = switch_ready_vcs(sw, output, input);
	unsigned stalled = switch_stalled_vcs(sw, output, input);
	const struct voq *queue = switch_queues(sw, output, input);

	if ((ready & stalled) != 0)
		return "a VC is both ready and stalled";
	for (unsigned vcs = ready | stalled; vcs != 0; vcs &= vcs - 1) {
		unsigned vc = (unsigned)__builtin_ctz(vcs);

		if (vc >= sw->vcs || queue[vc].head == NULL)
			return "a VC in a crosspoint's sets has no head";
		if (queue[vc].head->out_port != output)
			return "a VC is in the sets of an output that its head does not use";
	}
	return NULL;
}

/* Outputs whose queues are here. */
static port_set own_outputs(const struct weft_switch *sw)
{
	return sw->shard == NULL ? ~PORT_SET_NONE : sw->shard->own;
}

/* Checks the sets of an output against its crosspoints, and 'busy' and 'idle' against the sets. */
static const char *check_output(const struct weft_switch *sw, unsigned output)
{
	const struct switch_output *out = &sw->port[output].output;
	port_set ready = PORT_SET_NONE, stalled = PORT_SET_NONE;
	const char *wrong = NULL;
	bool busy, idle;

	for (unsigned input = 0; input < sw->ports && wrong == NULL; input++) {
		wrong = check_crosspoint(sw, output, input);
		ready |= switch_ready_vcs(sw, output, input) != 0 ? port_set_of(input)
								  : PORT_SET_NONE;
		stalled |= switch_stalled_vcs(sw, output, input) != 0 ? port_set_of(input)
								      : PORT_SET_NONE;
	}
	if (wrong != NULL)
		return wrong;
	if (!port_set_equal(ready, out->ready) || !port_set_equal(stalled, out->stalled))
		return "an output's sets differ from its crosspoints'";
	busy = !port_set_is_empty(ready) || out->control_head != NULL;
	idle = !busy && port_set_is_empty(stalled) &&
	       port_set_has(sw->usable & own_outputs(sw), output);
	if (busy && !port_set_has(sw->busy, output))
		return "an output with something to send is not busy";
	if (idle != port_set_has(sw->idle, output))
		return "idle differs from what waits for the output";
	return NULL;
}

/* Walks one queue: checks its totals, and the sets that must contain its head. */
static const char *check_queue(const struct weft_switch *sw, unsigned input, unsigned vc,
	const struct voq *queue, uint32_t *blocks)
{
	uint32_t sum = 0;

	for (const struct weft_packet *packet = queue->head; packet != NULL;
		packet = packet->next) {
		if (packet->next == NULL && packet != queue->tail)
			return "a queue's tail is not its last packet";
		sum += packet->blocks;
		if (packet->in_port != input || packet->vc != vc)
			return "a packet is stored in another input's or VC's queue";
	}
	if (sum != queue->blocks)
		return "a queue's sum of blocks differs from what is in it";
	if (queue->head != NULL) {
		unsigned output = queue->head->out_port;
		bool ready = (switch_ready_vcs(sw, output, input) >> vc & 1) != 0;
		bool stalled = (switch_stalled_vcs(sw, output, input) >> vc & 1) != 0;

		if (ready == stalled)
			return "a head is not in exactly one of ready and stalled";
	}
	*blocks += sum;
	return NULL;
}

static const char *check_buffer(const struct weft_switch *sw, unsigned input, unsigned vc)
{
	const struct credit_rx *rx = &sw->port[input].link.rx[vc];
	unsigned outputs = sw->voq ? sw->ports : 1;
	const char *wrong = NULL;
	uint32_t blocks = sw->shard == NULL ? 0 : switch_shard_elsewhere(sw->shard, input, vc);

	for (unsigned output = 0; output < outputs && wrong == NULL; output++)
		wrong = check_queue(sw, input, vc, &switch_queues(sw, output, input)[vc], &blocks);
	if (wrong != NULL)
		return wrong;
	if (credit_stored(rx) != blocks)
		return "a buffer holds other blocks than its credits say";
	if (credit_stored(rx) > rx->capacity)
		return "a buffer is over its capacity";
	return NULL;
}

const char *switch_check(const struct weft_switch *sw)
{
	const char *wrong = sw->shard == NULL ? check_accounting(sw) : NULL;

	if (wrong == NULL)
		wrong = check_control(sw);
	for (unsigned output = 0; output < sw->ports && wrong == NULL; output++)
		wrong = check_output(sw, output);
	for (unsigned input = 0; input < sw->ports; input++)
		for (unsigned vc = 0; vc < sw->vcs && wrong == NULL; vc++)
			wrong = check_buffer(sw, input, vc);
	return wrong == NULL ? switch_congestion_check(sw) : wrong;
}
