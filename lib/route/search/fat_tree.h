/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What a fat tree offers: for every switch and every switch with hosts, the ports that lead there
 * without going up after down. A switch that reaches a destination going down alone goes down;
 * another goes up, to any neighbour above that reaches it in turn. Which switches are above which
 * is told by their stages, so that damaged trees need nothing of their own.
 *
 * Every way that takes one of the ports at each switch ends: up strictly climbs, a switch that has
 * been reached going down goes down itself, down strictly descends. The dependency graph of all of
 * them has no cycle for the same reason.
 *
 * Computed by whole rows of a switch, an OR a port and destination switch; constant afterwards, any
 * thread may read it.
 */

#include <stdint.h>

#include "fault.h"
#include "route_graph.h"

#define FAT_TREE_STAGES 256

struct fat_tree {
	const struct route_graph *graph;
	uint32_t columns; /* switches with hosts */
	uint32_t *column; /* by switch: its number among them, ROUTE_GRAPH_NONE if it has none */
	uint64_t *ports;  /* [switch * columns + column]; a switch itself: the ports of its hosts */
	uint64_t *up;     /* by switch: its ports that lead to higher stages */
	/* By stage: K^(stage - 1) where all lower stages have K ports up; in general the product of
	 * the largest number of ports up in each of them, at most UINT32_MAX. */
	uint32_t divisor[FAT_TREE_STAGES];
};

/* -EINVAL with 'fault' if some switch has no stage, or a link joins switches of one stage; -ENOMEM.
 */
int fat_tree_make(struct fat_tree *tree, const struct route_graph *graph, struct fault *fault);
void fat_tree_free(struct fat_tree *tree);

static inline unsigned fat_tree_stage(const struct fat_tree *tree, uint32_t at)
{
	return tree->graph->topology->switch_at[at].stage;
}

/* The ports of switch 'at' towards the hosts of switch 'to', which has some. */
static inline uint64_t fat_tree_ports(const struct fat_tree *tree, uint32_t at, uint32_t to)
{
	return tree->ports[(size_t)at * tree->columns + tree->column[to]];
}
