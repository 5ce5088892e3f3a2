/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The routes of one length while balance.c deletes routes: finds the one with the largest sum of
 * the counts along it, or the first of several.
 *
 * Counts only decrease, and with them all sums. So routes are in buckets by the last computed sum,
 * which is an upper bound, and only those of the highest bucket are summed again: most drop to
 * lower buckets, and those that do not are the best ones.
 *
 * Almost all time goes into routes that are summed and drop (107 per deletion in a network of 512
 * switches), and most of that into memory latency. So a bucket is a list of chunks of many routes,
 * which are prefetched together. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "route/route_graph.h"

/* Counts above this are too large for the buckets. */
#define BALANCE_COUNT_MAX (UINT32_MAX >> 9)

/* The place of a path in the table of routes, which decides among equal ones. The thesis does not
 * say how its table is sorted. Sorted by pairs, the routes of the first pairs would always be
 * deleted first, which makes regular networks, with many equal routes, two to four times as uneven
 * as a random order. */
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
	uint32_t *arc;    /* route i: arc[i * stride] .. */
	uint32_t *path;   /* route i: its path's number, ascending */
	uint32_t *bucket; /* by sum: its first chunk, the only one that may have room */
	struct balance_chunk *chunk;
	uint32_t fresh;  /* first chunk that was never used */
	uint32_t free;   /* first chunk of the free list */
	uint32_t top;    /* highest bucket with routes; 0: none left */
	uint32_t *ready; /* heap of the routes in this bucket when it was emptied */
	uint32_t ready_routes;
};

/* Makes room for 'room' routes. May return -ENOMEM; call balance_lane_fini() in any case. */
int balance_lane_init(struct balance_lane *lane, unsigned links, uint32_t room);
void balance_lane_fini(struct balance_lane *lane);

/* Adds a route; path numbers must increase. */
void balance_lane_add(struct balance_lane *lane, uint32_t path, const uint32_t *arc);

/* Call this after the last route. 'count' is per arc, at most BALANCE_COUNT_MAX each. May return
 * -ENOMEM. */
int balance_lane_start(struct balance_lane *lane, const uint32_t *count);

/* One step towards the best route. Returns true if 'top' is now its bucket and balance_lane_best()
 * returns it, or false if 'top' has decreased and the call must be repeated. */
bool balance_lane_settle(struct balance_lane *lane, const uint32_t *count);

/* The path of the best route after balance_lane_settle() returned true. */
static inline uint32_t balance_lane_best(const struct balance_lane *lane)
{
	return lane->path[lane->ready[0]];
}

/* Subtracts one copy of the best route from the counts: for each of its arcs, the arc's cost. */
void balance_lane_delete(struct balance_lane *lane, const struct route_arc *arcs, uint32_t *count);

/* Excludes a path whose route cannot be deleted (again): replaces its arcs with 'nowhere', an arc
 * with count 0. Does nothing if the path is not in this lane. */
void balance_lane_put_out(struct balance_lane *lane, uint32_t path, uint32_t nowhere);
