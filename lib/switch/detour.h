/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Detours (lib/queuing/vc_ladder.h). In a Dragonfly the switch where a packet enters the network
 * sends it through the table's minimal port or on a random detour. Each global link of the group is
 * equally likely, because all switches of the group have the same number. UGAL-L (Kim, Dally,
 * Scott, Abts, ISCA 2008, section 4.2) compares the two queues q and takes the minimal port if
 *
 *     q(minimal) <= 2 q(detour) + bias
 *
 * A queue is the credits in use behind the output: blocks stored in the next device, and blocks or
 * credits in flight. The factors 1 and 2 stand for the path lengths, as in BookSim 2. 'queues'
 * selects which VCs count (the paper's UGAL-L, UGAL-L_VC, UGAL-L_VCH).
 *
 * UGAL-G (also section 4.2) compares the queues of the two links between groups, wherever they are:
 * blocks that wait for the output, and those behind it. The first switch and the switch with the
 * link both derive the link from the packet. Because UGAL-G reads the state of other switches, the
 * fabric must run in one thread.
 *
 * In a grid or a HyperX ('ugal') the detour leads through a host that every switch draws from the
 * packet's numbers. The first switch takes the minimal port if
 *
 *     q(minimal) x links <= q(detour) x links + bias
 *
 * where the links of the whole paths count, as in Singh's thesis. All VCs of an output count,
 * unless 'queues' is DETOUR_VC.
 *
 * In a HyperX (omni-war: McDonald et al., SC 2019; dal) each switch takes the port with the
 * smallest
 *
 *     (q + packet) x links from here to the destination [+ bias for a detour]
 *
 * with ties broken at random. The packet's own blocks are included, so that idle links are ordered
 * by path length.
 *
 * Except for UGAL-G, runs in the switch's own thread. No allocation; one or two random numbers per
 * packet. */

#include <stdint.h>

#include "base/port_set.h"
#include "queuing/vc_ladder.h"
#include "route/route_graph.h"
#include "wire/packet.h"

struct weft_switch;

enum detour_queues {
	DETOUR_VC,    /* the VC in which the packet would travel */
	DETOUR_PORT,  /* all VCs of the output */
	DETOUR_HYBRID /* the VC if both paths start at the same output, otherwise all VCs; with
			 halves: all VCs */
};

struct detour_config {
	uint64_t seed;
	uint32_t bias_blocks;
	enum detour_queues queues;
	/* With halves: lengths of paths from this switch, 'at'. NULL: detours are twice as long. */
	const struct route_lengths *lengths;
	uint32_t at;
};

/* Returns the queue length of the link between groups on the path of a packet that leaves 'sw'
 * through 'output', on its minimal path (VC_GO_ON) or on a detour (VC_NEXT_STEP). */
typedef uint64_t (*detour_oracle_fn)(const void *ctx, const struct weft_switch *sw,
	const struct weft_packet *packet, unsigned output, enum vc_turn turn);

struct detour {
	struct detour_config config;
	detour_oracle_fn oracle; /* required by VC_LADDER_ORACLE */
	const void *oracle_ctx;
	struct rng rng;
};

static inline struct rng detour_rng(uint64_t seed, const struct weft_packet *packet)
{
	return vc_ladder_rng(
		seed, packet->source, packet->destination, packet->message, packet->sequence);
}

/* Draws a member of 'ports', which must not be empty; the same at each switch on the path. */
static inline unsigned detour_draw_for(
	uint64_t seed, const struct weft_packet *packet, port_set ports)
{
	struct rng rng = detour_rng(seed, packet);

	return port_set_draw(ports, &rng);
}

/* Draws one of 'hosts' hosts, likewise the same at each switch. */
static inline uint32_t detour_draw_host(
	uint64_t seed, const struct weft_packet *packet, uint32_t hosts)
{
	struct rng rng = detour_rng(seed, packet);

	return (uint32_t)rng_below(&rng, hosts);
}

/* Returns the output for a packet without a route: 'primary' (which may be unusable), a member of
 * 'set', or SWITCH_PORT_NONE if the ladder has no rung left. 'set' contains the alternatives for
 * the packet's destination, or with halves the table's port to the drawn host. Sets '*turn' if the
 * packet starts or continues a detour. The VC rule must be a ladder. */
unsigned detour_route(struct weft_switch *sw, const struct weft_packet *packet, port_set set,
	unsigned primary, enum vc_turn *turn);
