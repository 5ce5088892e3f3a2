/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The common part of the algorithms that first choose among minimal paths and then place in-transit
 * buffers (the thesis' section 3.2.3): which pair of hosts takes which path, balanced or at random,
 * and the order in which the paths get their ITBs. They differ in the rule for ITBs.
 */

#include <stdbool.h>

#include "minimal_paths.h"
#include "route_algorithm.h"
#include "route_path.h"

struct itb_rule {
	/* Sets the ITBs of a path; false if it is unusable. The answer must not change later. */
	bool (*place)(void *context, struct route_path *path);
	/* Finds a path with its ITBs for a pair of switches (by number) whose paths are all
	 * unusable. -ENOENT: none fits into a frame; -ENOMEM. */
	int (*find)(void *context, const struct minimal_paths *paths, size_t pair,
		struct route_path *path);
	void *context;
};

/* Adds the routes of all pairs of hosts to the set: options->alternatives different ones, or all if
 * there are fewer. Paths get their ITBs in the order of the pairs of hosts, by source, then by
 * destination; second choices after all first ones, and so on. Errors as for
 * route_algorithm.routes. */
int itb_routes_fill(const struct route_graph *graph, const struct route_options *options,
	bool balanced, const struct itb_rule *rule, struct route_set *set, struct fault *fault);

/* Path i of the pair, without ITBs. */
struct route_path itb_routes_path(const struct minimal_paths *paths, size_t pair, unsigned i);
