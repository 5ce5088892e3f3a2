/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "up_down.h"

#include <stdlib.h>
#include <string.h>

#include "route/search/legal_routes.h"

/* Up*\/down* (Autonet; the thesis' OSUD): the level of a switch is its distance from the root. An
 * arc is up if it leads to a lower level, or on the same level to the switch with the smaller
 * number; the others are down. Up arcs strictly descend in the order (level, number) and down arcs
 * strictly ascend. A closed chain of dependencies would therefore need a turn from down to up,
 * which no legal route has: the dependency graph has no cycle. In a disconnected topology, each
 * component without the root is rooted at its first switch. */

bool up_down_labels_init(const struct route_graph *graph, struct up_down_labels *labels)
{
	*labels = (struct up_down_labels){0};
	ARRAYS_ADD(labels, level, graph->switches);
	ARRAYS_ADD(labels, order, graph->switches);
	ARRAYS_ADD(labels, up, graph->arcs);
	if (!labels->arrays.failed)
		memset(labels->level, 0xFF, graph->switches * sizeof(*labels->level));
	return !labels->arrays.failed;
}

void up_down_labels_free(struct up_down_labels *labels)
{
	arrays_free(&labels->arrays);
}

static bool leads_up(const struct up_down_labels *labels, uint32_t from, uint32_t to)
{
	if (labels->level[from] != labels->level[to])
		return labels->level[to] < labels->level[from];
	return to < from;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static int sort_order(const struct route_graph *graph, struct up_down_labels *labels)
{
	uint64_t *key = calloc(graph->switches + 1u, sizeof(*key));

	if (key == NULL)
		return -ENOMEM;
	for (uint32_t at = 0; at < graph->switches; at++)
		key[at] = (uint64_t)labels->level[at] << 32 | at;
	qsort(key, graph->switches, sizeof(*key), compare_keys);
	for (uint32_t i = 0; i < graph->switches; i++)
		labels->order[i] = (uint32_t)key[i];
	free(key);
	return 0;
}

int up_down_labels_make(const struct route_graph *graph, uint32_t root,
	struct up_down_labels *labels, struct error *error)
{
	uint32_t count = 0;

	if (!up_down_labels_init(graph, labels))
		goto err;
	if (graph->switches > 0)
		route_graph_spread(graph, root, labels->level, labels->order, &count);
	for (uint32_t at = 0; at < graph->switches; at++)
		if (labels->level[at] == ROUTE_GRAPH_NONE)
			route_graph_spread(graph, at, labels->level, labels->order, &count);
	for (uint32_t at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			labels->up[arc] = leads_up(labels, at, graph->arc[arc].to);
	if (sort_order(graph, labels) == 0)
		return 0;
err:
	up_down_labels_free(labels);
	return route_graph_no_memory(graph, error);
}

int up_down_label(const struct route_graph *graph, uint32_t root, bool *up, struct error *error)
{
	struct up_down_labels labels;
	int result = up_down_labels_make(graph, root, &labels, error);

	if (result < 0)
		return result;
	memcpy(up, labels.up, graph->arcs * sizeof(*up));
	up_down_labels_free(&labels);
	return 0;
}

static int up_down_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	return legal_routes_of_labels(up_down_label, graph, options, set, error);
}

static int up_down_pairs(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error)
{
	return legal_routes_pairs(up_down_label, graph, options, maker, error);
}

const struct route_algorithm route_up_down = {
	.name = "ud",
	.summary = "up*/down*: breadth-first tree, no up after down, a random shortest legal path",
	.deadlock_free = true,
	.label = up_down_label,
	.routes = up_down_routes,
	.pairs = up_down_pairs,
	.tables = up_down_tables,
};

/* The thesis' RSUD, RRSUD and DET: the interface has several shortest legal routes to each
 * destination, up to the limit, and chooses when it sends. The three differ only in the selector.
 * They have no tables, because a table has only one path. */
#define UP_DOWN_VARIANT(id, name_text, selector_name, summary_text) \
	const struct route_algorithm route_##id = {                 \
		.name = name_text,                                  \
		.summary = summary_text,                            \
		.deadlock_free = true,                              \
		.alternatives = ROUTE_ALTERNATIVES_MAX,             \
		.selector = selector_name,                          \
		.label = up_down_label,                             \
		.routes = up_down_routes,                           \
		.pairs = up_down_pairs,                             \
	};

UP_DOWN_VARIANT(ud_random, "ud-random", "random",
	"up*/down* with all shortest legal paths, one at random for each message")
UP_DOWN_VARIANT(
	ud_rr, "ud-rr", "round-robin", "up*/down* with all shortest legal paths, taken in turn")
UP_DOWN_VARIANT(ud_det, "ud-det", "contention",
	"up*/down* with all shortest legal paths, chosen by contention coefficient")
