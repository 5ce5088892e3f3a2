/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What the algorithms share that choose among minimal paths first and place in-transit buffers
 * afterwards (the thesis' section 3.2.3): which pair of hosts takes which path, balanced or at
 * random, and the order in which the paths get their ITBs. They differ in the rule for that.
 */

#include <stdbool.h>

#include "minimal_paths.h"
#include "route_algorithm.h"
#include "route_path.h"

struct itb_rule {
	/* Gives a path its ITBs; false if it cannot be used. What it said stays true. */
	bool (*place)(void *context, struct route_path *path);
	/* Finds a path for a pair of switches (by number) none of whose paths can be used, with its
	 * ITBs. -ENOENT: no way fits into a frame; -ENOMEM. */
	int (*find)(void *context, const struct minimal_paths *paths, size_t pair,
		struct route_path *path);
	void *context;
};

/* Adds the routes of all pairs of hosts to the set: options->alternatives different ones where
 * there are as many. Paths get their ITBs in the order of the pairs of hosts, by source, then by
 * destination; second choices after all first ones, and so on. Errors as of
 * route_algorithm.routes. */
int itb_routes_fill(const struct route_graph *graph, const struct route_options *options,
	bool balanced, const struct itb_rule *rule, struct route_set *set, struct fault *fault);

/* Path i of the pair, without ITBs. */
struct route_path itb_routes_path(const struct minimal_paths *paths, size_t pair, unsigned i);
