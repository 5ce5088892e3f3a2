/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Routes pair by pair: what an algorithm provides if it can route a pair of hosts without looking
 * at the other pairs. route_maker_fill() makes the routes of all pairs. A set with routes on demand
 * (route_demand.h) makes those of a pair when they are asked for the first time. Both get the same
 * routes.
 *
 * Constant once made, except for the scratch space, which belongs to one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fault.h"
#include "route_graph.h"
#include "route_set.h"

struct route_options;

struct route_maker {
	const struct route_graph *graph;
	const struct route_options *options;
	/* Every two hosts have a route that fits into a frame, none has an in-transit buffer, and
	 * lengths are known. Otherwise the routes of all pairs must be made before the first is
	 * used, and 'row' and 'elements' are not called. */
	bool complete;
	/* Adds the routes of two different hosts, which are at switches. -EINVAL with 'fault': one
	 * does not fit into a frame; -ENOMEM. */
	int (*add)(const struct route_maker *maker, void *scratch, struct route_set *set,
		uint32_t source, uint32_t destination, struct fault *fault);
	/* Hosts with the same number have the same routes to all other hosts. Below twice the
	 * number of switches. NULL: each host has routes of its own. */
	uint32_t (*row)(const struct route_maker *maker, uint32_t host);
	/* Elements of the first route between two hosts of these switches. */
	unsigned (*elements)(const struct route_maker *maker, uint32_t from, uint32_t to);
	/* NULL: 'add' needs no scratch space. Else NULL is returned for -ENOMEM. */
	void *(*scratch_create)(const struct route_maker *maker);
	void (*scratch_destroy)(void *scratch);
	void (*destroy)(struct route_maker *maker);
};

/* Makes a maker, and sets the VC rule of the set, which is empty. Graph and options outlive it.
 * Errors as for route_algorithm.routes; then '*maker' is NULL. */
typedef int (*route_maker_fn)(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct fault *fault);

/* Fills an empty set: route_algorithm.routes for an algorithm that has route_algorithm.pairs. */
int route_maker_fill(route_maker_fn make, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct fault *fault);
