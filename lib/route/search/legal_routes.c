/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "legal_routes.h"

#include <stdlib.h>

#include "base/rng.h"
#include "itb_routes.h"
#include "legal_search.h"
#include "route/route_jobs.h"
#include "route/route_path.h"

/* Memory for the searches to all switches. */
#define PAIRS_BYTES_MAX ((size_t)256 << 20)

struct fill {
	const struct route_graph *graph;
	const bool *up;
	const struct route_options *options;
	struct route_set *set;
};

static int add_pair(const struct fill *fill, const struct legal_search *search, uint32_t source,
	uint32_t destination, struct error *error)
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
			graph, options, fill->set, source, destination, &path, error);
	}
	return result;
}

static int add_destination(const struct fill *fill, const struct legal_search *search,
	uint32_t destination, struct error *error)
{
	for (uint32_t source = 0; source < fill->graph->hosts; source++) {
		uint32_t at = fill->graph->host_switch[source];
		int result;

		if (source == destination || at == ROUTE_GRAPH_NONE ||
			legal_search_count(search, at) == 0)
			continue;
		result = add_pair(fill, search, source, destination, error);
		if (result < 0)
			return result;
	}
	return 0;
}

static int fill_part(void *context, unsigned job, unsigned jobs, struct error *error)
{
	const struct fill *fill = context;
	const struct route_graph *graph = fill->graph;
	struct legal_search *search = legal_search_create(graph, fill->up);
	int result = 0;

	if (search == NULL)
		return route_graph_no_memory(graph, error);
	for (uint32_t at = job; at < graph->switches && result == 0; at += jobs) {
		if (route_graph_hosts_at(graph, at) == 0)
			continue;
		legal_search_run(search, at);
		for (uint32_t i = graph->first_host[at];
			i < graph->first_host[at + 1] && result == 0; i++)
			result = add_destination(fill, search, graph->host_of[i], error);
	}
	legal_search_destroy(search);
	return result;
}

int legal_routes_fill(const struct route_graph *graph, const bool *up,
	const struct route_options *options, struct route_set *set, struct error *error)
{
	struct fill fill = {graph, up, options, set};

	return route_jobs_run(options->jobs, fill_part, &fill, error);
}

int legal_routes_of_labels(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error)
{
	bool *up = calloc(graph->arcs + 1u, sizeof(*up));
	int result;

	if (up == NULL)
		return route_graph_no_memory(graph, error);
	result = label(graph, options->root, up, error);
	if (result == 0)
		result = legal_routes_fill(graph, up, options, set, error);
	free(up);
	return result;
}

/* --- pair by pair --- */

struct pairs {
	struct route_maker maker;
	bool *up;
	struct legal_search **toward; /* by switch with hosts; else NULL */
};

static int add(const struct route_maker *maker, void *scratch, struct route_set *set,
	uint32_t source, uint32_t destination, struct error *error)
{
	const struct pairs *pairs = (const struct pairs *)maker;
	const struct fill fill = {maker->graph, pairs->up, maker->options, set};

	(void)scratch;
	return add_pair(&fill, pairs->toward[maker->graph->host_switch[destination]], source,
		destination, error);
}

static uint32_t row(const struct route_maker *maker, uint32_t host)
{
	return maker->options->granularity == ROUTE_PER_HOST_PAIR ? host
								  : maker->graph->host_switch[host];
}

static unsigned elements(const struct route_maker *maker, uint32_t from, uint32_t to)
{
	return legal_search_links(((const struct pairs *)maker)->toward[to], from) + 2;
}

static void destroy(struct route_maker *maker)
{
	struct pairs *pairs = (struct pairs *)maker;

	for (uint32_t at = 0; pairs->toward != NULL && at < maker->graph->switches; at++)
		legal_search_destroy(pairs->toward[at]);
	free(pairs->toward);
	free(pairs->up);
	free(pairs);
}

/* Every switch with hosts has a path that fits into a frame. */
static bool reached_by_all(const struct route_graph *graph, const struct legal_search *search)
{
	for (uint32_t at = 0; at < graph->switches; at++)
		if (route_graph_hosts_at(graph, at) > 0 &&
			(legal_search_count(search, at) == 0 ||
				legal_search_links(search, at) > ROUTE_LINKS_MAX))
			return false;
	return true;
}

static int search_all(struct pairs *pairs)
{
	const struct route_graph *graph = pairs->maker.graph;
	struct legal_search *search = legal_search_create(graph, pairs->up);
	int result = search == NULL ? -ENOMEM : 0;
	uint32_t searches = 0;

	for (uint32_t at = 0; at < graph->switches; at++)
		searches += route_graph_hosts_at(graph, at) > 0;
	pairs->maker.complete = searches * legal_search_copy_bytes(graph) <= PAIRS_BYTES_MAX;
	for (uint32_t at = 0; at < graph->switches && pairs->maker.complete && result == 0; at++) {
		if (route_graph_hosts_at(graph, at) == 0)
			continue;
		legal_search_run(search, at);
		pairs->maker.complete = reached_by_all(graph, search);
		pairs->toward[at] = legal_search_copy(search);
		result = pairs->toward[at] == NULL ? -ENOMEM : 0;
	}
	legal_search_destroy(search);
	return result;
}

int legal_routes_pairs(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_maker **maker, struct error *error)
{
	struct pairs *pairs = calloc(1, sizeof(*pairs));
	int result;

	*maker = NULL;
	if (pairs == NULL)
		return route_graph_no_memory(graph, error);
	pairs->maker = (struct route_maker){
		.graph = graph,
		.options = options,
		.add = add,
		.row = row,
		.elements = elements,
		.destroy = destroy,
	};
	pairs->up = calloc(graph->arcs + 1u, sizeof(*pairs->up));
	pairs->toward = calloc(graph->switches + 1u, sizeof(struct legal_search *));
	result = pairs->up == NULL || pairs->toward == NULL ? -ENOMEM : 0;
	if (result == 0 && label != NULL)
		result = label(graph, options->root, pairs->up, error);
	if (result == 0)
		result = search_all(pairs);
	if (result == -ENOMEM)
		route_graph_no_memory(graph, error);
	if (result == 0)
		*maker = &pairs->maker;
	else
		destroy(&pairs->maker);
	return result;
}
