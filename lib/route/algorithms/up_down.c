/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "up_down.h"

#include <stdlib.h>
#include <string.h>

#include "legal_routes.h"

/*
 * Up*\/down* (Autonet; the thesis' OSUD): levels are distances from the root, breadth first. An arc
 * is up if it leads to a lower level, or on the same level to the switch with the smaller number;
 * the others are down. Up arcs strictly descend in the order (level, number) and down arcs strictly
 * ascend, so a closed chain of dependencies would need a turn from down to up, and no legal route
 * has one: the dependency graph has no cycle. In a disconnected topology, each component without
 * the root is rooted at its first switch.
 */

#define NO_WAY UINT32_MAX

static void level_piece(const struct route_graph *graph, uint32_t root,
	struct up_down_labels *labels, uint32_t *tail)
{
	uint32_t head = *tail;

	labels->level[root] = 0;
	labels->order[(*tail)++] = root;
	for (; head < *tail; head++) {
		uint32_t at = labels->order[head];

		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
			uint32_t to = graph->arc[arc].to;

			if (labels->level[to] != NO_WAY)
				continue;
			labels->level[to] = labels->level[at] + 1;
			labels->order[(*tail)++] = to;
		}
	}
}

void up_down_labels_free(struct up_down_labels *labels)
{
	free(labels->level);
	free(labels->order);
	free(labels->up);
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
	struct up_down_labels *labels, struct fault *fault)
{
	uint32_t tail = 0;

	*labels = (struct up_down_labels){
		.level = malloc((graph->switches + 1u) * sizeof(*labels->level)),
		.order = calloc(graph->switches + 1u, sizeof(*labels->order)),
		.up = calloc(graph->arcs + 1u, sizeof(*labels->up)),
	};
	if (labels->level == NULL || labels->order == NULL || labels->up == NULL)
		goto err;
	memset(labels->level, 0xFF, graph->switches * sizeof(*labels->level));
	if (graph->switches > 0)
		level_piece(graph, root, labels, &tail);
	for (uint32_t at = 0; at < graph->switches; at++)
		if (labels->level[at] == NO_WAY)
			level_piece(graph, at, labels, &tail);
	for (uint32_t at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			labels->up[arc] = leads_up(labels, at, graph->arc[arc].to);
	if (sort_order(graph, labels) == 0)
		return 0;
err:
	up_down_labels_free(labels);
	return fault_set(fault, ENOMEM, "%s: no memory for its routes", graph->topology->name);
}

int up_down_label(const struct route_graph *graph, uint32_t root, bool *up, struct fault *fault)
{
	struct up_down_labels labels;
	int result = up_down_labels_make(graph, root, &labels, fault);

	if (result < 0)
		return result;
	memcpy(up, labels.up, graph->arcs * sizeof(*up));
	up_down_labels_free(&labels);
	return 0;
}

int up_down_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct fault *fault)
{
	return legal_routes_of_labels(up_down_label, graph, options, set, fault);
}

const struct route_algorithm route_up_down = {
	.name = "ud",
	.summary = "up*/down*: breadth-first tree, no up after down, a random shortest legal path",
	.deadlock_free = true,
	.label = up_down_label,
	.routes = up_down_routes,
	.tables = up_down_tables,
};
