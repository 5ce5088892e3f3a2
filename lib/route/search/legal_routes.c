/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "legal_routes.h"

#include <stdlib.h>

#include "legal_search.h"
#include "rank_draw.h"
#include "rng.h"
#include "route_jobs.h"
#include "route_path.h"

struct fill {
	const struct route_graph *graph;
	const bool *up;
	const struct route_options *options;
	struct route_set *set;
};

static int add_pair(const struct fill *fill, const struct legal_search *search, uint32_t source,
	uint32_t destination, struct fault *fault)
{
	const struct route_graph *graph = fill->graph;
	const struct route_options *options = fill->options;
	uint32_t at = graph->host_switch[source], to = graph->host_switch[destination];
	bool per_host = options->granularity == ROUTE_PER_HOST_PAIR;
	struct route_path path = {.links = legal_search_links(search, at)};
	uint64_t ranks[ROUTE_ALTERNATIVES_MAX];
	struct rng rng;
	unsigned drawn;
	int result = 0;

	rng_init(&rng, options->seed, per_host ? source : at, per_host ? destination : to);
	drawn = rank_draw(&rng, legal_search_count(search, at), options->alternatives, ranks);
	for (unsigned i = 0; i < drawn && result == 0; i++) {
		if (path.links <= ROUTE_LINKS_MAX) /* else route_path_add() refuses it */
			legal_search_arcs(search, at, ranks[i], path.arc);
		result = route_path_add(
			graph, options, fill->set, source, destination, &path, fault);
	}
	return result;
}

static int add_destination(const struct fill *fill, const struct legal_search *search,
	uint32_t destination, struct fault *fault)
{
	for (uint32_t source = 0; source < fill->graph->hosts; source++) {
		uint32_t at = fill->graph->host_switch[source];
		int result;

		if (source == destination || at == ROUTE_GRAPH_NONE ||
			legal_search_count(search, at) == 0)
			continue;
		result = add_pair(fill, search, source, destination, fault);
		if (result < 0)
			return result;
	}
	return 0;
}

static int fill_part(void *context, unsigned job, unsigned jobs, struct fault *fault)
{
	const struct fill *fill = context;
	const struct route_graph *graph = fill->graph;
	struct legal_search *search = legal_search_create(graph, fill->up);
	int result = 0;

	if (search == NULL)
		return route_graph_no_memory(graph, fault);
	for (uint32_t at = job; at < graph->switches && result == 0; at += jobs) {
		if (route_graph_hosts_at(graph, at) == 0)
			continue;
		legal_search_run(search, at);
		for (uint32_t i = graph->first_host[at];
			i < graph->first_host[at + 1] && result == 0; i++)
			result = add_destination(fill, search, graph->host_of[i], fault);
	}
	legal_search_destroy(search);
	return result;
}

int legal_routes_fill(const struct route_graph *graph, const bool *up,
	const struct route_options *options, struct route_set *set, struct fault *fault)
{
	struct fill fill = {graph, up, options, set};

	return route_jobs_run(options->jobs, fill_part, &fill, fault);
}

int legal_routes_of_labels(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct fault *fault)
{
	bool *up = calloc(graph->arcs + 1u, sizeof(*up));
	int result;

	if (up == NULL)
		return route_graph_no_memory(graph, fault);
	result = label(graph, options->root, up, fault);
	if (result == 0)
		result = legal_routes_fill(graph, up, options, set, fault);
	free(up);
	return result;
}
