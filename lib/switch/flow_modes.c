/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Adaptive modes of today's Clos networks, which choose per flow or per packet, regardless of
 * credits. */

#include "adaptive_routing.h"

#include <stdlib.h>

/* A hash that is the same for all packets with the same addresses and entropy at this switch. */
static uint64_t hash(const struct adaptive *adaptive, uint32_t entropy)
{
	const struct weft_packet *packet = adaptive->packet;
	uint64_t flow = (uint64_t)packet->source << 48 | (uint64_t)packet->destination << 32;

	return rng_mix(adaptive->rng.key ^ rng_mix(flow | entropy));
}

/* A member of the set, chosen from 64 bits. */
static unsigned member(port_set set, uint64_t bits)
{
	uint64_t count = port_set_count(set);
	uint64_t skip = (uint64_t)(((unsigned __int128)bits * count) >> 64);

	while (skip-- > 0)
		set = port_set_rest(set);
	return port_set_first(set);
}

static unsigned choose_ecmp(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	return member(others | port_set_of(primary), hash(adaptive, 0));
}

const struct adaptive_mode adaptive_ecmp = {.name = "ecmp",
	.summary = "one of the set for each pair of hosts, by a hash",
	.choose = choose_ecmp};

static unsigned choose_any(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	return port_set_draw(others | port_set_of(primary), &adaptive->rng);
}

const struct adaptive_mode adaptive_spray_random = {.name = "spray-random",
	.summary = "any of the set for each packet, as `oblivious`",
	.choose = choose_any};

static unsigned choose_next(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	unsigned port = port_set_round_robin(others | port_set_of(primary), adaptive->turn);

	adaptive->turn = (uint8_t)((port + 1) & (PORT_SET_PORTS - 1));
	return port;
}

const struct adaptive_mode adaptive_spray_rr = {.name = "spray-rr",
	.summary = "the next of the set for each packet, round robin",
	.choose = choose_next};

/* LetFlow (Vanini et al., NSDI 2017): a pause longer than the gap lets the next packets of a flow
 * take another path without overtaking those before. Flows that share a table entry end each
 * other's flowlets. */
static unsigned choose_flowlet(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	const struct weft_packet *packet = adaptive->packet;
	uint32_t flow = (uint32_t)packet->source << 16 | packet->destination;
	struct adaptive_flowlet *flowlet =
		&adaptive->flowlet[hash(adaptive, 0) % ADAPTIVE_FLOWLETS];
	port_set set = others | port_set_of(primary);
	bool same = flowlet->used && flowlet->flow == flow &&
		    adaptive->now - flowlet->last_ps <= adaptive->flowlet_gap_ps &&
		    port_set_has(set, flowlet->port);

	if (!same)
		flowlet->port = (uint8_t)port_set_draw(set, &adaptive->rng);
	flowlet->used = true;
	flowlet->flow = flow;
	flowlet->last_ps = adaptive->now;
	return flowlet->port;
}

const struct adaptive_mode adaptive_flowlet = {.name = "flowlet",
	.summary = "any of the set, and the same as before within `flowlet-gap`",
	.flowlets = true,
	.choose = choose_flowlet};

/* The host chooses the entropy of each packet (nic/congestion/marked_paths.h). */
static unsigned choose_reps(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	return member(others | port_set_of(primary), hash(adaptive, 1 + adaptive->packet->entropy));
}

const struct adaptive_mode adaptive_reps = {.name = "reps",
	.summary =
		"by a hash with an entropy that hosts use again as long as its packets are not marked",
	.entropies = true,
	.choose = choose_reps};
