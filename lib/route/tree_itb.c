/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "depth_first.h"
#include "legal_search.h"
#include "rank_draw.h"
#include "rng.h"
#include "route_jobs.h"
#include "route_path.h"
#include "up_down.h"

/*
 * ud-mitb, ud-itb and dfs-itb: in-transit buffers at the forbidden turns of a tree (the thesis'
 * section 3.2.1).
 *
 *	for every pair: the minimal routes, whatever the labels say
 *	for every route of them: an ITB wherever an up arc follows a down arc
 *	for every pair: one that needs no ITB if there is one, else one at random (figure 46: m)
 *	                one at random (figure 47)
 *
 * Deadlock freedom. The dependencies between switches that are left never lead from a down arc to
 * an up arc, and every closed chain of arcs has such a place somewhere (route_label_fn): none of
 * them closes. The dependencies that an ITB puts in their place cannot close a cycle either: the
 * one into the host ends in a channel that nothing waits for behind it, since the host absorbs
 * whatever comes, and the one out of the host begins in a channel that no message enters from the
 * network.
 *
 * A switch without hosts cannot absorb, so there the turn stays forbidden: the routes of a pair are
 * the shortest among those that turn where hosts are, which are minimal ones unless all of those
 * need such a turn. There is always one, because a legal way needs no turn at all. A frame has room
 * for ROUTE_ELEMENTS_MAX elements: routes that do not fit are left out, and where none of those
 * drawn fits, the pair takes a shortest legal way.
 */

/* What all jobs share. */
struct fill {
	const struct route_graph *graph;
	const bool *up;
	bool spare; /* prefer routes without ITBs */
	const struct route_options *options;
	struct route_set *set;
};

/* The searches of one job. */
struct searches {
	struct legal_search *itb, *legal;
};

static void mark_turns(const bool *up, struct route_path *path)
{
	path->itb = 0;
	for (unsigned i = 0; i + 1 < path->links; i++)
		if (!up[path->arc[i]] && up[path->arc[i + 1]])
			path->itb |= (uint32_t)1 << i;
}

/* Adds up to options->alternatives different routes among those of the search, and returns how
 * many; those that do not fit into a frame do not count. */
static int add_drawn(const struct fill *fill, const struct legal_search *search, uint32_t source,
	uint32_t destination, struct fault *fault)
{
	const struct route_graph *graph = fill->graph;
	const struct route_options *options = fill->options;
	uint32_t at = graph->host_switch[source], to = graph->host_switch[destination];
	bool per_host = options->granularity == ROUTE_PER_HOST_PAIR;
	uint64_t ranks[ROUTE_ALTERNATIVES_MAX];
	unsigned drawn, added = 0;
	struct rng rng;

	if (legal_search_links(search, at) > ROUTE_LINKS_MAX)
		return 0;
	rng_init(&rng, options->seed, per_host ? source : at, per_host ? destination : to);
	drawn = rank_draw(&rng, legal_search_count(search, at), ROUTE_ALTERNATIVES_MAX, ranks);
	for (unsigned i = 0; i < drawn && added < options->alternatives; i++) {
		struct route_path path = {.links = legal_search_links(search, at)};
		int result;

		legal_search_arcs(search, at, ranks[i], path.arc);
		mark_turns(fill->up, &path);
		if (route_path_elements(&path) > ROUTE_ELEMENTS_MAX)
			continue;
		result = route_path_add(
			graph, options, fill->set, source, destination, &path, fault);
		if (result < 0)
			return result;
		added++;
	}
	return (int)added;
}

static int add_pair(const struct fill *fill, const struct searches *searches, uint32_t source,
	uint32_t destination, struct fault *fault)
{
	const struct topology *topology = fill->graph->topology;
	uint32_t at = fill->graph->host_switch[source];
	unsigned links = legal_search_links(searches->legal, at);
	bool spare = fill->spare && links == legal_search_links(searches->itb, at);
	int added = add_drawn(
		fill, spare ? searches->legal : searches->itb, source, destination, fault);

	if (added == 0)
		added = add_drawn(fill, searches->legal, source, destination, fault);
	if (added != 0)
		return added < 0 ? added : 0;
	return fault_set(fault, EINVAL,
		"%s: the way from %s to %s takes %u route elements, expected at most %u",
		topology->name, topology->host_at[source].name, topology->host_at[destination].name,
		links + 2, ROUTE_ELEMENTS_MAX);
}

static int add_destination(const struct fill *fill, const struct searches *searches,
	uint32_t destination, struct fault *fault)
{
	int result = 0;

	for (uint32_t source = 0; source < fill->graph->hosts && result == 0; source++) {
		uint32_t at = fill->graph->host_switch[source];

		if (source == destination || at == ROUTE_GRAPH_NONE ||
			legal_search_count(searches->itb, at) == 0)
			continue;
		result = add_pair(fill, searches, source, destination, fault);
	}
	return result;
}

/* Every jobs-th destination switch. */
static int fill_part(void *context, unsigned job, unsigned jobs, struct fault *fault)
{
	const struct fill *fill = context;
	const struct route_graph *graph = fill->graph;
	struct searches searches = {
		.itb = legal_search_create_itb(graph, fill->up),
		.legal = legal_search_create(graph, fill->up),
	};
	int result = 0;

	if (searches.itb == NULL || searches.legal == NULL)
		result = fault_set(
			fault, ENOMEM, "%s: no memory for its routes", graph->topology->name);
	for (uint32_t at = job; at < graph->switches && result == 0; at += jobs) {
		if (route_graph_hosts_at(graph, at) == 0)
			continue;
		legal_search_run(searches.itb, at);
		legal_search_run(searches.legal, at);
		for (uint32_t i = graph->first_host[at];
			i < graph->first_host[at + 1] && result == 0; i++)
			result = add_destination(fill, &searches, graph->host_of[i], fault);
	}
	legal_search_destroy(searches.itb);
	legal_search_destroy(searches.legal);
	return result;
}

static int tree_itb_routes(route_label_fn label, bool spare, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct fault *fault)
{
	bool *up = calloc(graph->arcs + 1u, sizeof(*up));
	struct fill fill = {graph, up, spare, options, set};
	int result;

	if (up == NULL)
		return fault_set(
			fault, ENOMEM, "%s: no memory for its routes", graph->topology->name);
	result = label(graph, options->root, up, fault);
	if (result == 0)
		result = route_jobs_run(options->jobs, fill_part, &fill, fault);
	free(up);
	return result;
}

static int ud_mitb_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct fault *fault)
{
	return tree_itb_routes(up_down_label, true, graph, options, set, fault);
}

static int ud_itb_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct fault *fault)
{
	return tree_itb_routes(up_down_label, false, graph, options, set, fault);
}

static int dfs_itb_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct fault *fault)
{
	return tree_itb_routes(depth_first_label, false, graph, options, set, fault);
}

const struct route_algorithm route_ud_mitb = {
	.name = "ud-mitb",
	.summary = "minimal paths, ITBs at the turns that ud forbids, without ITBs where possible",
	.deadlock_free = true,
	.label = up_down_label,
	.routes = ud_mitb_routes,
};

const struct route_algorithm route_ud_itb = {
	.name = "ud-itb",
	.summary = "a random minimal path, ITBs at the turns that ud forbids",
	.deadlock_free = true,
	.label = up_down_label,
	.routes = ud_itb_routes,
};

const struct route_algorithm route_dfs_itb = {
	.name = "dfs-itb",
	.summary = "a random minimal path, ITBs at the turns that dfs forbids",
	.deadlock_free = true,
	.label = depth_first_label,
	.routes = dfs_itb_routes,
};
