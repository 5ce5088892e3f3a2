/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "smart_plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The cap is the largest load of the linear program.
 *     for each pair: assign the integer part of each flow; then assign the remainder, route by
 *         route, to the path with the smallest rise of the cost;
 *     while it helps: move a route of a pair to another of its paths if that costs less.
 * The cost is the sum of the squared loads over the arcs' costs, which balances whatever the
 * program leaves open, plus OVER_CAP for each host pair above the cap on an arc. It falls with each
 * move, so the loop ends; SWEEPS is an additional bound. */
#define SWEEPS   50
#define OVER_CAP ((int64_t)1 << 32)

struct share {
	const struct smart_paths *paths;
	const struct route_arc *arc;
	int64_t *load; /* by arc: host pairs times the arc's cost */
	int64_t cap;
	uint32_t *count; /* by path */
};

static void put(struct share *share, uint32_t path, int64_t weight)
{
	const struct smart_paths *paths = share->paths;

	for (uint32_t i = paths->first_arc[path]; i < paths->first_arc[path + 1]; i++)
		share->load[paths->arc[i]] += weight * share->arc[paths->arc[i]].cost;
}

static int64_t over_cap(const struct share *share, int64_t load)
{
	return load > share->cap ? load - share->cap : 0;
}

/* Returns the cost of one more route on the path, without the common factor 'weight'. */
static int64_t cost(const struct share *share, uint32_t path, int64_t weight)
{
	const struct smart_paths *paths = share->paths;
	int64_t sum = 0;

	for (uint32_t i = paths->first_arc[path]; i < paths->first_arc[path + 1]; i++) {
		int64_t load = share->load[paths->arc[i]];
		int64_t more = weight * share->arc[paths->arc[i]].cost;

		sum += 2 * load + more;
		sum += OVER_CAP * (over_cap(share, load + more) - over_cap(share, load));
	}
	return sum;
}

static uint32_t find_cheapest(const struct share *share, uint32_t pair, int64_t *min)
{
	const struct smart_pair *at = &share->paths->pair[pair];
	uint32_t best = at->first_path;

	*min = INT64_MAX;
	for (uint32_t p = at->first_path; p < at[1].first_path; p++) {
		int64_t here = cost(share, p, at->weight);

		if (here < *min) {
			*min = here;
			best = p;
		}
	}
	return best;
}

static void take_whole_parts(struct share *share, uint32_t pair, const double *flow)
{
	const struct smart_pair *at = &share->paths->pair[pair];
	uint32_t left = at->routes;

	for (uint32_t p = at->first_path; p < at[1].first_path; p++) {
		uint32_t whole = (uint32_t)floor(flow[p] / at->weight + 1e-6);

		share->count[p] = whole < left ? whole : left;
		left -= share->count[p];
		put(share, p, (int64_t)share->count[p] * at->weight);
	}
}

static void take_rest(struct share *share, uint32_t pair)
{
	const struct smart_pair *at = &share->paths->pair[pair];
	uint32_t left = at->routes;
	int64_t min;

	for (uint32_t p = at->first_path; p < at[1].first_path; p++)
		left -= share->count[p];
	for (; left > 0; left--) {
		uint32_t best = find_cheapest(share, pair, &min);

		share->count[best]++;
		put(share, best, at->weight);
	}
}

/* Moves each route of the pair to the path where it costs least. Returns true if any moved. */
static bool improve(struct share *share, uint32_t pair)
{
	const struct smart_pair *at = &share->paths->pair[pair];
	bool moved = false;

	for (uint32_t p = at->first_path; p < at[1].first_path; p++)
		for (uint32_t n = share->count[p]; n > 0; n--) {
			int64_t min;
			uint32_t best;

			put(share, p, -(int64_t)at->weight);
			best = find_cheapest(share, pair, &min);
			if (min == cost(share, p, at->weight)) {
				put(share, p, at->weight);
				break;
			}
			put(share, best, at->weight);
			share->count[p]--;
			share->count[best]++;
			moved = true;
		}
	return moved;
}

static int64_t find_cap(
	const struct smart_paths *paths, const struct route_graph *graph, const double *flow)
{
	uint32_t arcs = graph->arcs;
	double *load = calloc(arcs + 1u, sizeof(*load)), cap = 0;

	if (load == NULL)
		return -1;
	for (uint32_t p = 0; p < paths->paths; p++)
		for (uint32_t i = paths->first_arc[p]; i < paths->first_arc[p + 1]; i++)
			load[paths->arc[i]] += flow[p] * graph->arc[paths->arc[i]].cost;
	for (uint32_t arc = 0; arc < arcs; arc++)
		cap = fmax(cap, load[arc]);
	free(load);
	return (int64_t)ceil(cap - 1e-6);
}

int smart_share(const struct smart_paths *paths, const struct route_graph *graph,
	const double *flow, uint32_t *count)
{
	struct share share = {.paths = paths, .arc = graph->arc, .count = count};
	bool moved = true;

	share.cap = find_cap(paths, graph, flow);
	share.load = calloc(graph->arcs + 1u, sizeof(*share.load));
	if (share.cap < 0 || share.load == NULL) {
		free(share.load);
		return -ENOMEM;
	}
	for (uint32_t pair = 0; pair < paths->pairs; pair++)
		take_whole_parts(&share, pair, flow);
	for (uint32_t pair = 0; pair < paths->pairs; pair++)
		take_rest(&share, pair);
	for (unsigned sweep = 0; moved && sweep < SWEEPS; sweep++) {
		moved = false;
		for (uint32_t pair = 0; pair < paths->pairs; pair++)
			moved |= improve(&share, pair);
	}
	free(share.load);
	return 0;
}
