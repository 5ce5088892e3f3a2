/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Ladders of VCs. In a Dragonfly (Kim, Dally, Scott, Abts, ISCA 2008, section 4.1), a path is a
 * sequence of local links (l, within a group) and global links (g, between groups). The rungs are
 * the hops of an algorithm's longest path, in order. Each hop of a packet takes a rung of its kind
 * above the rung of the previous hop, so no dependency leads down and no cycle can close. The VC is
 * the index of that rung among the rungs of its kind.
 *
 *                     rungs        VCs: local, global   minimal from   detour from
 *     df-min          l g l        2, 1                 l0             none
 *     df-valiant      l g l g l    3, 2                 l1, g1         l0, g0
 *     df-valiant-node l g l l g l  4, 2                 l2, g1         l0, g0
 *     df-ugal-l-node  l g l l g l  4, 2                 l2, g1         l0, g0
 *     df-ugal-l, -g   l g l g l    3, 2                 l1, g1         l0, g0
 *     df-par          l l g l g l  4, 2                 l0, g0         l1, g0
 *
 * A packet's rung is also its state. On its first rungs, a packet on a detour leaves its group
 * through any global link; on later rungs, it follows the table to its destination. A frame
 * therefore carries only its VC, and a switch decides based on its own ports and credits.
 *
 * In struct vc_rule, 'steps' is the ladder, links between switches are in ring 0, and 'dateline'
 * contains the global ports.
 *
 * In a HyperX (omni-war: McDonald et al., SC 2019), each hop is a rung, and there are as many rungs
 * as the rule has classes. A destination's alternatives are the ports of all minimal paths, one row
 * of switches for each dimension in which the destination differs. While more rungs are left than
 * rows, a detour to any other switch of these rows is possible; it does not change the number of
 * rows. In struct vc_rule, the ring of a port is its row, counted at each switch; no port is
 * global. dal (Ahn et al., SC 2009) permits one detour per row. After it, the packet must complete
 * that row. The input port therefore shows whether the packet has just taken a detour, and no row
 * is entered again.
 *
 * ugal in a grid or a HyperX has no rungs, but two halves of the classes (VC_STEPS_UGAL). In the
 * first half, a detour leads to a host that each switch draws from the packet's numbers; in the
 * second half, it leads from this host's switch to the destination.
 *
 * Pure functions; any thread may call them. */

#include "base/rng.h"
#include "vc_rule.h"

/* When to take a detour instead of the table's port. */
enum vc_ladder_choice {
	VC_LADDER_NEVER,
	VC_LADDER_ALWAYS, /* whenever there is a detour */
	VC_LADDER_QUEUES, /* if the queue of the table's port is longer (lib/switch/detour.h) */
	VC_LADDER_ORACLE  /* likewise, for the queues of the links between groups, anywhere */
};

/* A switch's choices for a packet, given the rung on which the packet arrived. */
enum vc_ladder_move {
	VC_LADDER_TABLE,  /* only the table's port */
	VC_LADDER_CHOOSE, /* the table's port, or a detour through any port of the set */
	VC_LADDER_GLOBAL, /* on a detour: a global port in the set */
	VC_LADDER_LOCAL,  /* at the first switch of another group: a local port, or onward */
	VC_LADDER_VIA,    /* to the drawn host, or onward from its switch */
	VC_LADDER_ROWS    /* any port of a row with a port in the set */
};

#define VC_LADDER_RUNGS VC_RULE_CLASSES_MAX /* per kind */

struct vc_ladder {
	enum vc_ladder_choice choice;
	uint8_t locals, globals;         /* number of rungs of each kind */
	uint8_t local[VC_LADDER_RUNGS];  /* their positions on the ladder, from 0 */
	uint8_t global[VC_LADDER_RUNGS]; /* likewise for global links */
	uint8_t minimal, detour;         /* first position of packets from hosts, by kind of path */
	bool again;  /* the group's second switch decides again for minimal packets */
	bool node;   /* detours lead to a switch of another group, not to the group */
	bool rows;   /* a HyperX: any hop may be a detour */
	bool once;   /* one detour per row */
	bool halves; /* detours lead to a drawn host (VC_GO_ON) and on from there (VC_NEXT_STEP) */
};

/* Returns NULL if 'steps' (enum vc_steps) is not a ladder. */
const struct vc_ladder *vc_ladder_find(unsigned steps);

/* Returns the number of VCs that a ladder needs. */
static inline uint8_t vc_ladder_classes(const struct vc_ladder *ladder)
{
	return ladder->locals > ladder->globals ? ladder->locals : ladder->globals;
}

/* Returns whether the ladder has a higher rung for this hop. If not, as may happen between old and
 * new tables, the packet is discarded. Hops to hosts need no rung. */
bool vc_ladder_allows(const struct vc_rule *rule, const struct vc_ladder *ladder, uint32_t at,
	unsigned input, uint8_t from, unsigned output, enum vc_turn turn);

/* Returns a packet's random numbers, derived from its header: the same at each switch on its
 * path. */
static inline struct rng vc_ladder_rng(
	uint64_t seed, uint16_t source, uint16_t destination, uint32_t message, uint32_t sequence)
{
	struct rng rng;

	rng_init(&rng, seed, (uint64_t)source << 16 | destination,
		(uint64_t)message << 32 | sequence);
	return rng;
}

/* Like vc_rule_next(), for a ladder. VC_NEXT_STEP: on a detour. If there are fewer classes than
 * rungs, the packet stays in the last class, which the verifier reports as a cycle. */
uint8_t vc_ladder_next(const struct vc_rule *rule, const struct vc_ladder *ladder, uint32_t at,
	unsigned input, uint8_t from, unsigned output, enum vc_turn turn);

/* Returns the choices for a packet that arrived at switch 'at' through 'input' in class 'from'.
 * '*set': its destination's alternatives; after a detour of dal, only those that complete its row
 * remain. */
enum vc_ladder_move vc_ladder_move(const struct vc_rule *rule, const struct vc_ladder *ladder,
	uint32_t at, unsigned input, uint8_t from, uint64_t *set);

/* Return the set of a HyperX's rows that contain these ports, and all ports of these rows. A
 * destination's minimal ports have one row per link of a minimal path. */
uint64_t vc_ladder_rows(const struct vc_rule *rule, uint32_t at, uint64_t ports);
uint64_t vc_ladder_row_ports(const struct vc_rule *rule, uint32_t at, uint64_t ports);

/* Returns the ports in 'set' (the destination's alternatives) that a detour may take. */
static inline uint64_t vc_ladder_ports(
	const struct vc_rule *rule, uint32_t at, enum vc_ladder_move move, uint64_t set)
{
	uint64_t global = rule->dateline[at];

	if (move == VC_LADDER_CHOOSE || move == VC_LADDER_VIA)
		return set;
	if (move == VC_LADDER_TABLE)
		return 0;
	if (move == VC_LADDER_ROWS)
		return vc_ladder_row_ports(rule, at, set);
	return move == VC_LADDER_GLOBAL ? set & global : set & ~global;
}
