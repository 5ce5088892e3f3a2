/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "dragonfly_groups.h"

#include <string.h>

/* True if no link joins a port below 'end' to a port from 'end' on. */
static bool divides(const struct route_graph *graph, unsigned end)
{
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		if ((graph->arc[arc].port < end) != (graph->arc[graph->arc[arc].back].port < end))
			return false;
	return true;
}

/* Labels the parts that links at ports below 'end' connect, and returns the size of the largest.
 * 'queue' is scratch space. */
static uint32_t label(
	const struct route_graph *graph, unsigned end, uint32_t *part, uint32_t *queue)
{
	uint32_t largest = 0;

	memset(part, 0xFF, graph->switches * sizeof(*part));
	for (uint32_t first = 0; first < graph->switches; first++) {
		uint32_t tail = 0;

		if (part[first] != ROUTE_GRAPH_NONE)
			continue;
		part[queue[tail++] = first] = first;
		for (uint32_t head = 0; head < tail; head++)
			for (uint32_t arc = graph->first_arc[queue[head]];
				arc < graph->first_arc[queue[head] + 1]; arc++) {
				uint32_t to = graph->arc[arc].to;

				if (graph->arc[arc].port >= end || part[to] != ROUTE_GRAPH_NONE)
					continue;
				part[queue[tail++] = to] = first;
			}
		largest = tail > largest ? tail : largest;
	}
	return largest;
}

static bool global_leaves_group(const struct dragonfly_groups *groups)
{
	const struct route_graph *graph = groups->graph;

	for (uint32_t at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			if (!dragonfly_groups_is_local(groups, &graph->arc[arc]) &&
				groups->group[at] == groups->group[graph->arc[arc].to])
				return false;
	return true;
}

int dragonfly_groups_make(
	struct dragonfly_groups *groups, const struct route_graph *graph, struct error *error)
{
	uint32_t *queue;
	unsigned ports = 0;
	bool found = false;

	*groups = (struct dragonfly_groups){.graph = graph};
	ARRAYS_ADD(groups, group, graph->switches + 1u);
	ARRAYS_ADD(groups, piece, graph->switches + 1u);
	queue = arrays_add(&groups->arrays, graph->switches + 1u, sizeof(*queue));
	if (groups->arrays.failed) {
		dragonfly_groups_free(groups);
		return route_graph_no_memory(graph, error);
	}
	label(graph, TOPOLOGY_PORTS_MAX, groups->piece, queue);
	/* A group of n switches has n - 1 local ports. The largest groups that fit count; without
	 * local ports every switch is a group, which always fits. */
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		if (graph->arc[arc].port >= ports)
			ports = graph->arc[arc].port + 1u;
	for (unsigned end = ports + 1; end > 0 && !found; end--) {
		groups->local_ports = end - 1;
		found = divides(graph, end - 1) &&
			label(graph, end - 1, groups->group, queue) <= end &&
			global_leaves_group(groups);
	}
	return 0;
}

void dragonfly_groups_free(struct dragonfly_groups *groups)
{
	arrays_free(&groups->arrays);
}
