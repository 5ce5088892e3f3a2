/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_lengths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route_graph.h"

static void measure(const struct route_graph *graph, struct route_lengths *lengths,
	uint32_t *distance, uint32_t *order)
{
	uint8_t *links = lengths->links;

	memcpy(lengths->host_switch, graph->host_switch,
		graph->hosts * sizeof(*graph->host_switch));
	for (uint32_t from = 0; from < graph->switches; from++) {
		uint32_t count = 0;

		memset(distance, 0xFF, graph->switches * sizeof(*distance));
		route_graph_spread(graph, from, distance, order, &count);
		for (uint32_t to = 0; to < graph->switches; to++)
			*links++ = distance[to] < UINT8_MAX ? (uint8_t)distance[to] : UINT8_MAX;
	}
}

struct route_lengths *route_lengths_create(const struct topology *topology)
{
	struct route_lengths *lengths = calloc(1, sizeof(*lengths));
	struct route_graph *graph = route_graph_create(topology);
	uint32_t *scratch = calloc(2u * topology->switches + 1u, sizeof(*scratch));

	if (lengths != NULL) {
		lengths->switches = topology->switches;
		lengths->hosts = topology->hosts;
		ARRAYS_ADD(lengths, host_switch, topology->hosts + 1u);
		ARRAYS_ADD(lengths, links, (size_t)topology->switches * topology->switches + 1u);
	}
	if (lengths == NULL || graph == NULL || scratch == NULL || lengths->arrays.failed) {
		route_lengths_destroy(lengths);
		lengths = NULL;
		errno = ENOMEM;
	} else {
		measure(graph, lengths, scratch, scratch + topology->switches);
	}
	free(scratch);
	route_graph_destroy(graph);
	return lengths;
}

void route_lengths_destroy(struct route_lengths *lengths)
{
	if (lengths == NULL)
		return;
	arrays_free(&lengths->arrays);
	free(lengths);
}
