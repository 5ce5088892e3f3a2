/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The common part of the algorithms that first choose among minimal paths and then place in-transit
 * buffers (the thesis' section 3.2.3): which pair of hosts takes which path, balanced or at random,
 * and the order in which the paths get their ITBs. They differ in the rule for ITBs. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/weft_error.h"
#include "minimal_paths.h"
#include "route/route_algorithm.h"
#include "route/route_path.h"

struct itb_rule {
	/* Sets the ITBs of a path; returns false if it is unusable. The answer must not change
	 * later. */
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
	bool balanced, const struct itb_rule *rule, struct route_set *set, struct error *error);

/* Path i of the pair, without ITBs. */
struct route_path itb_routes_path(const struct minimal_paths *paths, size_t pair, unsigned i);

/* Balancing (the thesis' section 3.2.3, figure 54). A map counts the routes over every channel
 * between switches, initially of all candidates of all pairs. Each step deletes the route
 * whose deletion leaves the smallest standard deviation of the map, until every pair has one route
 * left. If several routes qualify, the first one in a table in random order is removed
 * (balance_lane.h).
 *
 * Pairs of hosts on the same two switches have the same candidates and are indistinguishable. So a
 * candidate has as many copies as there are such pairs, and as many copies as pairs remain; their
 * assignment to pairs is drawn afterwards. */

struct balance {
	uint32_t *copies; /* by path: remaining copies; for a pair of switches as many as it has
			     pairs of hosts, or one (ROUTE_PER_SWITCH_PAIR); 0 within a switch */
	uint8_t *order;   /* by path: order[first + i] is the i-th candidate in order of preference:
			     remaining ones, then the others, the last deleted first */
	double excess;    /* route_set_excess(); negative: deleted as above */
	struct arrays arrays;
};

/* -ENOMEM; -EINVAL for a network too large to count its routes. On success the caller frees. */
int balance_make(const struct minimal_paths *paths, enum route_granularity granularity,
	struct balance *balance, struct error *error);
void balance_free(struct balance *balance);
/* balance_descent.c: fills zeroed arrays of 'balance', for networks with many candidates. May
 * return -ENOMEM. */
int balance_descend(const struct minimal_paths *paths, enum route_granularity granularity,
	struct balance *balance, struct error *error);

/* Draws different routes of a pair without listing all: routes are identified by ranks 0 .. count -
 * 1 (legal_routes.h), and all sets of ranks are equally likely. */

/* Draws 'wanted' <= ROUTE_ALTERNATIVES_MAX different ranks, or all 'count' if there are fewer;
 * returns the number. A larger draw from the same generator starts with the same ranks. */
unsigned rank_draw(struct rng *rng, uint64_t count, unsigned wanted, uint64_t *ranks);
