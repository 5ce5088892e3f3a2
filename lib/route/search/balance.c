/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "itb_routes.h"

#include <stdbool.h>

#include "balance_lane.h"

/* Limits of exact deletion; more paths, or more copies of them, would take seconds. */
#define EXACT_PATHS  (1u << 16)
#define EXACT_COPIES (1u << 20)
#define UNIT_MIXED   840 /* a multiple of most costs */

/* The best deletion. Let W be the counts of the n channels, S their sum, Q the sum of their
 * squares, and A(p) the sum of the counts along route p of L links. Without p, the variance times
 * n^2 is
 *
 *     n (Q - 2 A(p) + L) - (S - L)^2  =  (n Q - S^2)  +  n (L - 2 A(p)) + 2 S L - L^2
 *
 * so among routes of equal length the route with the largest A(p) is best (balance_lane.h). Routes
 * of different lengths are compared by the last three terms, in integers.
 *
 * If rates differ, 'variance' means the variance of the arcs' utilisation, weighted by their rates.
 * A count W is then the number of routes times the cost of the arc, n is the sum of 1 / cost, and S
 * remains the number of routes. L would be a sum of costs, but is small compared with A(p), so the
 * length is used. */
struct work {
	const struct minimal_paths *paths;
	struct balance *balance;
	uint32_t *count; /* by arc: the map, plus an element that is always 0, for removed routes */
	int64_t channels;  /* n times 'unit' */
	int64_t unit;      /* 1 if all costs are equal */
	uint64_t sum;      /* over all routes and arcs */
	bool too_many;     /* a count is above BALANCE_COUNT_MAX */
	uint32_t *pair_of; /* by path */
	uint32_t *spare;   /* by pair: copies in excess of one per pair of hosts */
	uint64_t *deleted; /* by path: when its last copy was deleted */
	uint64_t deletions;
	struct arrays arrays;
	struct balance_lane lane[ROUTE_LINKS_MAX + 1]; /* by length in links */
	struct balance_lane *busy[ROUTE_LINKS_MAX];    /* the lanes with routes */
	unsigned busy_lanes;
};

/* Returns a lower bound on the change in n^2 times the variance if the lane's best route is
 * deleted: 'top' may still be too high. */
static int64_t lane_score(const struct work *work, const struct balance_lane *lane)
{
	int64_t links = lane->links;

	return work->channels * (links - 2 * (int64_t)lane->top) +
	       work->unit * (2 * (int64_t)work->sum * links - links * links);
}

/* Returns the lane of the best deletion, the first if several are equal; NULL: no route is left. */
static struct balance_lane *best_lane(struct work *work)
{
	struct balance_lane *best;
	int64_t min, score;
	bool settled;

	do {
		best = NULL;
		settled = true;
		min = INT64_MAX;
		for (unsigned i = 0; i < work->busy_lanes; i++) {
			score = work->busy[i]->top == 0 ? INT64_MAX
							: lane_score(work, work->busy[i]);
			min = score < min ? score : min;
		}
		for (unsigned i = 0; i < work->busy_lanes && min != INT64_MAX && settled; i++) {
			struct balance_lane *lane = work->busy[i];

			if (lane->top == 0 || lane_score(work, lane) != min)
				continue;
			settled = balance_lane_settle(lane, work->count);
			if (best == NULL || balance_place(balance_lane_best(lane)) <
						    balance_place(balance_lane_best(best)))
				best = lane;
		}
	} while (!settled);
	return best;
}

static void delete_copy(struct work *work, struct balance_lane *lane)
{
	uint32_t path = balance_lane_best(lane), pair = work->pair_of[path];
	const struct minimal_pair *of = &work->paths->pair[pair];

	balance_lane_delete(lane, work->paths->graph->arc, work->count);
	work->sum -= lane->links;
	work->spare[pair]--;
	work->balance->copies[path]--;
	work->deleted[path] = ++work->deletions;
	if (work->balance->copies[path] == 0)
		balance_lane_put_out(lane, path, work->paths->graph->arcs);
	for (uint32_t i = 0; i < of->paths && work->spare[pair] == 0; i++)
		balance_lane_put_out(lane, of->first + i, work->paths->graph->arcs);
}

static void count_pair(struct work *work, size_t number, enum route_granularity granularity)
{
	const struct minimal_pair *pair = &work->paths->pair[number];
	const struct route_arc *arc = work->paths->graph->arc;
	uint32_t copies = granularity == ROUTE_PER_SWITCH_PAIR
				  ? 1
				  : minimal_paths_host_pairs(work->paths, number);

	if (pair->links == 0 || pair->paths == 0)
		return;
	work->spare[number] = copies * (pair->paths - 1u);
	for (uint32_t i = 0; i < pair->paths; i++) {
		work->pair_of[pair->first + i] = (uint32_t)number;
		work->balance->copies[pair->first + i] = copies;
	}
	for (uint32_t i = 0; i < (uint32_t)pair->paths * pair->links; i++) {
		uint64_t count = (uint64_t)copies * arc[pair->arc[i]].cost;

		work->too_many |= work->count[pair->arc[i]] + count > BALANCE_COUNT_MAX;
		work->count[pair->arc[i]] += work->too_many ? 0 : (uint32_t)count;
		work->sum += copies;
	}
}

