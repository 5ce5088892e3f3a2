/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The outcome of smart-routing: for each pair of switches its paths, and how many of the routes
 * between their hosts take which.
 */

#include <stdbool.h>

#include "route_path.h"
#include "smart_paths.h"
#include "turns.h"

struct smart_plan {
	struct smart_paths paths;
	uint32_t *count; /* by path: routes that take it; a pair's add up to its routes */
};

/* Shortest paths of a pair that are looked at. Where detours are, they bring in whatever is missed,
 * and programs are solved many times. */
#define SMART_PATHS_MAX         32
#define SMART_PATHS_MAX_DETOURS 8

/* Balances the traffic over the shortest paths with allowed turns and, if 'detours', over longer
 * ones that lower the largest load by at least as much as they raise the mean. Negative code and
 * 'fault': -ENOMEM, -EINVAL if a path does not fit into a frame, -EIO if the solver gives up. On
 * success the caller calls smart_plan_fini(). */
int smart_plan_make(struct smart_plan *plan, const struct turns *turns,
	const struct route_options *options, bool detours, struct fault *fault);
void smart_plan_fini(struct smart_plan *plan);

/* The path as route_path.h has it, without ITBs. */
struct route_path smart_plan_path(const struct smart_plan *plan, uint32_t path);

/* Adds the routes of all pairs of hosts. 'path' has those of the plan, with their ITBs. Each pair
 * gets the path that is its share, and up to options->alternatives - 1 of the others that routes
 * between the same switches take. -ENOMEM. */
int smart_plan_add_routes(const struct smart_plan *plan, const struct route_graph *graph,
	const struct route_path *path, const struct route_options *options, struct route_set *set,
	struct fault *fault);
