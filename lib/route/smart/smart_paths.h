/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The candidate paths of smart-routing: for each ordered pair of switches with hosts the shortest
 * ones over allowed turns (all of them, or a sample above a limit). smart_lp.h distributes the
 * pair's routes among them. */

#include <stdbool.h>
#include <stdint.h>

#include "route/route_algorithm.h"
#include "route/route_graph.h"

/* The turns that routes may take. A turn leaves a switch by one arc after arriving on another; it
 * is one channel dependency. Turning back into the same link is never allowed. All other turns
 * between two arcs of a spanning tree are kept (turns_forbid() refuses them): a path along the tree
 * needs only these, so all pairs stay connected, however many turns are forbidden. The kept turns
 * alone close no cycle, because a cycle without turning back would be a cycle of the tree.
 *
 * Turns are numbered; those of arc a are first[a] .. first[a + 1] - 1, in the order of the arcs
 * that leave its end. */

struct turns {
	const struct route_graph *graph;
	uint32_t turns;
	uint32_t *first;
	bool *allowed; /* by turn */
	bool *kept;    /* by turn */
	struct arrays arrays;
};

/* Allows all turns except turning back. -ENOMEM; on success the caller calls turns_fini(). */
int turns_init(struct turns *turns, const struct route_graph *graph);
void turns_fini(struct turns *turns);

/* The turn from arc 'in' to arc 'out', which leaves the switch where 'in' ends. */
static inline uint32_t turns_number(const struct turns *turns, uint32_t in, uint32_t out)
{
	const struct route_graph *graph = turns->graph;

	return turns->first[in] + out - graph->first_arc[graph->arc[in].to];
}

/* Returns false, without effect, if the turn must be kept. */
bool turns_forbid(struct turns *turns, uint32_t turn);

struct smart_pair {
	uint32_t source, destination; /* switches */
	uint32_t routes;              /* to distribute over the paths */
	uint32_t weight;              /* pairs of hosts per route */
	uint32_t first_path;          /* its paths end where the next pair's begin */
};

struct smart_paths {
	uint32_t pairs, paths;
	struct smart_pair *pair; /* pairs + 1 of them, the last for first_path only */
	uint32_t *first_arc;     /* path p has arc[first_arc[p]] .. arc[first_arc[p + 1] - 1] */
	uint32_t *arc;
	uint32_t path_room, arc_room;
	bool large; /* it had more paths when smart_paths_find() ended */
};

/* With more pairs of switches, or paths per path that a pair may have, a linear program takes
 * seconds. Where pairs may have few, there are dozens of programs. (Irregular networks of 64
 * switches of degree 4 have 7,000 paths if a pair may have 8; a torus of 8x8 has 19,000.) */
#define SMART_EXACT_PAIRS 4096
#define SMART_EXACT_PATHS 1024

/* At most 'limit' paths per pair, drawn by options->seed if there are more. Disconnected pairs are
 * left out. -ENOMEM; -EINVAL if a path does not fit into a frame. On success the caller calls
 * smart_paths_fini(). */
int smart_paths_find(struct smart_paths *paths, const struct turns *turns,
	const struct route_options *options, uint32_t limit, struct error *error);
void smart_paths_fini(struct smart_paths *paths);

/* For callers that fill a set of paths themselves: adds a path of 'links' arcs, which the caller
 * writes. Returns NULL if out of memory. */
uint32_t *smart_paths_append(struct smart_paths *paths, uint32_t links);
