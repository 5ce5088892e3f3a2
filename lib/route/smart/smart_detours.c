/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "smart_plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "route/route_path.h"

/*     for each destination: cost of the cheapest path to it from every arc, with label correction
 *         over allowed turns, backwards (prices are positive, so the paths have no loop);
 *     for each of its pairs: if the cheapest path costs less than the pair's price, add it. */
#define GAIN_MIN 1e-6

struct search {
	const struct turns *turns;
	const struct route_graph *graph;
	const double *price; /* by arc */
	double *cost;        /* by arc: to the destination, including the arc itself */
	uint32_t *next;      /* by arc: the next arc; ROUTE_GRAPH_NONE at the destination */
	uint32_t *queue;     /* ring buffer of arcs */
	bool *queued;
	uint32_t head, waiting;
	struct arrays arrays;
};

static bool search_init(
	struct search *search, const struct turns *turns, const struct smart_prices *prices)
{
	size_t arcs = turns->graph->arcs;

	*search = (struct search){
		.turns = turns,
		.graph = turns->graph,
		.price = prices->arc,
	};
	ARRAYS_ADD(search, cost, arcs);
	ARRAYS_ADD(search, next, arcs);
	ARRAYS_ADD(search, queue, arcs);
	ARRAYS_ADD(search, queued, arcs);
	return !search->arrays.failed;
}

static void push(struct search *search, uint32_t arc)
{
	if (search->queued[arc])
		return;
	search->queued[arc] = true;
	search->queue[(search->head + search->waiting++) % search->graph->arcs] = arc;
}

static uint32_t pop(struct search *search)
{
	uint32_t arc = search->queue[search->head];

	search->head = (search->head + 1) % search->graph->arcs;
	search->waiting--;
	search->queued[arc] = false;
	return arc;
}

static void correct_all_before(struct search *search, uint32_t out)
{
	const struct route_graph *graph = search->graph;
	uint32_t at = graph->arc[graph->arc[out].back].to;

	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
		uint32_t in = graph->arc[arc].back;
		double cost = search->price[in] + search->cost[out];

		if (!search->turns->allowed[turns_number(search->turns, in, out)] ||
			cost >= search->cost[in])
			continue;
		search->cost[in] = cost;
		search->next[in] = out;
		push(search, in);
	}
}

static void search_run(struct search *search, uint32_t destination)
{
	const struct route_graph *graph = search->graph;

	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		search->cost[arc] = HUGE_VAL;
	for (uint32_t arc = graph->first_arc[destination]; arc < graph->first_arc[destination + 1];
		arc++) {
		uint32_t in = graph->arc[arc].back;

		search->cost[in] = search->price[in];
		search->next[in] = ROUTE_GRAPH_NONE;
		push(search, in);
	}
	while (search->waiting > 0)
		correct_all_before(search, pop(search));
}

static uint32_t find_first(const struct search *search, uint32_t source)
{
	const struct route_graph *graph = search->graph;
	uint32_t best = graph->first_arc[source];

	for (uint32_t arc = best; arc < graph->first_arc[source + 1]; arc++)
		if (search->cost[arc] < search->cost[best])
			best = arc;
	return best;
}

static int add_way(struct smart_paths *paths, const struct search *search, uint32_t first)
{
	uint32_t arcs[ROUTE_LINKS_MAX], links = 0, *path;

	for (uint32_t arc = first; arc != ROUTE_GRAPH_NONE; arc = search->next[arc]) {
		if (links == ROUTE_LINKS_MAX)
			return 0;
		arcs[links++] = arc;
	}
	path = smart_paths_append(paths, links);
	if (path == NULL)
		return -ENOMEM;
	memcpy(path, arcs, links * sizeof(*arcs));
	return 1;
}

static int copy_paths(struct smart_paths *to, const struct smart_paths *from, uint32_t pair)
{
	for (uint32_t p = from->pair[pair].first_path; p < from->pair[pair + 1].first_path; p++) {
		uint32_t links = from->first_arc[p + 1] - from->first_arc[p];
		uint32_t *path = smart_paths_append(to, links);

		if (path == NULL)
			return -ENOMEM;
		memcpy(path, from->arc + from->first_arc[p], links * sizeof(*path));
	}
	return 0;
}

static int extend(struct smart_paths *more, const struct smart_paths *paths, struct search *search,
	const struct smart_prices *prices, uint32_t *added, double *bound)
{
	for (uint32_t k = 0; k < paths->pairs; k++) {
		uint32_t first;
		int result;

		if (k == 0 || paths->pair[k].destination != paths->pair[k - 1].destination)
			search_run(search, paths->pair[k].destination);
		more->pair[k] = paths->pair[k];
		more->pair[k].first_path = more->paths;
		if (copy_paths(more, paths, k) < 0)
			return -ENOMEM;
		first = find_first(search, paths->pair[k].source);
		*bound += search->cost[first] * paths->pair[k].routes * paths->pair[k].weight;
		if (search->cost[first] > prices->pair[k] - GAIN_MIN)
			continue;
		result = add_way(more, search, first);
		if (result < 0)
			return result;
		*added += (uint32_t)result;
	}
	more->pairs = paths->pairs;
	more->pair[more->pairs].first_path = more->paths;
	return 0;
}

int smart_detours_add(struct smart_paths *paths, const struct turns *turns,
	const struct smart_prices *prices, uint32_t *added, double *bound)
{
	struct smart_paths more = {
		.pair = calloc(paths->pairs + 1u, sizeof(*more.pair)), .large = paths->large};
	struct search search;
	int result = -ENOMEM;

	*added = 0;
	*bound = 0;
	if (search_init(&search, turns, prices) && more.pair != NULL)
		result = extend(&more, paths, &search, prices, added, bound);
	arrays_free(&search.arrays);
	if (result < 0) {
		smart_paths_fini(&more);
		return result;
	}
	smart_paths_fini(paths);
	*paths = more;
	return 0;
}
