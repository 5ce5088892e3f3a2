/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A mesh, torus, ring or hypercube, recognised by its ports (lib/topo/generators/grid.c): port 2d
 * leads forward in dimension d and arrives at port 2d + 1, which leads back. In a hypercube, port d
 * leads along dimension d in both directions. The positions of switches follow from the ports, so
 * generated, loaded and degraded networks are equivalent, whatever the numbers and names of their
 * switches. Hosts may be on any other port.
 *
 * Constant once created; any thread may read it. */

#include <stdint.h>

#include "base/weft_error.h"
#include "route/route_graph.h"

#define ROUTE_GRID_DIMS 64 /* a hypercube that uses every port */

struct route_grid {
	const struct route_graph *graph;
	unsigned dims;
	uint32_t period[ROUTE_GRID_DIMS]; /* switches per ring; 0: this dimension has no rings */
	/* [switch * dims + dimension]: position from 0, below the period if there is one. Positions
	 * are relative to the first switch of each component. */
	int32_t *place;
	uint32_t *piece; /* by switch: first switch of its component */
	uint32_t *arc;   /* [(switch * dims + dimension) * 2 + back], or ROUTE_GRAPH_NONE */
	struct arrays arrays;
};

/* Returns 0, -ENOMEM, or -EINVAL with an error that names the first port not numbered as in a grid.
 */
int route_grid_make(struct route_grid *grid, const struct route_graph *graph, struct error *error);
void route_grid_free(struct route_grid *grid);

static inline int32_t route_grid_place(const struct route_grid *grid, uint32_t at, unsigned dim)
{
	return grid->place[(size_t)at * grid->dims + dim];
}

/* Returns the arc forward, or back if 'back' is set, in a dimension; ROUTE_GRAPH_NONE: none. */
static inline uint32_t route_grid_arc(
	const struct route_grid *grid, uint32_t at, unsigned dim, unsigned back)
{
	return grid->arc[((size_t)at * grid->dims + dim) * 2 + back];
}
