/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "balance_lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define END UINT32_MAX

static inline uint32_t *record_of(const struct balance_lane *lane, uint32_t route, uint32_t links)
{
	return lane->record + (size_t)route * (links + 1);
}

int balance_lane_init(struct balance_lane *lane, unsigned links, uint32_t room)
{
	*lane = (struct balance_lane){.links = links};
	lane->record = calloc((size_t)room * (links + 1u) + 1, sizeof(*lane->record));
	lane->path = calloc(room + 1u, sizeof(*lane->path));
	lane->ready = calloc(room + 1u, sizeof(*lane->ready));
	if (lane->record == NULL || lane->path == NULL || lane->ready == NULL)
		return -ENOMEM;
	return 0;
}

void balance_lane_fini(struct balance_lane *lane)
{
	free(lane->record);
	free(lane->path);
	free(lane->bucket);
	free(lane->ready);
}

void balance_lane_add(struct balance_lane *lane, uint32_t path, const uint32_t *arc)
{
	lane->path[lane->routes] = path;
	memcpy(record_of(lane, lane->routes, lane->links) + 1, arc, lane->links * sizeof(*arc));
	lane->routes++;
}

static inline uint32_t sum_up(const uint32_t *record, uint32_t links, const uint32_t *count)
{
	uint32_t sum = 0;

	for (uint32_t i = 1; i <= links; i++)
		sum += count[record[i]];
	return sum;
}

static inline void put(struct balance_lane *lane, uint32_t *record, uint32_t route, uint32_t sum)
{
	if (sum == 0)
		return;
	record[0] = lane->bucket[sum];
	lane->bucket[sum] = route;
}

int balance_lane_start(struct balance_lane *lane, const uint32_t *count)
{
	for (uint32_t i = 0; i < lane->routes; i++) {
		uint32_t sum = sum_up(record_of(lane, i, lane->links), lane->links, count);

		lane->sum = sum > lane->sum ? sum : lane->sum;
	}
	lane->bucket = malloc((lane->sum + 1u) * sizeof(*lane->bucket));
	if (lane->bucket == NULL)
		return -ENOMEM;
	memset(lane->bucket, 0xFF, (lane->sum + 1u) * sizeof(*lane->bucket));
	for (uint32_t i = 0; i < lane->routes; i++) {
		uint32_t *record = record_of(lane, i, lane->links);

		put(lane, record, i, sum_up(record, lane->links, count));
	}
	return 0;
}

/* The ready routes are a heap, the first route on top: most of them leave it for a lower bucket and
 * need not be sorted. */
static void ready_push(struct balance_lane *lane, uint32_t route)
{
	uint32_t at = lane->ready_routes++;

	for (; at > 0 && lane->ready[(at - 1) / 2] > route; at = (at - 1) / 2)
		lane->ready[at] = lane->ready[(at - 1) / 2];
	lane->ready[at] = route;
}

static void ready_pop(struct balance_lane *lane)
{
	uint32_t size = --lane->ready_routes, last = lane->ready[size], at = 0;

	for (uint32_t below; (below = 2 * at + 1) < size; at = below) {
		if (below + 1 < size && lane->ready[below + 1] < lane->ready[below])
			below++;
		if (lane->ready[below] >= last)
			break;
		lane->ready[at] = lane->ready[below];
	}
	lane->ready[at] = last;
}

/* Empties the highest bucket: routes whose sum is still right become ready. */
static inline void empty_bucket(struct balance_lane *lane, uint32_t links, const uint32_t *count)
{
	uint32_t route = lane->bucket[lane->sum];

	lane->bucket[lane->sum] = END;
	while (route != END) {
		uint32_t *record = record_of(lane, route, links);
		uint32_t next = record[0], sum;

		if (next != END)
			__builtin_prefetch(record_of(lane, next, links));
		sum = sum_up(record, links, count);
		if (sum == lane->sum)
			ready_push(lane, route);
		else
			put(lane, record, route, sum);
		route = next;
	}
}

/* The usual lengths get code of their own. */
static void empty_highest(struct balance_lane *lane, const uint32_t *count)
{
	switch (lane->links) {
	case 2:
		empty_bucket(lane, 2, count);
		break;
	case 3:
		empty_bucket(lane, 3, count);
		break;
	case 4:
		empty_bucket(lane, 4, count);
		break;
	case 5:
		empty_bucket(lane, 5, count);
		break;
	case 6:
		empty_bucket(lane, 6, count);
		break;
	case 7:
		empty_bucket(lane, 7, count);
		break;
	case 8:
		empty_bucket(lane, 8, count);
		break;
	default:
		empty_bucket(lane, lane->links, count);
	}
}

/* The first of the ready routes whose sum has not become smaller meanwhile. */
static bool find_ready(struct balance_lane *lane, const uint32_t *count)
{
	for (; lane->ready_routes > 0; ready_pop(lane)) {
		uint32_t *record = record_of(lane, lane->ready[0], lane->links);
		uint32_t sum = sum_up(record, lane->links, count);

		if (sum == lane->sum)
			return true;
		put(lane, record, lane->ready[0], sum);
	}
	return false;
}

bool balance_lane_settle(struct balance_lane *lane, const uint32_t *count)
{
	uint32_t before = lane->sum;

	while (!find_ready(lane, count)) {
		while (lane->sum > 0 && lane->bucket[lane->sum] == END)
			lane->sum--;
		if (lane->sum == 0)
			return false;
		if (lane->sum != before)
			return false;
		empty_highest(lane, count);
	}
	return true;
}

void balance_lane_delete(struct balance_lane *lane, uint32_t *count)
{
	const uint32_t *record = record_of(lane, lane->ready[0], lane->links);

	for (uint32_t i = 1; i <= lane->links; i++)
		count[record[i]]--;
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
	for (uint32_t i = 1; i <= lane->links; i++)
		record_of(lane, from, lane->links)[i] = nowhere;
}
