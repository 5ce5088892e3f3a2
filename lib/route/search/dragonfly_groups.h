/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The groups of a Dragonfly, recognised by its ports (lib/topo/generators/dragonfly.c): links
 * between ports below a number are local, the others are global. Switches connected by local links
 * form a group. This works the same for generated, loaded and degraded networks. A fully connected
 * network is one group.
 *
 * Constant after creation; any thread may read it. */

#include <stdint.h>

#include "base/arrays.h"
#include "base/weft_error.h"
#include "route/route_graph.h"

struct dragonfly_groups {
	const struct route_graph *graph;
	unsigned local_ports; /* links from lower ports are local */
	uint32_t *group;      /* by switch: the first switch of its group */
	uint32_t *piece;      /* by switch: the first switch of its connected component */
	struct arrays arrays;
};

/* Every network has groups; without local links each switch is one. Returns 0 or -ENOMEM with error
 * set. */
int dragonfly_groups_make(
	struct dragonfly_groups *groups, const struct route_graph *graph, struct error *error);
void dragonfly_groups_free(struct dragonfly_groups *groups);

static inline bool dragonfly_groups_is_local(
	const struct dragonfly_groups *groups, const struct route_arc *arc)
{
	return arc->port < groups->local_ports;
}
