/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Ladders of VCs. In a Dragonfly (Kim, Dally, Scott, Abts, ISCA 2008, section 4.1) a path is a
 * sequence of local links (l, within a group) and global links (g, between groups). The rungs are
 * the hops of the longest path of an algorithm, in order. Each hop of a packet takes a rung of its
 * kind above the rung of the previous hop, so no dependency leads down and no cycle can close. The
 * VC is the number of that rung among the rungs of its kind.
 *
 *                     rungs        VCs: local, global   minimal from   detour from
 *     df-min          l g l        2, 1                 l0             none
 *     df-valiant      l g l g l    3, 2                 l1, g1         l0, g0
 *     df-valiant-node l g l l g l  4, 2                 l2, g1         l0, g0
 *     df-ugal-l-node  l g l l g l  4, 2                 l2, g1         l0, g0
 *     df-ugal-l, -g   l g l g l    3, 2                 l1, g1         l0, g0
 *     df-par          l l g l g l  4, 2                 l0, g0         l1, g0
 *
 * The rung of a packet is also its state. On its first rungs a packet on a detour leaves its group
 * by any global link; on later ones it follows the table to its destination. So a frame carries
 * nothing but its VC, and a switch decides from its own ports and credits.
 *
 * In struct vc_rule: 'steps' is the ladder; links between switches are in ring 0; 'dateline' has
 * the global ports.
 *
 * In a HyperX (omni-war: McDonald et al., SC 2019) each hop is a rung, and there are as many as the
 * rule has classes. The alternatives of a destination are the ports of all minimal paths, one row
 * of switches for each dimension in which the destination is elsewhere. While more rungs are left
 * than rows, a detour to any other switch of these rows is possible; it leaves the number of rows
 * unchanged. In struct vc_rule the ring of a port is its row, counted at each switch; no port is
 * global. dal (Ahn et al., SC 2009) permits one detour in each row. After it the packet has to
 * complete that row, so the port where a packet arrives shows whether it has just taken one, and no
 * row is entered again.
 *
 * ugal in a grid or a HyperX has no rungs, but two halves of the classes (VC_STEPS_UGAL). A detour
 * leads in the first half to a host that each switch draws from the packet's numbers, and from the
 * switch of this host in the second half to the destination.
 *
 * Pure functions; any thread. */

#include "base/rng.h"
#include "vc_rule.h"

/* The condition for taking a detour instead of the table's port. */
enum vc_ladder_choice {
	VC_LADDER_NEVER,
	VC_LADDER_ALWAYS, /* whenever there is a detour */
	VC_LADDER_QUEUES, /* if the queue of the table's port is longer (lib/switch/detour.h) */
	VC_LADDER_ORACLE  /* likewise, comparing the queues of the links between groups, wherever
			   * they are */
};

/* A switch's choices for a packet, depending on the rung on which the packet arrived. */
enum vc_ladder_move {
	VC_LADDER_TABLE,  /* the table's port */
	VC_LADDER_CHOOSE, /* the table's port, or a detour through any port of the set */
	VC_LADDER_GLOBAL, /* on a detour: a global port in the set */
	VC_LADDER_LOCAL,  /* at the first switch of another group: a local port, or onward */
	VC_LADDER_VIA,    /* to the drawn host, or on from its switch */
	VC_LADDER_ROWS    /* any port of a row with a port in the set */
};

#define VC_LADDER_RUNGS VC_RULE_CLASSES_MAX /* per kind */

struct vc_ladder {
	enum vc_ladder_choice choice;
	uint8_t locals, globals;         /* rungs of each kind */
	uint8_t local[VC_LADDER_RUNGS];  /* their positions on the ladder, from 0 */
	uint8_t global[VC_LADDER_RUNGS]; /* the same for global links */
	uint8_t minimal, detour;         /* first position of packets from hosts */
	bool again;  /* the second switch of the group decides again for minimal packets */
	bool node;   /* a detour leads to a switch of another group, not to the group */
	bool rows;   /* a HyperX: any hop may be a detour, */
	bool once;   /* one in each row */
	bool halves; /* detours lead to a drawn host, VC_GO_ON, and on from there, VC_NEXT_STEP */
};

/* NULL: 'steps' (enum vc_steps) is not a ladder. */
const struct vc_ladder *vc_ladder_find(unsigned steps);

/* VCs that a ladder needs. */
static inline uint8_t vc_ladder_classes(const struct vc_ladder *ladder)
{
	return ladder->locals > ladder->globals ? ladder->locals : ladder->globals;
}

/* Whether the ladder has a higher rung for this hop. Without one, as may happen between old and new
 * tables, the packet is discarded. Hops to hosts need no rung. */
bool vc_ladder_allows(const struct vc_rule *rule, const struct vc_ladder *ladder, uint32_t at,
	unsigned input, uint8_t from, unsigned output, enum vc_turn turn);

/* The random numbers of a packet, from its header: equal at each switch on its path. */
static inline struct rng vc_ladder_rng(
	uint64_t seed, uint16_t source, uint16_t destination, uint32_t message, uint32_t sequence)
{
	struct rng rng;

	rng_init(&rng, seed, (uint64_t)source << 16 | destination,
		(uint64_t)message << 32 | sequence);
	return rng;
}

/* vc_rule_next() for a ladder; VC_NEXT_STEP: on a detour. If there are fewer classes than rungs,
 * the packet stays in the last class, which the verifier reports as a cycle. */
uint8_t vc_ladder_next(const struct vc_rule *rule, const struct vc_ladder *ladder, uint32_t at,
	unsigned input, uint8_t from, unsigned output, enum vc_turn turn);

/* The choices for a packet that arrived at switch 'at' through 'input' in class 'from'. '*set': the
 * alternatives of its destination; only those that complete its row are left after a detour of
 * dal. */
enum vc_ladder_move vc_ladder_move(const struct vc_rule *rule, const struct vc_ladder *ladder,
	uint32_t at, unsigned input, uint8_t from, uint64_t *set);

/* In a HyperX: the set of the rows that contain these ports, and all ports of these rows. The
 * minimal ports of a destination have one row per link of a minimal path. */
uint64_t vc_ladder_rows(const struct vc_rule *rule, uint32_t at, uint64_t ports);
uint64_t vc_ladder_row_ports(const struct vc_rule *rule, uint32_t at, uint64_t ports);

/* The ports in 'set' (the destination's alternatives) that a detour may take. */
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
