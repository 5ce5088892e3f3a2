/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A path between two switches during computation: arcs of a route_graph, and the places where a
 * host absorbs and re-injects the message (in-transit buffers, the thesis' chapter 3).
 * route_path_add() turns it into wire elements and assigns a host to each ITB. */

#include <stdint.h>

#include "route_algorithm.h"

/* A route ends with the port to the host and the host's element. */
#define ROUTE_LINKS_MAX   (ROUTE_ELEMENTS_MAX - 2)
#define ROUTE_LINKS_USUAL (FRAME_ROUTE_USUAL - 2) /* maximum of a complete maker */

struct route_path {
	uint32_t arc[ROUTE_LINKS_MAX];
	uint64_t itb; /* bit i: a host at the end of arc i absorbs; never set for the last arc */
	unsigned links;
};

/* Elements of the path in a frame. */
static inline unsigned route_path_elements(const struct route_path *path)
{
	return path->links + 2 + 2 * (unsigned)__builtin_popcountll(path->itb);
}

/* Returns -EINVAL with 'error': the path between two hosts or switches has too many elements. */
int route_path_refuse(const struct route_graph *graph, const char *from, const char *to,
	unsigned elements, struct error *error);

/* Adds the path from the source host's switch to the destination host's switch to the routes of the
 * pair. Each ITB gets a host of its switch, drawn by options->seed for this pair, to spread the
 * load of absorbing. Fails with -EINVAL: the route does not fit into a frame, or an ITB is at a
 * switch without hosts; -ENOMEM. */
int route_path_add(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t source, uint32_t destination, const struct route_path *path,
	struct error *error);

/* The same for a multi-step path. Bit i of 'steps' puts a 'next step' before arc i, never before
 * the first arc; at most ROUTE_STEPS_MAX bits are set. */
int route_path_add_steps(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t source, uint32_t destination, const struct route_path *path,
	uint64_t steps, struct error *error);

/* The same for a path without ITBs and steps in a layer of VCs (VC_STEPS_LAYERS). */
int route_path_add_layer(const struct route_graph *graph, struct route_set *set, uint32_t source,
	uint32_t destination, const struct route_path *path, unsigned layer, struct error *error);

/* route_path_add() for all hosts of two switches at once (ROUTE_PER_SWITCH_PAIR): adds the paths,
 * in this order, to the routes of each pair of different hosts. ITB hosts are drawn for each route.
 * Both switches have hosts; at most ROUTE_ALTERNATIVES_MAX paths. */
int route_path_add_all(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t from, uint32_t to, const struct route_path *path,
	unsigned paths, struct error *error);
