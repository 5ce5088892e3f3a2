/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Routes pair by pair, for algorithms that can route a pair of hosts without looking at the other
 * pairs. route_maker_fill() computes the routes of all pairs. A set with routes on demand
 * (route_demand.h) computes the routes of a pair on first use. Both produce the same routes.
 *
 * Constant after creation, except for the scratch space, which belongs to one thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "route_graph.h"
#include "route_set.h"

struct route_options;

struct route_maker {
	const struct route_graph *graph;
	const struct route_options *options;
	/* Every pair of hosts has a route of at most ROUTE_LINKS_USUAL links, no route has an
	 * in-transit buffer, and lengths are known. Otherwise the routes of all pairs must be
	 * computed before first use, and 'row' and 'elements' are not called. */
	bool complete;
	/* Adds the routes of two different hosts, both connected to switches. -EINVAL with 'error':
	 * a route does not fit into a frame; -ENOMEM. */
	int (*add)(const struct route_maker *maker, void *scratch, struct route_set *set,
		uint32_t source, uint32_t destination, struct error *error);
	/* The host's row, a number below twice the number of switches: hosts of one row have the
	 * same routes to all other hosts. NULL: each host has its own routes. */
	uint32_t (*row)(const struct route_maker *maker, uint32_t host);
	/* Elements of the first route between two hosts of these switches. */
	unsigned (*elements)(const struct route_maker *maker, uint32_t from, uint32_t to);
	/* NULL: 'add' needs no scratch space. The function returns NULL for -ENOMEM. */
	void *(*scratch_create)(const struct route_maker *maker);
	void (*scratch_destroy)(void *scratch);
	void (*destroy)(struct route_maker *maker);
};

/* Creates a maker, and sets the VC rule of the empty set. Graph and options outlive it. Errors as
 * for route_algorithm.routes; '*maker' is then NULL. */
typedef int (*route_maker_fn)(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error);

/* Fills an empty set: route_algorithm.routes for an algorithm that has route_algorithm.pairs. */
int route_maker_fill(route_maker_fn make, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error);
