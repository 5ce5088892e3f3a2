/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "shortest_trees.h"

#include <string.h>

/* The first trees grow before most of the load is known, so each tree is grown again. */
#define ROUNDS 3

/* Arrays indexed by switch. */
struct growth {
	uint32_t *distance, *order;
	uint64_t *cost, *flow;
	struct arrays arrays;
};

static uint32_t root_of(const struct shortest_trees *trees, uint32_t tree)
{
	const struct route_graph *graph = trees->graph;

	if (!trees->per_switch)
		return graph->host_switch[tree];
	return route_graph_hosts_at(graph, tree) > 0 ? tree : ROUTE_GRAPH_NONE;
}

/* Selects the arc to the root whose path has the smallest load. */
static void choose(
	const struct shortest_trees *trees, struct growth *growth, uint32_t *next, uint32_t at)
{
	const struct route_graph *graph = trees->graph;

	growth->cost[at] = UINT64_MAX;
	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
		uint32_t to = graph->arc[arc].to;
		uint64_t cost = trees->load[arc] + growth->cost[to];

		if (growth->distance[to] + 1 == growth->distance[at] && cost < growth->cost[at]) {
			growth->cost[at] = cost;
			next[at] = arc;
		}
	}
}

/* Adds the tree's load to its arcs ('sign' 1 or -1). growth->order holds 'count' switches. */
static void add_load(const struct shortest_trees *trees, struct growth *growth, uint32_t tree,
	uint32_t count, int sign)
{
	const struct route_graph *graph = trees->graph;
	uint32_t root = trees->root[tree];
	uint64_t hosts = trees->per_switch ? route_graph_hosts_at(graph, root) : 1;

	for (uint32_t i = 0; i < count; i++)
		growth->flow[growth->order[i]] =
			hosts * route_graph_hosts_at(graph, growth->order[i]);
	while (count-- > 1) {
		uint32_t at = growth->order[count], next = shortest_trees_next(trees, tree, at);

		trees->load[next] += (uint64_t)sign * growth->flow[at] * graph->arc[next].cost;
		growth->flow[graph->arc[next].to] += growth->flow[at];
	}
}

static void grow(struct shortest_trees *trees, struct growth *growth, uint32_t tree, bool again)
{
	const struct route_graph *graph = trees->graph;
	uint32_t root = trees->root[tree], count = 0;

	memset(growth->distance, 0xFF, graph->switches * sizeof(*growth->distance));
	route_graph_spread(graph, root, growth->distance, growth->order, &count);
	if (again)
		add_load(trees, growth, tree, count, -1);
	growth->cost[root] = 0;
	for (uint32_t i = 1; i < count; i++)
		choose(trees, growth, trees->next + (size_t)tree * graph->switches,
			growth->order[i]);
	add_load(trees, growth, tree, count, 1);
}

static void grow_all(struct shortest_trees *trees, struct growth *growth)
{
	memset(trees->next, 0xFF,
		(size_t)trees->trees * trees->graph->switches * sizeof(*trees->next));
	for (uint32_t tree = 0; tree < trees->trees; tree++)
		trees->root[tree] = root_of(trees, tree);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (uint32_t tree = 0; tree < trees->trees; tree++)
			if (trees->root[tree] != ROUTE_GRAPH_NONE)
				grow(trees, growth, tree, round > 0);
}

int shortest_trees_make(struct shortest_trees *trees, const struct route_graph *graph,
	bool per_switch, struct error *error)
{
	uint32_t count = per_switch ? graph->switches : graph->hosts;
	struct growth growth = {.arrays = {NULL}};

	*trees = (struct shortest_trees){.graph = graph, .per_switch = per_switch, .trees = count};
	ARRAYS_ADD(trees, root, count);
	ARRAYS_ADD(trees, next, (size_t)count * graph->switches);
	ARRAYS_ADD(trees, load, graph->arcs);
	ARRAYS_ADD(&growth, distance, graph->switches);
	ARRAYS_ADD(&growth, order, graph->switches);
	ARRAYS_ADD(&growth, cost, graph->switches);
	ARRAYS_ADD(&growth, flow, graph->switches);
	if (!trees->arrays.failed && !growth.arrays.failed)
		grow_all(trees, &growth);
	arrays_free(&growth.arrays);
	return trees->arrays.failed || growth.arrays.failed ? route_graph_no_memory(graph, error)
							    : 0;
}

void shortest_trees_free(struct shortest_trees *trees)
{
	arrays_free(&trees->arrays);
}

uint32_t shortest_trees_pairs(const struct shortest_trees *trees, uint32_t tree, uint32_t source)
{
	const struct route_graph *graph = trees->graph;

	if (shortest_trees_next(trees, tree, source) == ROUTE_GRAPH_NONE)
		return 0;
	return route_graph_hosts_at(graph, source) *
	       (trees->per_switch ? route_graph_hosts_at(graph, tree) : 1);
}

bool shortest_trees_path(
	const struct shortest_trees *trees, uint32_t tree, uint32_t source, struct route_path *path)
{
	uint32_t at = source, arc;

	*path = (struct route_path){.links = 0};
	for (; (arc = shortest_trees_next(trees, tree, at)) != ROUTE_GRAPH_NONE;
		at = trees->graph->arc[arc].to) {
		if (path->links < ROUTE_LINKS_MAX)
			path->arc[path->links] = arc;
		path->links++;
	}
	return trees->root[tree] != ROUTE_GRAPH_NONE && at == trees->root[tree];
}
