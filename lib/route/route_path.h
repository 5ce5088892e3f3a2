/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A path between two switches during computation: arcs of a route_graph, and the positions at which
 * a host absorbs and re-injects the message (in-transit buffers, the thesis' chapter 3).
 * route_path_add() converts it to wire elements and assigns a host to each ITB. */

#include <stdint.h>

#include "route_algorithm.h"

/* A route ends with the port to the host and the host element. */
#define ROUTE_LINKS_MAX   (ROUTE_ELEMENTS_MAX - 2)
#define ROUTE_LINKS_USUAL (FRAME_ROUTE_USUAL - 2) /* maximum for a complete maker */

struct route_path {
	uint32_t arc[ROUTE_LINKS_MAX];
	uint64_t itb; /* bit i: a host at the end of arc i absorbs; never set for the last arc */
	unsigned links;
};

/* Returns the number of route elements that the path takes in a frame. */
static inline unsigned route_path_elements(const struct route_path *path)
{
	return path->links + 2 + 2 * (unsigned)__builtin_popcountll(path->itb);
}

/* Sets an error: the path between two hosts or switches has too many elements. Returns -EINVAL. */
int route_path_refuse(const struct route_graph *graph, const char *from, const char *to,
	unsigned elements, struct error *error);

/* Adds the path from the source host's switch to the destination host's switch to the routes of the
 * pair. To distribute the load, each ITB gets a host of its switch, drawn for this pair from
 * options->seed. Returns 0, -ENOMEM, or -EINVAL if the route does not fit into a frame or an ITB is
 * at a switch without hosts. */
int route_path_add(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t source, uint32_t destination, const struct route_path *path,
	struct error *error);

/* Like route_path_add(), for a multi-step path. Bit i of 'steps' inserts a 'next step' before arc
 * i, never before the first arc. At most ROUTE_STEPS_MAX bits are set. */
int route_path_add_steps(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t source, uint32_t destination, const struct route_path *path,
	uint64_t steps, struct error *error);

/* Like route_path_add(), for a path without ITBs and steps in a layer of VCs (VC_STEPS_LAYERS). */
int route_path_add_layer(const struct route_graph *graph, struct route_set *set, uint32_t source,
	uint32_t destination, const struct route_path *path, unsigned layer, struct error *error);

/* Like route_path_add(), for all hosts of two switches (ROUTE_PER_SWITCH_PAIR): adds the paths, in
 * this order, to the routes of each pair of different hosts. ITB hosts are drawn for each route.
 * Both switches must have hosts; 'paths' is at most ROUTE_ALTERNATIVES_MAX. */
int route_path_add_all(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t from, uint32_t to, const struct route_path *path,
	unsigned paths, struct error *error);
