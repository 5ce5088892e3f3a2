/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch_shard.h"

/* Counts the packets in the rings that lead to a shard, data or control, published or not. */
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
		/* Blocks on the way to the other shards, stored there, and released there but not
		 * read here yet. */
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

static const char *check_accounting(const struct switch_division *division)
{
	uint64_t out = sum(division, SWITCH_DATA_OUT, SWITCH_DATA_OUT) +
		       sum(division, SWITCH_DISCARD_ROUTING_ERROR, SWITCH_DISCARD_PURGED);

	return sum(division, SWITCH_DATA_IN, SWITCH_DATA_IN) ==
			       out + switch_division_stored(division)
		       ? NULL
		       : "packets in differ from out + stored + under way + discarded";
}

static const char *check_control(const struct switch_division *division)
{
	uint64_t out = sum(division, SWITCH_CONTROL_OUT, SWITCH_CONTROL_AGENT) +
		       sum(division, SWITCH_CONTROL_DISCARD_ROUTE, SWITCH_CONTROL_DISCARD_DOWN) +
		       under_way(division, true);

	for (unsigned shard = 0; shard < division->shards; shard++)
		for (unsigned output = 0; output < division->config.ports; output++)
			out += division->shard[shard]->sw->port[output].output.control_waiting;
	return sum(division, SWITCH_CONTROL_IN, SWITCH_CONTROL_IN) == out
		       ? NULL
		       : "control frames in differ from out + waiting + under way + discarded";
}

static const char *check_rings(const struct switch_shard *shard)
{
	for (unsigned from = 0; from < shard->division->shards; from++) {
		const struct shard_ring *ring = &shard->in[from];

		if (ring->put - ring->taken > ring->mask)
			return "a ring has more entries than it has room for";
	}
	return NULL;
}

/* A shard may drop an input from its set only if it has no packets from it. */
static const char *check_memory(const struct switch_shard *shard)
{
	const struct switch_division *division = shard->division;

	for (unsigned input = 0; input < division->config.ports; input++)
		for (unsigned vc = 0; vc < shard->sw->vcs; vc++) {
			const struct credit_rx *rx = &shard->sw->port[input].link.rx[vc];

			if (port_set_has(shard->foreign, input) && credit_stored(rx) != 0 &&
				!port_set_has(shard->guests, input))
				return "packets of a foreign input are not among the guests";
		}
	return NULL;
}

const char *switch_division_check(const struct switch_division *division)
{
	const char *wrong = check_accounting(division);

	if (wrong == NULL)
		wrong = check_control(division);
	for (unsigned shard = 0; shard < division->shards && wrong == NULL; shard++) {
		wrong = check_rings(division->shard[shard]);
		if (wrong == NULL)
			wrong = check_memory(division->shard[shard]);
		if (wrong == NULL)
			wrong = switch_check(division->shard[shard]->sw);
	}
	return wrong;
}
