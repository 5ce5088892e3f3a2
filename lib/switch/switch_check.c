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
			return "the number of waiting control frames is wrong";
		if (at->control_waiting > sw->control_reserve)
			return "the control reserve is exceeded";
		out += at->control_waiting;
	}
	return in == out || sw->shard != NULL
		       ? NULL
		       : "control frames in differ from out + waiting + discarded";
}

/* Checks that each VC in a crosspoint's sets has a head for this output. */
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

/* Returns the outputs whose queues are in this switch or shard. */
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
		return "an output with frames to send is not busy";
	if (idle != port_set_has(sw->idle, output))
		return "'idle' contradicts the packets waiting for an output";
	return NULL;
}

/* Checks a queue's totals and the sets that must contain its head. */
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
		return "a queue's block count differs from its contents";
	if (queue->head != NULL) {
		unsigned output = queue->head->out_port;
		bool ready = (switch_ready_vcs(sw, output, input) >> vc & 1) != 0;
		bool stalled = (switch_stalled_vcs(sw, output, input) >> vc & 1) != 0;

		if (ready == stalled)
			return "a head is neither ready nor stalled, or both";
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
		return "a buffer's contents differ from its credits";
	if (credit_stored(rx) > rx->capacity)
		return "a buffer exceeds its capacity";
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

/* Counts the packets in a ring, data or control, published or not. */
static uint64_t count_ring(const struct shard_ring *ring, bool control)
{
	uint64_t count = 0;

	for (uint32_t i = ring->taken; i != ring->put; i++)
		count += ring->entry[i & ring->mask].vc != SHARD_OWN &&
			 ((ring->entry[i & ring->mask].vc & SHARD_CONTROL) != 0) == control;
	return count;
}

static uint64_t under_way(const struct switch_division *division, bool control)
{
	uint64_t count = 0;

	for (unsigned to = 0; to < division->shards; to++)
		for (unsigned from = 0; from < division->shards; from++)
			count += count_ring(&division->shard[to]->in[from], control);
	return count;
}

static uint32_t ring_blocks(const struct shard_ring *ring, unsigned input, unsigned vc)
{
	uint32_t blocks = 0;

	for (uint32_t i = ring->taken; i != ring->put; i++) {
		const struct shard_entry *entry = &ring->entry[i & ring->mask];

		if (entry->input == input && entry->vc == vc)
			blocks += entry->blocks;
	}
	return blocks;
}

uint32_t switch_shard_elsewhere(const struct switch_shard *shard, unsigned input, unsigned vc)
{
	const struct switch_division *division = shard->division;
	uint32_t blocks = 0;

	if (!port_set_has(shard->own, input))
		return 0;
	for (unsigned to = 0; to < division->shards; to++) {
		const struct switch_shard *there = division->shard[to];
		const struct credit_rx *shadow = &there->sw->port[input].link.rx[vc];

		if (to == shard->number)
			continue;
		/* In transit to the other shard, stored there, or released there but not yet read
		 * here. */
		blocks += ring_blocks(&there->in[shard->number], input, vc);
		blocks += credit_stored(shadow);
		blocks += shadow->released - shard->other[to].heard[input][vc];
	}
	return blocks;
}

uint64_t switch_division_stored(const struct switch_division *division)
{
	uint64_t stored = under_way(division, false);

	for (unsigned shard = 0; shard < division->shards; shard++)
		stored += switch_stored_packets(division->shard[shard]->sw);
	return stored;
}

static uint64_t sum(const struct switch_division *division, unsigned first, unsigned last)
{
	uint64_t all = 0;

	for (unsigned shard = 0; shard < division->shards; shard++)
		for (unsigned port = 0; port < division->config.ports; port++)
			for (unsigned i = first; i <= last; i++)
				all += division->shard[shard]->sw->port[port].count[i];
	return all;
}

static const char *check_accounting_of_shards(const struct switch_division *division)
{
	uint64_t out = sum(division, SWITCH_DATA_OUT, SWITCH_DATA_OUT) +
		       sum(division, SWITCH_DISCARD_ROUTING_ERROR, SWITCH_DISCARD_PURGED);

	return sum(division, SWITCH_DATA_IN, SWITCH_DATA_IN) ==
			       out + switch_division_stored(division)
		       ? NULL
		       : "packets in differ from out + stored + in transit + discarded";
}

static const char *check_control_of_shards(const struct switch_division *division)
{
	uint64_t out = sum(division, SWITCH_CONTROL_OUT, SWITCH_CONTROL_AGENT) +
		       sum(division, SWITCH_CONTROL_DISCARD_ROUTE, SWITCH_CONTROL_DISCARD_DOWN) +
		       under_way(division, true);

	for (unsigned shard = 0; shard < division->shards; shard++)
		for (unsigned output = 0; output < division->config.ports; output++)
			out += division->shard[shard]->sw->port[output].output.control_waiting;
	return sum(division, SWITCH_CONTROL_IN, SWITCH_CONTROL_IN) == out
		       ? NULL
		       : "control frames in differ from out + waiting + in transit + discarded";
}

static const char *check_rings(const struct switch_shard *shard)
{
	for (unsigned from = 0; from < shard->division->shards; from++) {
		const struct shard_ring *ring = &shard->in[from];

		if (ring->put - ring->taken > ring->mask)
			return "a ring has more entries than its capacity";
	}
	return NULL;
}

/* Checks that a shard's set of guests includes every foreign input whose packets it stores. */
static const char *check_memory(const struct switch_shard *shard)
{
	const struct switch_division *division = shard->division;

	for (unsigned input = 0; input < division->config.ports; input++)
		for (unsigned vc = 0; vc < shard->sw->vcs; vc++) {
			const struct credit_rx *rx = &shard->sw->port[input].link.rx[vc];

			if (port_set_has(shard->foreign, input) && credit_stored(rx) != 0 &&
				!port_set_has(shard->guests, input))
				return "an input with packets here is not among the guests";
		}
	return NULL;
}

const char *switch_division_check(const struct switch_division *division)
{
	const char *wrong = check_accounting_of_shards(division);

	if (wrong == NULL)
		wrong = check_control_of_shards(division);
	for (unsigned shard = 0; shard < division->shards && wrong == NULL; shard++) {
		wrong = check_rings(division->shard[shard]);
		if (wrong == NULL)
			wrong = check_memory(division->shard[shard]);
		if (wrong == NULL)
			wrong = switch_check(division->shard[shard]->sw);
	}
	return wrong;
}
