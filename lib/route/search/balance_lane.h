/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The routes of one length while balance.c deletes routes. Finds the route with the largest sum of
 * counts along it, or the first of several.
 *
 * Counts, and therefore sums, only decrease. Routes are stored in buckets by their last computed
 * sum, which is an upper bound. Only the routes of the highest bucket are summed again: most move
 * to lower buckets, and the rest are the best routes.
 *
 * Almost all time is spent on routes that move down (107 per deletion in a network of 512
 * switches), mostly waiting for memory. A bucket is therefore a list of chunks of many routes,
 * which are prefetched together. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "route/route_graph.h"

/* Counts above this are too large for the buckets. */
#define BALANCE_COUNT_MAX (UINT32_MAX >> 9)

/* Returns the position of a path in the table of routes, which decides among equal paths. The
 * thesis does not specify how its table is sorted. If it were sorted by pairs, the routes of the
 * first pairs would always be deleted first. Regular networks, which have many equal routes, would
 * then be two to four times as uneven as with a random order. */
static inline uint64_t balance_place(uint32_t path)
{
	return rng_mix(path + (uint64_t)0x9e3779b97f4a7c15u);
}

/* One cache line. */
#define BALANCE_CHUNK_ROUTES 14

struct balance_chunk {
	uint32_t next;   /* next chunk of the same bucket, or of the free list */
	uint32_t routes; /* in this chunk */
	uint32_t route[BALANCE_CHUNK_ROUTES];
};

struct balance_lane {
	uint32_t links;
	uint32_t routes;
	uint32_t stride;
	uint32_t *arc;    /* route i: arc[i * stride] and following */
	uint32_t *path;   /* route i: index of its path, ascending */
	uint32_t *bucket; /* by sum: first chunk, the only one that may be partly filled */
	struct balance_chunk *chunk;
	uint32_t fresh;  /* first unused chunk */
	uint32_t free;   /* first chunk of the free list */
	uint32_t top;    /* highest non-empty bucket; 0: no routes left */
	uint32_t *ready; /* heap of routes whose sum was found to be 'top' */
	uint32_t ready_routes;
};

/* Allocates memory for 'room' routes. Returns 0 or -ENOMEM. Always call balance_lane_fini(). */
int balance_lane_init(struct balance_lane *lane, unsigned links, uint32_t room);
void balance_lane_fini(struct balance_lane *lane);

/* Adds a route. Path indices must increase. */
void balance_lane_add(struct balance_lane *lane, uint32_t path, const uint32_t *arc);

/* Call after the last route is added. 'count' is per arc, at most BALANCE_COUNT_MAX. May return
 * -ENOMEM. */
int balance_lane_start(struct balance_lane *lane, const uint32_t *count);

/* Performs one step of the search for the best route. Returns true if balance_lane_best() now
 * returns a route with sum 'top', or false if 'top' has decreased and the call must be repeated. */
bool balance_lane_settle(struct balance_lane *lane, const uint32_t *count);

/* Returns the path of the best route, after balance_lane_settle() returned true. */
static inline uint32_t balance_lane_best(const struct balance_lane *lane)
{
	return lane->path[lane->ready[0]];
}

/* Subtracts one copy of the best route from the counts: on each of its arcs, the arc's cost. */
void balance_lane_delete(struct balance_lane *lane, const struct route_arc *arcs, uint32_t *count);

/* Excludes a path whose route cannot be deleted (again): replaces its arcs with 'nowhere', an arc
 * with count 0. Does nothing if the path is not in this lane. */
void balance_lane_put_out(struct balance_lane *lane, uint32_t path, uint32_t nowhere);
