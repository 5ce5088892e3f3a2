/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Adds the arc of this port, if it leads to a switch. 'seen' holds, per link, the arc that was
 * added first, so that the second arc finds its opposite. */
static void add_arc(struct route_graph *graph, struct topology_port from, uint32_t *seen)
{
	const struct topology *topology = graph->topology;
	int32_t link = topology->switch_port_link[from.device * TOPOLOGY_PORTS_MAX + from.port];
	struct topology_port to;
	uint32_t arc = graph->arcs;

	if (link < 0 || !topology_peer(topology, from, &to) || to.kind != DEVICE_SWITCH)
		return;
	graph->arc[arc] =
		(struct route_arc){.to = to.device, .port = from.port, .back = ROUTE_GRAPH_NONE};
	if (seen[link] == ROUTE_GRAPH_NONE) {
		seen[link] = arc;
	} else {
		graph->arc[arc].back = seen[link];
		graph->arc[seen[link]].back = arc;
	}
	graph->arcs++;
}

static void add_arcs(struct route_graph *graph, uint32_t *seen)
{
	for (uint32_t link = 0; link < graph->topology->links; link++)
		seen[link] = ROUTE_GRAPH_NONE;
	for (uint32_t at = 0; at < graph->switches; at++) {
		graph->first_arc[at] = graph->arcs;
		for (unsigned port = 0; port < graph->topology->switch_at[at].ports; port++)
			add_arc(graph,
				(struct topology_port){
					.kind = DEVICE_SWITCH, .device = at, .port = (uint8_t)port},
				seen);
	}
	graph->first_arc[graph->switches] = graph->arcs;
}

static uint64_t rate_of(const struct route_graph *graph, uint32_t at, uint32_t arc)
{
	const struct topology_port port = {DEVICE_SWITCH, at, graph->arc[arc].port};

	return topology_link_at(graph->topology, port)->rate_bps;
}

static bool divides(const struct route_graph *graph, uint64_t rate_bps)
{
	for (uint32_t at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			if (rate_bps % rate_of(graph, at, arc) != 0)
				return false;
	return true;
}

static void find_costs(struct route_graph *graph)
{
	uint64_t max = 1;

	for (uint32_t at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			if (rate_of(graph, at, arc) > max)
				max = rate_of(graph, at, arc);
	graph->cost_fastest = 1;
	while (graph->cost_fastest < ROUTE_GRAPH_COST_FASTEST_MAX &&
		!divides(graph, max * graph->cost_fastest))
		graph->cost_fastest++;
	for (uint32_t at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
			uint64_t rate = rate_of(graph, at, arc);
			uint64_t cost = (max * graph->cost_fastest + rate / 2) / rate;

			graph->arc[arc].cost = (uint16_t)(cost < UINT16_MAX ? cost : UINT16_MAX);
		}
}

/* Counting sort of the hosts by switch. Counts are stored at an offset of two, so that summing and
 * filling move each start to its final index. */
static void place_hosts(struct route_graph *graph)
{
	uint32_t *first = graph->first_host;

	for (uint32_t host = 0; host < graph->hosts; host++) {
		struct topology_port peer;

		graph->host_switch[host] = ROUTE_GRAPH_NONE;
		if (!topology_host_switch(graph->topology, host, &peer))
			continue;
		graph->host_switch[host] = peer.device;
		graph->host_port[host] = peer.port;
		first[peer.device + 2]++;
	}
	for (uint32_t at = 0; at < graph->switches; at++)
		first[at + 2] += first[at + 1];
	for (uint32_t host = 0; host < graph->hosts; host++)
		if (graph->host_switch[host] != ROUTE_GRAPH_NONE)
			graph->host_of[first[graph->host_switch[host] + 1]++] = host;
}

struct route_graph *route_graph_create(const struct topology *topology)
{
	struct route_graph *graph = calloc(1, sizeof(*graph));
	uint32_t *seen = calloc(topology->links + 1u, sizeof(*seen));

	if (graph == NULL || seen == NULL)
		goto err;
	graph->topology = topology;
	graph->switches = topology->switches;
	graph->hosts = topology->hosts;
	ARRAYS_ADD(graph, first_arc, graph->switches + 1u);
	ARRAYS_ADD(graph, arc, 2u * topology->links + 1u);
	ARRAYS_ADD(graph, host_switch, graph->hosts + 1u);
	ARRAYS_ADD(graph, host_port, graph->hosts + 1u);
	ARRAYS_ADD(graph, first_host, graph->switches + 2u);
	ARRAYS_ADD(graph, host_of, graph->hosts + 1u);
	if (graph->arrays.failed)
		goto err;
	add_arcs(graph, seen);
	find_costs(graph);
	place_hosts(graph);
	free(seen);
	return graph;
err:
	free(seen);
	route_graph_destroy(graph);
	errno = ENOMEM;
	return NULL;
}

void route_graph_destroy(struct route_graph *graph)
{
	ARRAYS_DESTROY(graph);
}

void route_graph_spread(const struct route_graph *graph, uint32_t root, uint32_t *distance,
	uint32_t *order, uint32_t *count)
{
	uint32_t head = *count;

	distance[root] = 0;
	for (order[(*count)++] = root; head < *count; head++) {
		uint32_t at = order[head];

		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
			uint32_t to = graph->arc[arc].to;

			if (distance[to] != ROUTE_GRAPH_NONE)
				continue;
			distance[to] = distance[at] + 1;
			order[(*count)++] = to;
		}
	}
}

int route_graph_no_memory(const struct route_graph *graph, struct error *error)
{
	return error_set(
		error, ENOMEM, "%s: not enough memory for the routes", graph->topology->name);
}

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
	ARRAYS_DESTROY(lengths);
}
