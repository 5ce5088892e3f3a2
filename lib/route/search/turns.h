/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The turns that routes may take. A turn leaves a switch by one arc after arriving on another; it
 * is one channel dependency. Turning back into the same link is never allowed. All other turns
 * between two arcs of a spanning tree are kept (turns_forbid() refuses them): a path along the tree
 * needs only these, so all pairs stay connected, however many turns are forbidden. The kept turns
 * alone close no cycle, because a cycle without turning back would be a cycle of the tree.
 *
 * Turns are numbered; those of arc a are first[a] .. first[a + 1] - 1, in the order of the arcs
 * that leave its end. */

#include <stdbool.h>
#include <stdint.h>

#include "route/route_graph.h"

struct turns {
	const struct route_graph *graph;
	uint32_t turns;
	uint32_t *first;
	bool *allowed; /* by turn */
	bool *kept;    /* by turn */
	struct arrays arrays;
};

/* Allows all turns except turning back. -ENOMEM; on success the caller calls turns_fini(). */
int turns_init(struct turns *turns, const struct route_graph *graph);
void turns_fini(struct turns *turns);

/* The turn from arc 'in' to arc 'out', which leaves the switch where 'in' ends. */
static inline uint32_t turns_number(const struct turns *turns, uint32_t in, uint32_t out)
{
	const struct route_graph *graph = turns->graph;

	return turns->first[in] + out - graph->first_arc[graph->arc[in].to];
}

/* Returns false, without effect, if the turn must be kept. */
bool turns_forbid(struct turns *turns, uint32_t turn);
