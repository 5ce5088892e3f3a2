/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "adaptive_routing.h"

#define X(name) &adaptive_##name,
static const void *const modes[] = {ADAPTIVE_MODES(X)};
#undef X

const struct name_table adaptive_modes = WORD_LIST(modes);

typedef uint32_t measure_fn(const struct adaptive *adaptive, unsigned port, unsigned vc);

static inline __attribute__((always_inline)) unsigned max(
	struct adaptive *adaptive, port_set set, unsigned vc, measure_fn *measure)
{
	uint32_t max = 0;
	port_set best = PORT_SET_NONE;

	PORT_SET_EACH(left, set) {
		unsigned port = port_set_first(left);
		uint32_t blocks = measure(adaptive, port, vc);

		if (!port_set_is_empty(best) && blocks < max)
			continue;
		best = blocks > max ? port_set_of(port) : (port_set)(best | port_set_of(port));
		max = blocks;
	}
	return port_set_draw(best, &adaptive->rng);
}

/* Returns the member of 'set', which must not be empty, with the most credits in 'vc'. Ties are
 * broken at random. Scans the set, so call it only for packets that may leave their primary port.
 */
static unsigned adaptive_max_credits(struct adaptive *adaptive, port_set set, unsigned vc)
{
	return max(adaptive, set, vc, adaptive_credits);
}

unsigned adaptive_max_free(struct adaptive *adaptive, port_set set, unsigned vc)
{
	return max(adaptive, set, vc, adaptive_free);
}

/* Any of the ports, regardless of traffic. */
static unsigned choose_oblivious(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	return port_set_draw(others | port_set_of(primary), &adaptive->rng);
}

/* The port with the most credits for the VC in which the packet would be stored. With AFI an
 * alternative must be better than the primary port, because a packet that leaves its primary port
 * cannot return to it (Weft's choice: the papers combine AFI only with adaptive-th). */
static unsigned choose_always(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	unsigned best;

	if (!adaptive->afi)
		return adaptive_max_credits(adaptive, others | port_set_of(primary), vc);
	best = adaptive_max_credits(adaptive, others, adaptive->channel);
	return adaptive_credits(adaptive, best, adaptive->channel) >
			       adaptive_credits(adaptive, primary, vc)
		       ? best
		       : primary;
}

static bool is_congested(const struct adaptive *adaptive, unsigned port, unsigned vc)
{
	uint64_t blocks = adaptive->output[port].vc_blocks;
	uint64_t space = adaptive_free(adaptive, port, vc);

	return space < blocks && (blocks - space) * 1000000 > blocks * adaptive->threshold_ppm;
}

/* Adaptive-Th (Rocher-Gonzalez et al., JPDC 147, 2021): chooses the primary port, unless the
 * VC that would store the packet there is fuller than the threshold. In that case, it chooses the
 * alternative with the most credits. Without AFI that alternative must have more credits than the
 * primary port. With AFI the alternatives are compared by their credits for the AFC, and the packet
 * always takes the best one (a reading: docs/explanation/congestion.md). */
static unsigned choose_threshold(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	unsigned best;

	if (!is_congested(adaptive, primary, vc))
		return primary;
	best = adaptive_max_credits(adaptive, others, adaptive_vc(adaptive, vc));
	if (!adaptive->afi &&
		adaptive_credits(adaptive, best, vc) <= adaptive_credits(adaptive, primary, vc))
		return primary;
	return best;
}

/* "none" is the deterministic route: D-mod-K in fat trees. */
const struct adaptive_mode adaptive_none = {
	.name = "none", .summary = "the table's port (D-mod-K)"};
const struct adaptive_mode adaptive_oblivious = {
	.name = "oblivious", .summary = "a random port of the set", .choose = choose_oblivious};
const struct adaptive_mode adaptive_always = {.name = "adaptive",
	.summary = "the port with the most credits",
	.compares = true,
	.choose = choose_always};
const struct adaptive_mode adaptive_threshold = {.name = "adaptive-th",
	.summary =
		"the port with the most credits, but only if the buffer behind the table's port is fuller than `threshold`",
	.compares = true,
	.choose = choose_threshold};
const struct adaptive_mode adaptive_arn = {.name = "arn",
	.summary =
		"the table's port, until a [notification](#congestion-detector) shows that it leads into congestion; needs `switch.voq`",
	.notified = true};

/* Adaptive modes of current Clos networks: they choose per flow or packet and ignore credits. */

/* Returns a hash that, at this switch, depends only on the packet's addresses and the entropy. */
static uint64_t hash(const struct adaptive *adaptive, uint32_t entropy)
{
	const struct weft_packet *packet = adaptive->packet;
	uint64_t flow = (uint64_t)packet->source << 48 | (uint64_t)packet->destination << 32;

	return rng_mix(adaptive->rng.key ^ rng_mix(flow | entropy));
}

/* Returns the member of the set that 64 random bits select. */
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
	.summary = "one of the set for each pair of hosts, chosen by a hash",
	.choose = choose_ecmp};

static unsigned choose_any(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	return port_set_draw(others | port_set_of(primary), &adaptive->rng);
}

const struct adaptive_mode adaptive_spray_random = {.name = "spray-random",
	.summary = "a random port of the set for each packet, like `oblivious`",
	.choose = choose_any};

static unsigned choose_next(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	unsigned port = port_set_round_robin(others | port_set_of(primary), adaptive->turn);

	adaptive->turn = (uint8_t)((port + 1) & (PORT_SET_PORTS - 1));
	return port;
}

const struct adaptive_mode adaptive_spray_rr = {.name = "spray-rr",
	.summary = "the next port of the set for each packet, round robin",
	.choose = choose_next};

/* LetFlow (Vanini et al., NSDI 2017): after a pause longer than the gap, a flow can change paths
 * without overtaking its earlier packets. Flows that share a table entry end each other's flowlets.
 */
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
	.summary = "any port of the set, but the same one again within `flowlet-gap`",
	.flowlets = true,
	.choose = choose_flowlet};

/* Hosts choose the entropy of each packet (nic/congestion/marked_paths.h). */
static unsigned choose_reps(
	struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	return member(others | port_set_of(primary), hash(adaptive, 1 + adaptive->packet->entropy));
}

const struct adaptive_mode adaptive_reps = {.name = "reps",
	.summary =
		"chosen by a hash with an entropy that hosts reuse as long as its packets are not marked",
	.entropies = true,
	.choose = choose_reps};
