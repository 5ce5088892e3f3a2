/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "base/rng.h"
#include "route/algorithms/up_down.h"
#include "route/route_path.h"
#include "route/route_set.h"
#include "route/search/legal_routes.h"

/* waypoint: every message first goes to a random switch, and from there to its destination (Valiant
 * and Brebner, STOC 1981). This turns any traffic pattern into two uniform ones of twice the
 * length.
 *
 *	for every pair of hosts, draw a third switch:
 *		follow a shortest legal up*\/down* path to it, where a host absorbs the message,
 *		then a shortest legal up*\/down* path to the destination
 *
 * Deadlock freedom: within each half, no up arc follows a down arc, so the dependencies of all
 * halves together have no cycle. The ITB between the halves ends the dependency that would join
 * them. If no third switch can be used, the pair uses the legal path without a detour. */

/* All jobs share it. They only read it, and write routes to different destinations. */
struct waypoint {
	const struct route_graph *graph;
	const struct route_options *options;
	struct legal_search **towards; /* by switch with hosts: the legal paths to it; else NULL */
	struct route_set *set;
};

/* Appends one of the shortest legal paths at random. Returns false if the path becomes too long. */
static bool append_half(
	struct route_path *path, const struct legal_search *search, uint32_t from, struct rng *rng)
{
	unsigned links = legal_search_links(search, from);

	if (links > ROUTE_LINKS_MAX - path->links)
		return false;
	legal_search_arcs(search, from, rng_below(rng, legal_search_count(search, from)),
		path->arc + path->links);
	path->links += links;
	return true;
}

/* Uses the switch of a random host, so switches with more hosts, which can absorb more, are drawn
 * more often. Returns false if that switch cannot be used. */
static bool find_detour(const struct waypoint *waypoint, uint32_t from, uint32_t to,
	struct rng *rng, struct route_path *path)
{
	const struct route_graph *graph = waypoint->graph;
	uint32_t middle = graph->host_switch[rng_below(rng, graph->hosts)];

	*path = (struct route_path){.links = 0};
	if (middle == ROUTE_GRAPH_NONE || middle == from || middle == to ||
		legal_search_count(waypoint->towards[middle], from) == 0)
		return false;
	if (!append_half(path, waypoint->towards[middle], from, rng))
		return false;
	path->itb = (uint32_t)1 << (path->links - 1);
	return append_half(path, waypoint->towards[to], middle, rng) &&
	       route_path_elements(path) <= ROUTE_ELEMENTS_MAX;
}

static int add_pair(
	const struct waypoint *waypoint, uint32_t source, uint32_t destination, struct error *error)
{
	const struct route_graph *graph = waypoint->graph;
	const struct route_options *options = waypoint->options;
	uint32_t from = graph->host_switch[source], to = graph->host_switch[destination];
	bool per_host = options->granularity == ROUTE_PER_HOST_PAIR;
	struct route_path path;
	struct rng rng;

	if (from == ROUTE_GRAPH_NONE || legal_search_count(waypoint->towards[to], from) == 0)
		return 0; /* not connected: no route, which is not an error */
	/* Keyed by the pair, not by the order of work: the same routes for any number of jobs. */
	rng_init(&rng, options->seed, per_host ? source : from, per_host ? destination : to);
	if (!find_detour(waypoint, from, to, &rng, &path)) {
		path = (struct route_path){.links = 0};
		if (!append_half(&path, waypoint->towards[to], from, &rng))
			return error_set(error, EINVAL,
				"%s: the path from %s to %s takes more than %u links",
				graph->topology->name, graph->topology->host_at[source].name,
				graph->topology->host_at[destination].name, ROUTE_LINKS_MAX);
	}
	return route_path_add(graph, options, waypoint->set, source, destination, &path, error);
}

/* Every jobs-th destination host. */
static int fill_part(void *context, unsigned job, unsigned jobs, struct error *error)
{
	const struct waypoint *waypoint = context;
	uint32_t hosts = waypoint->graph->hosts;
	int result = 0;

	for (uint32_t to = job; to < hosts && result == 0; to += jobs) {
		if (waypoint->graph->host_switch[to] == ROUTE_GRAPH_NONE)
			continue;
		for (uint32_t from = 0; from < hosts && result == 0; from++)
			if (from != to)
				result = add_pair(waypoint, from, to, error);
	}
	return result;
}

/* One search for each switch where a half can end. Returns false if out of memory. */
static bool search_all(const struct waypoint *waypoint, const bool *up)
{
	for (uint32_t at = 0; at < waypoint->graph->switches; at++) {
		if (route_graph_hosts_at(waypoint->graph, at) == 0)
			continue;
		waypoint->towards[at] = legal_search_create(waypoint->graph, up);
		if (waypoint->towards[at] == NULL)
			return false;
		legal_search_run(waypoint->towards[at], at);
	}
	return true;
}

static int waypoint_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	bool *up = calloc(graph->arcs + 1u, sizeof(*up));
	struct waypoint waypoint = {.graph = graph, .options = options, .set = set};
	int result = -ENOMEM;

	waypoint.towards = calloc(graph->switches + 1u, sizeof(*waypoint.towards));
	if (up != NULL && waypoint.towards != NULL)
		result = up_down_label(graph, options->root, up, error);
	if (result == 0 && !search_all(&waypoint, up))
		result = -ENOMEM;
	if (result == -ENOMEM)
		error_set(error, ENOMEM, "%s: not enough memory for the routes",
			graph->topology->name);
	if (result == 0)
		result = route_jobs_run(options->jobs, fill_part, &waypoint, error);
	for (uint32_t at = 0; at < graph->switches && waypoint.towards != NULL; at++)
		legal_search_destroy(waypoint.towards[at]);
	free(waypoint.towards);
	free(up);
	return result;
}

const struct route_algorithm route_waypoint = {
	.name = "waypoint",
	.summary = "by way of a random switch, with an ITB there and up*/down* before and after",
	.deadlock_free = true,
	.label = up_down_label,
	.routes = waypoint_routes,
};
