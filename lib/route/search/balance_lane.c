/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "balance_lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define END        UINT32_MAX
#define CACHE_LINE 64u

static void *lines(size_t bytes)
{
	return aligned_alloc(CACHE_LINE, (bytes / CACHE_LINE + 1) * CACHE_LINE);
}

int balance_lane_init(struct balance_lane *lane, unsigned links, uint32_t room)
{
	*lane = (struct balance_lane){
		.links = links, .stride = links <= 2 ? links : (links + 3) / 4 * 4, .free = END};
	lane->arc = lines((size_t)room * lane->stride * sizeof(*lane->arc));
	lane->path = calloc(room + 1u, sizeof(*lane->path));
	lane->ready = calloc(room + 1u, sizeof(*lane->ready));
	/* A bucket has no empty chunk, and empty_highest() needs one more. */
	lane->chunk = lines((room + (size_t)1) * sizeof(*lane->chunk));
	if (lane->arc == NULL || lane->path == NULL || lane->ready == NULL || lane->chunk == NULL)
		return -ENOMEM;
	return 0;
}

void balance_lane_fini(struct balance_lane *lane)
{
	free(lane->arc);
	free(lane->path);
	free(lane->bucket);
	free(lane->chunk);
	free(lane->ready);
}

static inline uint32_t *arcs_of(const struct balance_lane *lane, uint32_t route)
{
	return lane->arc + (size_t)route * lane->stride;
}

void balance_lane_add(struct balance_lane *lane, uint32_t path, const uint32_t *arc)
{
	lane->path[lane->routes] = path;
	memcpy(arcs_of(lane, lane->routes), arc, lane->links * sizeof(*arc));
	lane->routes++;
}

static inline uint32_t sum_of(
	const struct balance_lane *lane, uint32_t route, const uint32_t *count)
{
	const uint32_t *arc = arcs_of(lane, route);
	uint32_t sum = 0;

	for (uint32_t i = 0; i < lane->links; i++)
		sum += count[arc[i]];
	return sum;
}

static uint32_t take_chunk(struct balance_lane *lane)
{
	uint32_t taken = lane->free;

	if (taken == END)
		return lane->fresh++;
	lane->free = lane->chunk[taken].next;
	return taken;
}

static inline void put(struct balance_lane *lane, uint32_t route, uint32_t sum)
{
	uint32_t *bucket = &lane->bucket[sum];
	struct balance_chunk *chunk;

	if (sum == 0)
		return;
	if (*bucket == END || lane->chunk[*bucket].routes == BALANCE_CHUNK_ROUTES) {
		uint32_t taken = take_chunk(lane);

		lane->chunk[taken].next = *bucket;
		lane->chunk[taken].routes = 0;
		*bucket = taken;
	}
	chunk = &lane->chunk[*bucket];
	chunk->route[chunk->routes++] = route;
}

int balance_lane_start(struct balance_lane *lane, const uint32_t *count)
{
	uint32_t max = 0;

	for (uint32_t i = 0; i < lane->routes; i++) {
		uint32_t sum = sum_of(lane, i, count);

		max = sum > max ? sum : max;
	}
	lane->top = max;
	lane->bucket = malloc((lane->top + 1u) * sizeof(*lane->bucket));
	if (lane->bucket == NULL)
		return -ENOMEM;
	memset(lane->bucket, 0xFF, (lane->top + 1u) * sizeof(*lane->bucket));
	for (uint32_t i = 0; i < lane->routes; i++)
		put(lane, i, sum_of(lane, i, count));
	return 0;
}

static bool comes_before(const struct balance_lane *lane, uint32_t a, uint32_t b)
{
	return balance_place(lane->path[a]) < balance_place(lane->path[b]);
}

/* The ready routes form a heap, with the first route of the table on top, because most of them drop
 * to a lower bucket and need not be sorted. */
static void ready_push(struct balance_lane *lane, uint32_t route)
{
	uint32_t at = lane->ready_routes++;

	for (; at > 0 && comes_before(lane, route, lane->ready[(at - 1) / 2]); at = (at - 1) / 2)
		lane->ready[at] = lane->ready[(at - 1) / 2];
	lane->ready[at] = route;
}

static void ready_pop(struct balance_lane *lane)
{
	uint32_t size = --lane->ready_routes, last = lane->ready[size], at = 0;

	for (uint32_t below; (below = 2 * at + 1) < size; at = below) {
		if (below + 1 < size &&
			comes_before(lane, lane->ready[below + 1], lane->ready[below]))
			below++;
		if (!comes_before(lane, lane->ready[below], last))
			break;
		lane->ready[at] = lane->ready[below];
	}
	lane->ready[at] = last;
}

/* Empties the highest bucket. Routes whose sum is still correct become ready. */
static void empty_highest(struct balance_lane *lane, const uint32_t *count)
{
	uint32_t at = lane->bucket[lane->top];

	lane->bucket[lane->top] = END;
	while (at != END) {
		struct balance_chunk *chunk = &lane->chunk[at];
		uint32_t next = chunk->next;

		if (next != END)
			__builtin_prefetch(&lane->chunk[next]);
		for (uint32_t i = 0; i < chunk->routes; i++)
			__builtin_prefetch(arcs_of(lane, chunk->route[i]));
		for (uint32_t i = 0; i < chunk->routes; i++) {
			uint32_t route = chunk->route[i];
			uint32_t sum = sum_of(lane, route, count);

			if (sum == lane->top)
				ready_push(lane, route);
			else
				put(lane, route, sum);
		}
		chunk->next = lane->free;
		lane->free = at;
		at = next;
	}
}

static bool find_ready(struct balance_lane *lane, const uint32_t *count)
{
	for (; lane->ready_routes > 0; ready_pop(lane)) {
		uint32_t sum = sum_of(lane, lane->ready[0], count);

		if (sum == lane->top)
			return true;
		put(lane, lane->ready[0], sum);
	}
	return false;
}

bool balance_lane_settle(struct balance_lane *lane, const uint32_t *count)
{
	uint32_t before = lane->top;

	while (!find_ready(lane, count)) {
		while (lane->top > 0 && lane->bucket[lane->top] == END)
			lane->top--;
		if (lane->top == 0)
			return false;
		if (lane->top != before)
			return false;
		empty_highest(lane, count);
	}
	return true;
}

void balance_lane_delete(struct balance_lane *lane, const struct route_arc *arcs, uint32_t *count)
{
	const uint32_t *arc = arcs_of(lane, lane->ready[0]);

	for (uint32_t i = 0; i < lane->links; i++)
		count[arc[i]] -= arcs[arc[i]].cost;
}

void balance_lane_put_out(struct balance_lane *lane, uint32_t path, uint32_t nowhere)
{
	uint32_t from = 0, to = lane->routes;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (lane->path[middle] < path)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == lane->routes || lane->path[from] != path)
		return;
	for (uint32_t i = 0; i < lane->links; i++)
		arcs_of(lane, from)[i] = nowhere;
}
