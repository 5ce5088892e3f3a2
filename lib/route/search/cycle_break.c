/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cycle_break.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route_root.h"

#define NO_WAY UINT8_MAX

/* Scratch space of the search for a path, which proceeds in rounds. Round i contains, for each arc,
 * the smallest number of ITBs of a path that takes it after i other links, and the previous arc. */
struct search {
	uint8_t *itbs;    /* [round * arcs + arc], NO_WAY if unreachable */
	uint32_t *before; /* [round * arcs + arc]: previous arc */
};

struct cycle_break {
	const struct route_graph *graph;
	struct acyclic *acyclic;
	struct search search; /* NULL until needed */
};

static bool has_hosts(const struct cycle_break *breaker, uint32_t at)
{
	return route_graph_hosts_at(breaker->graph, at) > 0;
}

/* Allows all turns at a switch without hosts if it does not outrank both neighbours. Turns straight
 * back are excluded, because no path needs them. */
static void allow_turns(struct cycle_break *breaker, const uint32_t *rank, uint32_t at)
{
	const struct route_graph *graph = breaker->graph;

	for (uint32_t in = graph->first_arc[at]; in < graph->first_arc[at + 1]; in++)
		for (uint32_t out = graph->first_arc[at]; out < graph->first_arc[at + 1]; out++) {
			uint32_t before = graph->arc[in].to, after = graph->arc[out].to;

			if (before != after && (rank[before] > rank[at] || rank[after] > rank[at]))
				acyclic_add(breaker->acyclic, graph->arc[in].back, out);
		}
}

struct cycle_break *cycle_break_create(const struct route_graph *graph, uint64_t seed)
{
	struct cycle_break *breaker = calloc(1, sizeof(*breaker));
	uint32_t *rank = switch_rank_make(graph, seed);

	if (breaker != NULL) {
		breaker->graph = graph;
		breaker->acyclic = acyclic_create(graph);
	}
	if (breaker == NULL || rank == NULL || breaker->acyclic == NULL) {
		free(rank);
		cycle_break_destroy(breaker);
		errno = ENOMEM;
		return NULL;
	}
	for (uint32_t at = 0; at < graph->switches; at++)
		if (!has_hosts(breaker, at))
			allow_turns(breaker, rank, at);
	free(rank);
	return breaker;
}

void cycle_break_destroy(struct cycle_break *breaker)
{
	if (breaker == NULL)
		return;
	acyclic_destroy(breaker->acyclic);
	free(breaker->search.itbs);
	free(breaker->search.before);
	free(breaker);
}

bool cycle_break_allow(struct cycle_break *breaker, uint32_t before, uint32_t after)
{
	return acyclic_add(breaker->acyclic, before, after);
}

/* Accepts the turns at switches without hosts first: if one is refused, the rest is not needed. */
bool cycle_break_path(struct cycle_break *breaker, struct route_path *path)
{
	const struct route_graph *graph = breaker->graph;

	path->itb = 0;
	for (unsigned i = 0; i + 1 < path->links; i++)
		if (!has_hosts(breaker, graph->arc[path->arc[i]].to) &&
			!acyclic_add(breaker->acyclic, path->arc[i], path->arc[i + 1]))
			return false;
	for (unsigned i = 0; i + 1 < path->links; i++)
		if (!acyclic_add(breaker->acyclic, path->arc[i], path->arc[i + 1]))
			path->itb |= (uint64_t)1 << i;
	return route_path_elements(path) <= ROUTE_ELEMENTS_MAX;
}

static int search_prepare(struct cycle_break *breaker)
{
	struct search *search = &breaker->search;
	size_t entries = (size_t)ROUTE_LINKS_MAX * breaker->graph->arcs;

	if (search->itbs == NULL)
		search->itbs = malloc(entries + 1);
	if (search->before == NULL)
		search->before = malloc((entries + 1) * sizeof(*search->before));
	if (search->itbs == NULL || search->before == NULL)
		return -ENOMEM;
	memset(search->itbs, NO_WAY, entries);
	return 0;
}

/* Continues from an arc reached in this round. Turns that agree with the current order can all be
 * accepted together. Other turns get an ITB, although some might not need one. */
