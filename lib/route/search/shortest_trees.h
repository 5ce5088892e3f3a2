/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Balanced shortest paths (Hoefler, Schneider, Lumsdaine, "Optimized Routing for Large-Scale
 * InfiniBand Networks", HOTI 2009, single-source shortest path): a tree of paths to each
 * destination, one after the other. Among the paths with the fewest links, a switch selects the one
 * whose links carry the smallest load of the other trees. The paper enforces the fewest links with
 * large initial weights; here they have priority.
 *
 * A path is identified by a source switch and a tree. Constant once created; any thread may read
 * it. */

#include <stdint.h>

#include "base/arrays.h"
#include "base/weft_error.h"
#include "route/route_graph.h"
#include "route/route_path.h"

struct shortest_trees {
	const struct route_graph *graph;
	bool per_switch; /* one tree for all hosts of a switch */
	uint32_t trees;
	uint32_t *root; /* by tree: switch of the destination */
	uint32_t
		*next; /* [tree * switches + switch]: arc; ROUTE_GRAPH_NONE: root, or unconnected */
	uint64_t *load; /* by arc: number of host pairs times the arc's cost */
	struct arrays arrays;
};

/* Creates a tree per host (which may have no switch) or per switch; tree i leads to host or switch
 * i. Returns 0, or -ENOMEM with error set. The caller frees the trees in either case. */
int shortest_trees_make(struct shortest_trees *trees, const struct route_graph *graph,
	bool per_switch, struct error *error);
void shortest_trees_free(struct shortest_trees *trees);

static inline uint32_t shortest_trees_next(
	const struct shortest_trees *trees, uint32_t tree, uint32_t at)
{
	return trees->next[(size_t)tree * trees->graph->switches + at];
}

/* Returns the number of host pairs that use a path. */
uint32_t shortest_trees_pairs(const struct shortest_trees *trees, uint32_t tree, uint32_t source);

/* Returns true if the path exists. Sets its arcs if it has at most ROUTE_LINKS_MAX. */
bool shortest_trees_path(const struct shortest_trees *trees, uint32_t tree, uint32_t source,
	struct route_path *path);
