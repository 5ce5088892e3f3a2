/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_path.h"

#include "frame.h"
#include "rng.h"

/* Keeps these draws apart from those with which algorithms choose routes for the same pair. */
#define ITB_STREAM ((uint64_t)1 << 32)

/* Into a host of the switch and out again; returns the elements written, 0 if it has no host. */
static unsigned absorb(
	const struct route_graph *graph, uint32_t at, struct rng *rng, uint8_t *element)
{
	uint32_t hosts = route_graph_hosts_at(graph, at), host;

	if (hosts == 0)
		return 0;
	host = graph->host_of[graph->first_host[at] + rng_below(rng, hosts)];
	element[0] = ROUTE_PORT_BIT | graph->host_port[host];
	element[1] = ROUTE_TYPE_ITB;
	return 2;
}

static int refuse_length(const struct route_graph *graph, uint32_t source, uint32_t destination,
	unsigned elements, struct fault *fault)
{
	const struct topology *topology = graph->topology;

	return fault_set(fault, EINVAL,
		"%s: the way from %s to %s takes %u route elements, expected at most %u",
		topology->name, topology->host_at[source].name, topology->host_at[destination].name,
		elements, ROUTE_ELEMENTS_MAX);
}

int route_path_add(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t source, uint32_t destination, const struct route_path *path,
	struct fault *fault)
{
	unsigned elements = route_path_elements(path), length = 0;
	uint8_t route[ROUTE_ELEMENTS_MAX];
	struct rng rng;
	int result;

	if (elements > ROUTE_ELEMENTS_MAX)
		return refuse_length(graph, source, destination, elements, fault);
	rng_init(&rng, options->seed, source, ITB_STREAM | destination);
	for (unsigned i = 0; i < path->links; i++) {
		const struct route_arc *arc = &graph->arc[path->arc[i]];
		unsigned added;

		route[length++] = ROUTE_PORT_BIT | arc->port;
		if ((path->itb >> i & 1) == 0)
			continue;
		added = absorb(graph, arc->to, &rng, route + length);
		if (added == 0)
			return fault_set(fault, EINVAL, "%s: %s has no host to absorb messages",
				graph->topology->name, graph->topology->switch_at[arc->to].name);
		length += added;
	}
	route[length++] = ROUTE_PORT_BIT | graph->host_port[destination];
	route[length++] = ROUTE_TYPE_HOST;
	result = route_set_add(set, source, destination, route, length);
	if (result == -ENOMEM)
		return fault_set(
			fault, ENOMEM, "%s: no memory for its routes", graph->topology->name);
	return result;
}