static void search_on(struct cycle_break *breaker, unsigned round, uint32_t arc)
{
	const struct route_graph *graph = breaker->graph;
	struct search *search = &breaker->search;
	uint32_t at = graph->arc[arc].to;
	uint8_t itbs = search->itbs[(size_t)round * graph->arcs + arc];

	for (uint32_t next = graph->first_arc[at]; next < graph->first_arc[at + 1]; next++) {
		size_t entry = (size_t)(round + 1) * graph->arcs + next;
		bool agrees = acyclic_agrees(breaker->acyclic, arc, next);

		if ((!agrees && !has_hosts(breaker, at)) || itbs + !agrees >= search->itbs[entry])
			continue;
		search->itbs[entry] = (uint8_t)(itbs + !agrees);
		search->before[entry] = arc;
	}
}

/* Returns true if an arc of the round ends at 'to' with few enough ITBs for the path to fit. Sets
 * '*last' to the arc with the fewest. */
static bool search_done(
	const struct cycle_break *breaker, unsigned round, uint32_t to, uint32_t *last)
{
	const struct route_graph *graph = breaker->graph;
	const uint8_t *itbs = breaker->search.itbs + (size_t)round * graph->arcs;
	uint8_t min = NO_WAY;

	for (uint32_t out = graph->first_arc[to]; out < graph->first_arc[to + 1]; out++) {
		uint32_t arc = graph->arc[out].back;

		if (itbs[arc] >= min)
			continue;
		min = itbs[arc];
		*last = arc;
	}
	return min != NO_WAY && round + 3 + 2u * min <= ROUTE_ELEMENTS_MAX;
}

static bool search_run(
	struct cycle_break *breaker, uint32_t from, uint32_t to, unsigned *round, uint32_t *last)
{
	const struct route_graph *graph = breaker->graph;

	for (uint32_t arc = graph->first_arc[from]; arc < graph->first_arc[from + 1]; arc++)
		breaker->search.itbs[arc] = 0;
	for (*round = 0; !search_done(breaker, *round, to, last); (*round)++) {
		if (*round + 1 == ROUTE_LINKS_MAX)
			return false;
		for (uint32_t arc = 0; arc < graph->arcs; arc++)
			if (breaker->search.itbs[(size_t)*round * graph->arcs + arc] != NO_WAY)
				search_on(breaker, *round, arc);
	}
	return true;
}

/* Accepts the turns that agree with the order, before others change it. */
static void allow_agreed(struct cycle_break *breaker, const struct route_path *path)
{
	for (unsigned i = 0; i + 1 < path->links; i++)
		if (acyclic_agrees(breaker->acyclic, path->arc[i], path->arc[i + 1]))
			acyclic_add(breaker->acyclic, path->arc[i], path->arc[i + 1]);
}

int cycle_break_find(
	struct cycle_break *breaker, uint32_t from, uint32_t to, struct route_path *path)
{
	int result = search_prepare(breaker);
	unsigned round;
	uint32_t arc;

	if (result < 0)
		return result;
	if (!search_run(breaker, from, to, &round, &arc))
		return -ENOENT;
	*path = (struct route_path){.links = round + 1};
	for (;; round--) {
		path->arc[round] = arc;
		if (round == 0)
			break;
		arc = breaker->search.before[(size_t)round * breaker->graph->arcs + arc];
	}
	allow_agreed(breaker, path);
	return cycle_break_path(breaker, path) ? 0 : -ENOENT;
}

static int break_one(struct cycle_break *breaker, struct route_path *path, struct error *error)
{
	const struct route_graph *graph = breaker->graph;
	uint32_t from = graph->arc[graph->arc[path->arc[0]].back].to;
	uint32_t to = graph->arc[path->arc[path->links - 1]].to;
	int result = 0;

	if (!cycle_break_path(breaker, path))
		result = cycle_break_find(breaker, from, to, path);
	if (result == -ENOMEM)
		return route_graph_no_memory(graph, error);
	if (result < 0)
		return error_set(error, EINVAL,
			"%s: no path from %s to %s has at most %u route elements",
			graph->topology->name, graph->topology->switch_at[from].name,
			graph->topology->switch_at[to].name, ROUTE_ELEMENTS_MAX);
	return 0;
}

int cycle_break_all(const struct route_graph *graph, uint64_t seed, struct route_path *path,
	uint64_t paths, struct error *error)
{
	struct cycle_break *breaker = cycle_break_create(graph, seed);
	int result = 0;

	if (breaker == NULL)
		return route_graph_no_memory(graph, error);
	for (uint64_t i = 0; i < paths && result == 0; i++)
		if (path[i].links > 0)
			result = break_one(breaker, &path[i], error);
	cycle_break_destroy(breaker);
	return result;
}
