/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A way between two switches as algorithms see it while they work: arcs of a route_graph, and the
 * places where a host absorbs the message and re-injects it (in-transit buffers, the thesis'
 * chapter 3). route_path_add() turns it into wire elements and gives each ITB its host.
 */

#include <stdint.h>

#include "route_algorithm.h"

/* A route ends with the port to the host and the host's element. */
#define ROUTE_LINKS_MAX (ROUTE_ELEMENTS_MAX - 2)

struct route_path {
	uint32_t arc[ROUTE_LINKS_MAX];
	uint32_t itb; /* bit i: absorbed at the switch where arc i ends; never that of the last */
	unsigned links;
};

/* Elements that the path takes in a frame. */
static inline unsigned route_path_elements(const struct route_path *path)
{
	return path->links + 2 + 2 * (unsigned)__builtin_popcount(path->itb);
}

/* Appends the path from the source host's switch to the destination host's switch to the routes of
 * the pair. Each ITB gets a host of its switch, drawn by options->seed for this pair, so that the
 * load of absorbing is spread. -EINVAL: it does not fit into a frame, or an ITB stands at a switch
 * without hosts; -ENOMEM. */
int route_path_add(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t source, uint32_t destination, const struct route_path *path,
	struct fault *fault);

/* The same for all hosts of two switches at once (ROUTE_PER_SWITCH_PAIR): the paths, in this order,
 * to the routes of each pair of different hosts. The hosts of ITBs are drawn for each route. Both
 * switches have hosts; at most ROUTE_ALTERNATIVES_MAX paths. */
int route_path_add_all(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t from, uint32_t to, const struct route_path *path,
	unsigned paths, struct fault *fault);
