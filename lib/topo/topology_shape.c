/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_shape.h"

#include <errno.h>

#include "base/arrays.h"

#define UNREACHED UINT32_MAX

/* Neighbours of switch s: neighbour[first[s]] .. [first[s + 1] - 1], one for each link. */
struct graph {
	uint32_t switches;
	uint32_t *first, *neighbour;
	uint32_t *distance, *queue;
	struct arrays arrays;
};

static int graph_allocate(struct graph *graph, const struct topology *topology)
{
	size_t switches = (size_t)topology->switches + 1;

	graph->switches = topology->switches;
	ARRAYS_ADD(graph, first, switches);
	ARRAYS_ADD(graph, neighbour, 2 * (size_t)topology->links + 1);
	ARRAYS_ADD(graph, distance, switches);
	ARRAYS_ADD(graph, queue, switches);
	return graph->arrays.failed ? -ENOMEM : 0;
}

static void graph_fill(struct graph *graph, const struct topology *topology)
{
	struct topology_port peer;
	uint32_t links = 0;

	for (uint32_t s = 0; s < graph->switches; s++) {
		struct topology_port port = {DEVICE_SWITCH, s, 0};

		graph->first[s] = links;
		for (; port.port < topology->switch_at[s].ports; port.port++)
			if (topology_peer(topology, port, &peer) && peer.kind == DEVICE_SWITCH)
				graph->neighbour[links++] = peer.device;
	}
	graph->first[graph->switches] = links;
}

/* Sums the distances from one switch; false if it does not reach all others. */
static bool add_distances(
	struct graph *graph, uint32_t from, struct topology_shape *shape, uint64_t *sum)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t s = 0; s < graph->switches; s++)
		graph->distance[s] = UNREACHED;
	graph->distance[from] = 0;
	graph->queue[tail++] = from;
	while (head < tail) {
		uint32_t at = graph->queue[head++], far = graph->distance[at];

		*sum += far;
		shape->diameter = far > shape->diameter ? far : shape->diameter;
		for (uint32_t i = graph->first[at]; i < graph->first[at + 1]; i++)
			if (graph->distance[graph->neighbour[i]] == UNREACHED) {
				graph->distance[graph->neighbour[i]] = far + 1;
				graph->queue[tail++] = graph->neighbour[i];
			}
	}
	return tail == graph->switches;
}

static void measure_distances(struct graph *graph, struct topology_shape *shape)
{
	uint64_t sum = 0, pairs = (uint64_t)graph->switches * (graph->switches - 1);

	if (graph->switches < 2 || graph->switches > TOPOLOGY_SHAPE_SWITCHES_MAX)
		return;
	for (uint32_t s = 0; s < graph->switches; s++)
		if (!add_distances(graph, s, shape, &sum))
			return;
	shape->distances_known = true;
	shape->mean_distance = (double)sum / (double)pairs;
}

/* 'distance' serves as scratch space for the hosts of each switch. */
static void measure_degrees(
	struct graph *graph, const struct topology *topology, struct topology_shape *shape)
{
	struct topology_port peer;

	for (uint32_t h = 0; h < topology->hosts; h++)
		if (topology_host_switch(topology, h, &peer))
			graph->distance[peer.device]++;
	for (uint32_t s = 0; s < graph->switches; s++) {
		topology_widen(graph->first[s + 1] - graph->first[s], s == 0, &shape->degree_min,
			&shape->degree_max);
		topology_widen(graph->distance[s], s == 0, &shape->hosts_min, &shape->hosts_max);
	}
}

int topology_shape(const struct topology *topology, struct topology_shape *shape)
{
	struct graph graph = {0};
	int result = graph_allocate(&graph, topology);

	*shape = (struct topology_shape){0};
	if (result == 0) {
		graph_fill(&graph, topology);
		measure_degrees(&graph, topology, shape);
		measure_distances(&graph, shape);
	}
	arrays_free(&graph.arrays);
	return result;
}
