/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The result of smart-routing: for each pair of switches its paths, and the number of routes
 * between their hosts on each. */

#include <stdbool.h>

#include "route/route_path.h"
#include "smart_paths.h"

struct smart_plan {
	struct smart_paths paths;
	uint32_t *count; /* by path: number of routes on it; a pair's add up to its routes */
	double excess;   /* route_set_excess() */
	struct route_path *path; /* by path: the same in the form of route_path.h, without ITBs */
	struct arrays arrays;    /* these two */
};

/* Candidate shortest paths per pair. With detours fewer suffice, because they add the missing ones,
 * and the program is solved many times. */
#define SMART_PATHS_MAX         32
#define SMART_PATHS_MAX_DETOURS 8

/* Balances the traffic over the shortest paths with allowed turns and, if 'detours', over longer
 * ones that lower the largest load by at least as much as they raise the mean. Negative code and
 * 'error': -ENOMEM, -EINVAL if a path does not fit into a frame, -EIO if the solver fails. On
 * success the caller calls smart_plan_fini(). */
int smart_plan_make(struct smart_plan *plan, const struct turns *turns,
	const struct route_options *options, bool detours, struct error *error);
void smart_plan_fini(struct smart_plan *plan);

/* Adds the routes of all pairs of hosts along plan->path. Each pair gets its assigned path, and up
 * to options->alternatives - 1 of the others between the same switches. May return -ENOMEM. */
int smart_plan_add_routes(const struct smart_plan *plan, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error);

/* Forbids turns until the allowed ones close no cycle, round by round at the lowest cost for the
 * balance. 'turns' comes from turns_init(). -ENOMEM; -EINVAL if a path does not fit into a frame;
 * -EIO if the solver fails. */
int smart_break_cycles(
	struct turns *turns, const struct route_options *options, struct error *error);
