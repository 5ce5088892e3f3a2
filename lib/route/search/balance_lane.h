/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The routes of one length while balance.c deletes routes: it finds the one with the largest sum of
 * the counts along it, of equal ones the first.
 *
 * Counts only fall, and with them all sums. So routes lie in buckets by the sum last seen, which is
 * never less than the present one, and only those of the highest bucket are summed up anew: most
 * fall into lower buckets, and those that do not are the best ones.
 *
 * Nearly all of the time goes into routes that come up and fall (107 for each deletion in a network
 * of 512 switches), and most of that into waiting for memory. So a bucket is a list of chunks of
 * many routes, which can be fetched together.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rng.h"

/* Counts above this are too large for the buckets. */
#define BALANCE_COUNT_MAX (UINT32_MAX >> 9)

/* The place of a path in the table of routes, by which equal ones are told apart. The thesis does
 * not say how its table is sorted; by pairs, the routes of the first pairs would always go first,
 * which leaves regular networks, where many are equal, two to four times as uneven as a random
 * order. */
static inline uint64_t balance_place(uint32_t path)
{
	return rng_mix(path + (uint64_t)0x9e3779b97f4a7c15u);
}

/* One cache line. */
#define BALANCE_CHUNK_ROUTES 14

struct balance_chunk {
	uint32_t next;   /* chunk of the same bucket, or of those that are free */
	uint32_t routes; /* in this chunk */
	uint32_t route[BALANCE_CHUNK_ROUTES];
};

struct balance_lane {
	uint32_t links;
	uint32_t routes;
	uint32_t stride;
	uint32_t *arc;    /* route i: arc[i * stride] .. */
	uint32_t *path;   /* route i: its path's number, ascending */
	uint32_t *bucket; /* by sum: its first chunk, the only one that may have room left */
	struct balance_chunk *chunk;
	uint32_t fresh;  /* chunks from here on have never been used */
	uint32_t free;   /* the first of those that have been and are free */
	uint32_t sum;    /* no bucket above this has any; 0: nothing is left */
	uint32_t *ready; /* heap of those whose sum was this one when the bucket was emptied */
	uint32_t ready_routes;
};

/* Room for so many routes. -ENOMEM; balance_lane_fini() in any case. */
int balance_lane_init(struct balance_lane *lane, unsigned links, uint32_t room);
void balance_lane_fini(struct balance_lane *lane);

/* Appends a route; its path's number is larger than those before. */
void balance_lane_add(struct balance_lane *lane, uint32_t path, const uint32_t *arc);

/* After the last route. 'count' is by arc, at most BALANCE_COUNT_MAX each. -ENOMEM. */
int balance_lane_start(struct balance_lane *lane, const uint32_t *count);

/* Makes 'sum' that of a route, the one that balance_lane_best() then names, or does so after
 * 'sum' has become smaller: false then, and it is to be called again. */
bool balance_lane_settle(struct balance_lane *lane, const uint32_t *count);

/* The path of the best route, once settled. */
static inline uint32_t balance_lane_best(const struct balance_lane *lane)
{
	return lane->path[lane->ready[0]];
}

/* Takes the best route out of the counts, once. */
void balance_lane_delete(struct balance_lane *lane, uint32_t *count);

/* The path's route cannot be deleted (again): from now on it is a route over 'nowhere' only, an arc
 * whose count is 0. Nothing for a path that is not here. */
void balance_lane_put_out(struct balance_lane *lane, uint32_t path, uint32_t nowhere);
