/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "base/rng.h"
#include "route/route_set.h"
#include "route/search/legal_routes.h"
#include "up_down.h"

/* The paths of Distributed Routing Balancing: for each pair the deterministic path, then others
 * that share no link with it or with each other, the shortest first. Congestion on one path then
 * does not affect the others.
 *
 *     route 0 = the pair's up*\/down* route
 *     until there are enough:
 *         remove the links of the last route
 *         next route = a shortest path in the rest
 *
 * All routes obey the labels of up*\/down*: where a route must go up after down, a host of that
 * switch absorbs and re-injects the message. No dependency therefore leads from a down channel to
 * an up channel, and the union of all routes of all pairs has no cycle (as in ud-itb). A path that
 * would have to turn at a switch without hosts is not used. From the second route on, lengths never
 * decrease, because each route removes links. */

/* Separates these draws from the draws of the first routes. */
#define DISJOINT_STREAM ((uint64_t)1 << 33)

struct fill {
	const struct route_graph *graph;
	const bool *up;
	const struct route_options *options;
	struct route_set *set;
};

/* Removes the links of the first route, which has no ITBs, starting at the source's switch. */
static void avoid_first(struct legal_detour *detour, const struct route_graph *graph, uint32_t at,
	const uint8_t *route, unsigned length)
{
	unsigned i = 0, port = route_port(route, &i);

	while (i + 2 < length) {
		uint32_t arc = route_graph_arc_of_port(graph, at, port);

		legal_detour_avoid(detour, arc);
		at = graph->arc[arc].to;
		i++;
		port = route_port(route, &i);
	}
}

/* Adds all routes of a pair except the first, which already exists. */
static int add_pair(const struct fill *fill, struct legal_detour *detour, uint32_t source,
	uint32_t destination, struct error *error)
{
	const struct route_graph *graph = fill->graph;
	const struct route_options *options = fill->options;
	uint32_t at = graph->host_switch[source], to = graph->host_switch[destination];
	bool per_host = options->granularity == ROUTE_PER_HOST_PAIR;
	const uint8_t *first;
	struct route_path path;
	unsigned length;
	struct rng rng;
	int result = 0;

	if (at == to)
		return 0;
	rng_init(&rng, options->seed, per_host ? source : at,
		DISJOINT_STREAM | (per_host ? destination : to));
	first = route_set_get(fill->set, source, destination, 0, &length);
	legal_detour_reset(detour);
	avoid_first(detour, graph, at, first, length);
	for (unsigned i = 1; i < options->alternatives && result == 0; i++) {
		if (!legal_detour_find(detour, at, to, (uint32_t)rng_next(&rng) >> 1, &path))
			break;
		for (unsigned k = 0; k < path.links; k++)
			legal_detour_avoid(detour, path.arc[k]);
		result = route_path_add(
			graph, options, fill->set, source, destination, &path, error);
	}
	return result;
}

static int fill_part(void *context, unsigned job, unsigned jobs, struct error *error)
{
	const struct fill *fill = context;
	struct legal_detour *detour = legal_detour_create(fill->graph, fill->up);
	int result = 0;

	if (detour == NULL)
		return route_graph_no_memory(fill->graph, error);
	for (uint32_t to = job; to < fill->graph->hosts; to += jobs)
		for (uint32_t from = 0; from < fill->graph->hosts && result == 0; from++)
			if (route_set_count(fill->set, from, to) > 0)
				result = add_pair(fill, detour, from, to, error);
	legal_detour_destroy(detour);
	return result;
}

static int disjoint_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	struct route_options one = *options;
	bool *up = calloc(graph->arcs + 1u, sizeof(*up));
	struct fill fill = {graph, up, options, set};
	int result;

	if (up == NULL)
		return route_graph_no_memory(graph, error);
	one.alternatives = 1;
	result = up_down_label(graph, options->root, up, error);
	if (result == 0)
		result = legal_routes_fill(graph, up, &one, set, error);
	if (result == 0)
		result = route_jobs_run(options->jobs, fill_part, &fill, error);
	free(up);
	return result;
}

const struct route_algorithm route_disjoint = {
	.name = "disjoint",
	.summary = "for DRB: the path of ud, then short ones that share no link; ITBs where needed",
	.deadlock_free = true,
	.alternatives = 4,
	.label = up_down_label,
	.routes = disjoint_routes,
};
