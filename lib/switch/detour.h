/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Detours (lib/queuing/vc_ladder.h). In a Dragonfly the switch where a packet enters the network
 * sends it through the table's minimal port or on a random detour. Each global link of the group is
 * equally likely, because all switches of the group have equally many. UGAL-L (Kim, Dally, Scott,
 * Abts, ISCA 2008, section 4.2) compares the two queues q and takes the minimal port if
 *
 *     q(minimal) <= 2 q(detour) + bias
 *
 * A queue is the credits in use behind the output: blocks that the next device stores, and blocks
 * in flight in either direction. The factors 1 and 2 stand for the lengths of the paths, as in
 * BookSim 2. 'queues' selects which VCs count (the paper's UGAL-L, UGAL-L_VC, UGAL-L_VCH).
 *
 * UGAL-G (also section 4.2) compares the queues of the two links between groups, wherever they are:
 * blocks that wait for the output, and those behind it. To do so it reads the state of other
 * switches, and both the first switch and the one with the link derive that link from the packet.
 * So the fabric must run in one thread.
 *
 * In a grid or a HyperX ('ugal') the detour is a path to a host that every switch draws from the
 * packet's numbers, and on from there. The first switch takes the minimal port if
 *
 *     q(minimal) x links <= q(detour) x links + bias
 *
 * with the links of the whole paths, as in Singh's thesis. All VCs of an output count, unless
 * 'queues' is DETOUR_VC.
 *
 * In a HyperX (omni-war: McDonald et al., SC 2019; dal) each switch takes the port with the
 * smallest
 *
 *     (q + packet) x links from here to the destination [+ bias for a detour]
 *
 * and draws among equal ones. The packet's own blocks are included, so that idle links are ordered
 * by the length of their paths.
 *
 * Apart from UGAL-G, runs in the switch's own thread. No allocation; one or two random numbers per
 * packet. */

#include <stdint.h>

#include "base/port_set.h"
#include "queuing/vc_ladder.h"
#include "route/route_lengths.h"
#include "wire/packet.h"

struct weft_switch;

enum detour_queues {
	DETOUR_VC,    /* the VC in which the packet would travel */
	DETOUR_PORT,  /* all VCs of the output */
	DETOUR_HYBRID /* the VC if both paths start at the same output, else the output; with
		       * halves: the output */
};

struct detour_config {
	uint64_t seed;
	uint32_t bias_blocks;
	enum detour_queues queues;
	/* With halves, for paths from here, switch 'at'; NULL: detours are twice as long. */
	const struct route_lengths *lengths;
	uint32_t at;
};

/* Queue length of the link between groups that is on the path of a packet that leaves 'sw' through
 * 'output', on its minimal path (VC_GO_ON) or on a detour (VC_NEXT_STEP). */
typedef uint64_t (*detour_oracle_fn)(const void *ctx, const struct weft_switch *sw,
	const struct weft_packet *packet, unsigned output, enum vc_turn turn);

struct detour {
	struct detour_config config;
	detour_oracle_fn oracle; /* VC_LADDER_ORACLE needs one */
	const void *oracle_ctx;
	struct rng rng;
};

static inline struct rng detour_rng(uint64_t seed, const struct weft_packet *packet)
{
	return vc_ladder_rng(
		seed, packet->source, packet->destination, packet->message, packet->sequence);
}

/* Draws one of 'ports', which is not empty; the draw is the same at each switch on the packet's
 * path. */
static inline unsigned detour_draw_for(
	uint64_t seed, const struct weft_packet *packet, port_set ports)
{
	struct rng rng = detour_rng(seed, packet);

	return port_set_draw(ports, &rng);
}

/* The same for one of 'hosts'. */
static inline uint32_t detour_draw_host(
	uint64_t seed, const struct weft_packet *packet, uint32_t hosts)
{
	struct rng rng = detour_rng(seed, packet);

	return (uint32_t)rng_below(&rng, hosts);
}

/* The output of a packet without a route: 'primary' (which may be unusable), a member of 'set' (the
 * alternatives for its destination; with halves the table's port to the drawn host), or
 * SWITCH_PORT_NONE if the ladder has no rung left. Sets
 * '*turn' if the packet starts or continues a detour. The VC rule must be a ladder. */
unsigned detour_route(struct weft_switch *sw, const struct weft_packet *packet, port_set set,
	unsigned primary, enum vc_turn *turn);
