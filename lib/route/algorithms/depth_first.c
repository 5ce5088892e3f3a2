/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <string.h>

#include "route/search/legal_routes.h"
#include "up_down.h"

/* The depth-first tree:
 *     enter the root;
 *     at the last entered switch that still has neighbours outside the tree:
 *         enter the neighbour with the most links to switches in the tree,
 *         then the smallest mean distance to all others,
 *         then the smallest number;
 *     if there is none, return to the switch from which this one was entered.
 * Every link, inside or outside the tree, leads up to the end that was entered first.
 *
 * No cycle: up arcs strictly descend in the order of entering and down arcs strictly ascend, so a
 * closed chain of dependencies would need a turn from down to up, which legal routes do not have.
 * Connected: every switch but the root was entered over a link from an earlier one, so up arcs lead
 * from everywhere to the root, and the same links lead down again.
 *
 * The direction of links outside the tree is determined. One end of such a link is an ancestor of
 * the other (a depth-first search leaves no other links). If the link led up away from the root, it
 * would close a cycle of up arcs with the tree between its ends. Only the order of entering is
 * free. At a switch, each turn between two of its up links is forbidden: u (u - 1) turns for u up
 * links. The sum of u is the number of links, so the fewest turns are lost if all switches have
 * about the same u. A switch that is entered later has more up links, so the neighbour with the
 * most is entered first. The second rule was found by experiment
 * (docs/explanation/routing-and-itbs.md). */

#define NOWHERE UINT32_MAX

struct tree {
	const struct route_graph *graph;
	struct up_down_labels *labels;
	uint32_t *parent; /* by switch: predecessor in the tree */
	uint32_t *linked; /* by switch: number of links to switches in the tree */
	uint64_t *remote; /* by switch: sum of distances to all others of its component */
	uint32_t *distance, *queue;
	struct arrays arrays;
	uint32_t entered;
};

static uint64_t sum_distances(struct tree *tree, uint32_t from)
{
	uint32_t count = 0;
	uint64_t sum = 0;

	memset(tree->distance, 0xFF, tree->graph->switches * sizeof(*tree->distance));
	route_graph_spread(tree->graph, from, tree->distance, tree->queue, &count);
	for (uint32_t i = 0; i < count; i++)
		sum += tree->distance[tree->queue[i]];
	return sum;
}

static void enter(struct tree *tree, uint32_t at, uint32_t parent)
{
	const struct route_graph *graph = tree->graph;

	tree->labels->level[at] = tree->entered;
	tree->labels->order[tree->entered++] = at;
	tree->parent[at] = parent;
	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
		tree->linked[graph->arc[arc].to]++;
}

static bool goes_before(const struct tree *tree, uint32_t a, uint32_t b)
{
	if (tree->linked[a] != tree->linked[b])
		return tree->linked[a] > tree->linked[b];
	if (tree->remote[a] != tree->remote[b])
		return tree->remote[a] < tree->remote[b];
	return a < b;
}

static uint32_t choose_next(const struct tree *tree, uint32_t at)
{
	const struct route_graph *graph = tree->graph;
	uint32_t best = NOWHERE;

	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
		uint32_t to = graph->arc[arc].to;

		if (tree->labels->level[to] != NOWHERE)
			continue;
		if (best == NOWHERE || goes_before(tree, to, best))
			best = to;
	}
	return best;
}

static void grow_piece(struct tree *tree, uint32_t root)
{
	uint32_t at = root;

	enter(tree, root, NOWHERE);
	while (at != NOWHERE) {
		uint32_t next = choose_next(tree, at);

		if (next != NOWHERE)
			enter(tree, next, at);
		at = next != NOWHERE ? next : tree->parent[at];
	}
}

static void grow(struct tree *tree, uint32_t root)
{
	const struct route_graph *graph = tree->graph;

	for (uint32_t at = 0; at < graph->switches; at++)
		tree->remote[at] = sum_distances(tree, at);
	if (graph->switches > 0)
		grow_piece(tree, root);
	for (uint32_t at = 0; at < graph->switches; at++)
		if (tree->labels->level[at] == NOWHERE)
			grow_piece(tree, at);
}

static bool tree_allocate(struct tree *tree)
{
	size_t switches = tree->graph->switches;

	ARRAYS_ADD(tree, parent, switches);
	ARRAYS_ADD(tree, linked, switches);
	ARRAYS_ADD(tree, remote, switches);
	ARRAYS_ADD(tree, distance, switches);
	ARRAYS_ADD(tree, queue, switches);
	return !tree->arrays.failed;
}

int depth_first_labels_make(const struct route_graph *graph, uint32_t root,
	struct up_down_labels *labels, struct error *error)
{
	struct tree tree = {.graph = graph, .labels = labels};

	if (!up_down_labels_init(graph, labels) || !tree_allocate(&tree)) {
		arrays_free(&tree.arrays);
		up_down_labels_free(labels);
		return route_graph_no_memory(graph, error);
	}
	grow(&tree, root);
	for (uint32_t at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			labels->up[arc] = labels->level[graph->arc[arc].to] < labels->level[at];
	arrays_free(&tree.arrays);
	return 0;
}

int depth_first_label(const struct route_graph *graph, uint32_t root, bool *up, struct error *error)
{
	struct up_down_labels labels;
	int result = depth_first_labels_make(graph, root, &labels, error);

	if (result < 0)
		return result;
	memcpy(up, labels.up, graph->arcs * sizeof(*up));
	up_down_labels_free(&labels);
	return 0;
}

static int depth_first_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	return legal_routes_of_labels(depth_first_label, graph, options, set, error);
}

static int depth_first_pairs(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error)
{
	return legal_routes_pairs(depth_first_label, graph, options, maker, error);
}

static int depth_first_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	struct up_down_labels labels;
	int result = depth_first_labels_make(graph, options->root, &labels, error);

	if (result < 0)
		return result;
	result = up_down_tables_of_labels(graph, &labels, table, error);
	up_down_labels_free(&labels);
	return result;
}

const struct route_algorithm route_depth_first = {
	.name = "dfs",
	.summary = "up*/down* on a depth-first tree, which forbids fewer turns",
	.deadlock_free = true,
	.label = depth_first_label,
	.routes = depth_first_routes,
	.pairs = depth_first_pairs,
	.tables = depth_first_tables,
};
