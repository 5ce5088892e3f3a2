/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology.h"

#include <errno.h>
#include <metis.h>
#include <stdlib.h>
#include <string.h>

/* Switches and the links between them, in the form that METIS requires. */
struct cut_graph {
	idx_t *first;     /* [switches + 1]: index of each switch's first neighbour */
	idx_t *neighbour; /* [first[switches]] */
	idx_t *weight;    /* [switches] */
	idx_t *part;      /* [switches] */
};

static bool joins_switches(const struct topology_link *link)
{
	return topology_link_is_inner(link) && link->a.device != link->b.device;
}

/* Weights count ports, where events occur. A host's link counts twice, to include the host. */
static void count_ends(const struct topology *topology, struct cut_graph *graph)
{
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		bool joins = joins_switches(link);

		for (unsigned k = 0; k < 2; k++) {
			struct topology_port end = k == 0 ? link->a : link->b;

			if (end.kind != DEVICE_SWITCH)
				continue;
			graph->weight[end.device] += joins ? 1 : 2;
			graph->first[end.device + 1] += joins;
		}
	}
	for (uint32_t at = 0; at < topology->switches; at++)
		graph->first[at + 1] += graph->first[at];
}

static void fill_neighbours(const struct topology *topology, struct cut_graph *graph, idx_t *next)
{
	memcpy(next, graph->first, topology->switches * sizeof(*next));
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		if (!joins_switches(link))
			continue;
		graph->neighbour[next[link->a.device]++] = (idx_t)link->b.device;
		graph->neighbour[next[link->b.device]++] = (idx_t)link->a.device;
	}
}

static int partition(const struct topology *topology, struct cut_graph *graph, unsigned parts)
{
	idx_t vertices = (idx_t)topology->switches, constraints = 1, wanted = (idx_t)parts, edges;
	idx_t options[METIS_NOPTIONS];
	int result;

	METIS_SetDefaultOptions(options);
	options[METIS_OPTION_SEED] = 1;
	result = METIS_PartGraphRecursive(&vertices, &constraints, graph->first, graph->neighbour,
		graph->weight, NULL, NULL, &wanted, NULL, NULL, options, &edges, graph->part);
	if (result == METIS_OK)
		return 0;
	return result == METIS_ERROR_MEMORY ? -ENOMEM : -EINVAL;
}

static void place(const struct topology *topology, const struct cut_graph *graph, uint16_t *part)
{
	for (uint32_t at = 0; at < topology->switches; at++)
		part[at] = (uint16_t)graph->part[at];
	for (uint32_t host = 0; host < topology->hosts; host++) {
		struct topology_port at;
		bool attached = topology_host_switch(topology, host, &at);

		part[topology->switches + host] = attached ? part[at.device] : 0;
	}
}

int topology_cut(const struct topology *topology, unsigned parts, uint16_t *part)
{
	size_t switches = topology->switches, ends = 2 * (size_t)topology->links;
	struct cut_graph graph = {.first = calloc(switches + 1, sizeof(idx_t)),
		.neighbour = calloc(ends + 1, sizeof(idx_t)),
		.weight = calloc(switches + 1, sizeof(idx_t)),
		.part = calloc(switches + 1, sizeof(idx_t))};
	idx_t *next = calloc(switches + 1, sizeof(*next));
	int result = -ENOMEM;

	if (graph.first != NULL && graph.neighbour != NULL && graph.weight != NULL &&
		graph.part != NULL && next != NULL) {
		count_ends(topology, &graph);
		fill_neighbours(topology, &graph, next);
		result = parts > 1 ? partition(topology, &graph, parts) : 0;
	}
	if (result == 0)
		place(topology, &graph, part);
	free(graph.first);
	free(graph.neighbour);
	free(graph.weight);
	free(graph.part);
	free(next);
	return result;
}

static uint16_t part_of(
	const struct topology *topology, const uint16_t *part, struct topology_port end)
{
	return part[end.kind == DEVICE_SWITCH ? end.device : topology->switches + end.device];
}

weft_time topology_cut_delay(const struct topology *topology, const uint16_t *part)
{
	weft_time min = WEFT_TIME_NEVER;

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		if (link->delay_ps < min &&
			part_of(topology, part, link->a) != part_of(topology, part, link->b))
			min = link->delay_ps;
	}
	return min;
}