static int fill_lanes(struct work *work)
{
	const struct minimal_paths *paths = work->paths;
	size_t pairs = (size_t)paths->places * paths->places;
	uint32_t room[ROUTE_LINKS_MAX + 1] = {0};

	for (size_t i = 0; i < pairs; i++)
		room[paths->pair[i].links] += paths->pair[i].paths;
	for (unsigned links = 1; links <= ROUTE_LINKS_MAX; links++) {
		if (room[links] == 0)
			continue;
		work->busy[work->busy_lanes++] = &work->lane[links];
		if (balance_lane_init(&work->lane[links], links, room[links]) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < pairs; i++) {
		const struct minimal_pair *pair = &paths->pair[i];

		for (uint32_t k = 0; pair->paths > 1 && k < pair->paths; k++)
			balance_lane_add(&work->lane[pair->links], pair->first + k,
				pair->arc + (size_t)k * pair->links);
	}
	for (unsigned i = 0; i < work->busy_lanes; i++)
		if (balance_lane_start(work->busy[i], work->count) < 0)
			return -ENOMEM;
	return 0;
}

static void count_channels(struct work *work)
{
	const struct route_graph *graph = work->paths->graph;

	work->unit = 1;
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		work->unit = graph->arc[arc].cost > 1 ? UNIT_MIXED : work->unit;
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		work->channels += work->unit / graph->arc[arc].cost;
}

static int work_init(struct work *work, const struct minimal_paths *paths, struct balance *balance)
{
	size_t pairs = (size_t)paths->places * paths->places;

	*work = (struct work){.paths = paths, .balance = balance};
	*balance = (struct balance){.excess = -1};
	count_channels(work);
	ARRAYS_ADD(balance, copies, paths->paths + 1u);
	ARRAYS_ADD(balance, order, paths->paths + 1u);
	ARRAYS_ADD(work, count, paths->graph->arcs + 1u);
	ARRAYS_ADD(work, pair_of, paths->paths + 1u);
	ARRAYS_ADD(work, spare, pairs + 1);
	ARRAYS_ADD(work, deleted, paths->paths + 1u);
	if (work->arrays.failed || balance->arrays.failed)
		return -ENOMEM;
	return 0;
}

static bool stays_longer(const struct work *work, uint32_t a, uint32_t b)
{
	bool remained[] = {work->balance->copies[a] > 0, work->balance->copies[b] > 0};

	if (remained[0] != remained[1])
		return remained[0];
	return !remained[0] && work->deleted[a] > work->deleted[b];
}

static void find_order(const struct work *work)
{
	const struct minimal_paths *paths = work->paths;

	for (size_t number = 0; number < (size_t)paths->places * paths->places; number++) {
		const struct minimal_pair *pair = &paths->pair[number];
		uint8_t *order = work->balance->order + pair->first;

		for (uint8_t i = 0; i < pair->paths; i++) {
			unsigned at = i;

			for (; at > 0 &&
				stays_longer(work, pair->first + i, pair->first + order[at - 1]);
				at--)
				order[at] = order[at - 1];
			order[at] = i;
		}
	}
}

static bool is_large(const struct minimal_paths *paths, enum route_granularity granularity)
{
	uint64_t copies = 0;

	for (size_t i = 0;
		granularity == ROUTE_PER_HOST_PAIR && i < (size_t)paths->places * paths->places;
		i++)
		copies += (uint64_t)paths->pair[i].paths * minimal_paths_host_pairs(paths, i);
	return paths->paths > EXACT_PATHS || copies > EXACT_COPIES;
}

static int delete_all(struct work *work, enum route_granularity granularity, struct error *error)
{
	const struct minimal_paths *paths = work->paths;
	const char *name = paths->graph->topology->name;
	struct balance_lane *lane;

	for (size_t i = 0; i < (size_t)paths->places * paths->places; i++)
		count_pair(work, i, granularity);
	if (work->too_many)
		return error_set(error, EINVAL, "%s: too many routes to balance", name);
	if (fill_lanes(work) < 0)
		return error_set(error, ENOMEM, "%s: not enough memory for the routes", name);
	while ((lane = best_lane(work)) != NULL)
		delete_copy(work, lane);
	find_order(work);
	return 0;
}

int balance_make(const struct minimal_paths *paths, enum route_granularity granularity,
	struct balance *balance, struct error *error)
{
	struct work work;
	int result;

	if (work_init(&work, paths, balance) < 0)
		result = route_graph_no_memory(paths->graph, error);
	else if (is_large(paths, granularity))
		result = balance_descend(paths, granularity, balance, error);
	else
		result = delete_all(&work, granularity, error);
	for (unsigned links = 1; links <= ROUTE_LINKS_MAX; links++)
		balance_lane_fini(&work.lane[links]);
	arrays_free(&work.arrays);
	if (result < 0)
		balance_free(balance);
	return result;
}

void balance_free(struct balance *balance)
{
	arrays_free(&balance->arrays);
}
