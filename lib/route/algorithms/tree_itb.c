/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "base/rng.h"
#include "route/route_path.h"
#include "route/route_set.h"
#include "route/search/itb_routes.h"
#include "route/search/legal_routes.h"
#include "up_down.h"

/* ud-mitb, ud-mitb-first, ud-itb, dfs-itb and dfs-itb-any: in-transit buffers at the forbidden
 * turns of a tree (the thesis' section 3.2.1).
 *
 *     for every pair: the minimal routes, whatever the labels
 *     for each of these routes: an ITB wherever an up arc follows a down arc
 *     for every pair:
 *         a route without ITBs if there is one, else a random one (figure 46: ud-mitb, dfs-itb)
 *         a random route (figure 47: ud-itb, dfs-itb-any)
 *
 * If several have no ITBs, figure 46 does not specify which to use: ud-mitb-first uses the first in
 * port order, the others draw one at random.
 *
 * According to the thesis, DFS_ITB draws at random. But the 0.3 ITBs per message that it measured
 * at 64 switches, and a latency that grows half as much as with UD_ITB, match the other rule, which
 * gives 0.31 rather than 0.45. dfs-itb is therefore what the thesis measured, and dfs-itb-any what
 * it describes (docs/explanation/routing-and-itbs.md).
 *
 * Deadlock freedom. The remaining dependencies between switches never lead from a down arc to an up
 * arc. Every closed chain of arcs contains such a turn (route_label_fn), so these dependencies
 * close no cycle. The dependencies that replace them at an ITB cannot close a cycle either. The
 * dependency into the host ends in a channel for which nothing waits, since the host absorbs
 * everything, and the dependency out of the host starts in a channel that no message enters from
 * the network.
 *
 * A switch without hosts cannot absorb, so turns there remain forbidden. The routes of a pair are
 * the shortest among those that turn only at switches with hosts; they are minimal unless all
 * minimal routes need a forbidden turn. Such a route always exists, because a legal path needs no
 * turn. A frame holds at most ROUTE_ELEMENTS_MAX elements. Longer routes are skipped, and if none
 * of those drawn fits, the pair gets a shortest legal path. */

struct fill {
	const struct route_graph *graph;
	const bool *up;
	bool spare; /* prefer routes without ITBs */
	bool first; /* use the first of these instead of drawing one */
	const struct route_options *options;
	struct route_set *set;
};

/* Searches of one job towards one switch. The legal search runs only when needed. */
struct searches {
	struct legal_search *itb, *legal;
	uint32_t to;
	bool legal_is_done;
};

static void search_legal(struct searches *searches)
{
	if (!searches->legal_is_done)
		legal_search_run(searches->legal, searches->to);
	searches->legal_is_done = true;
}

static void mark_turns(const bool *up, struct route_path *path)
{
	path->itb = 0;
	for (unsigned i = 0; i + 1 < path->links; i++)
		if (!up[path->arc[i]] && up[path->arc[i + 1]])
			path->itb |= (uint64_t)1 << i;
}

/* Like rank_draw(), but returns the first ranks. */
static unsigned first_ranks(uint64_t all, unsigned count, uint64_t *ranks)
{
	unsigned taken = 0;

	for (; taken < count && taken < all; taken++)
		ranks[taken] = taken;
	return taken;
}

/* Finds up to options->alternatives different routes of the search from a switch, drawn at random
 * or the first in port order, that fit into a frame. Returns their number. 'source' and
 * 'destination', hosts or switches, select the random stream. */
static unsigned take(const struct fill *fill, const struct legal_search *search, bool first,
	uint32_t at, uint32_t source, uint32_t destination, struct route_path *path)
{
	const struct route_options *options = fill->options;
	unsigned links = legal_search_links(search, at), paths = 0, seen = 0;
	uint64_t ranks[ROUTE_ALTERNATIVES_MAX];

	if (links > ROUTE_LINKS_MAX)
		return 0;
	/* Draws more only if some do not fit. */
	for (unsigned ask = options->alternatives; paths < options->alternatives;
		ask = ROUTE_ALTERNATIVES_MAX) {
		unsigned drawn;
		struct rng rng;

		rng_init(&rng, options->seed, source, destination);
		drawn = first ? first_ranks(legal_search_count(search, at), ask, ranks)
			      : rank_draw(&rng, legal_search_count(search, at), ask, ranks);
		for (; seen < drawn && paths < options->alternatives; seen++) {
			path[paths].links = links;
			legal_search_arcs(search, at, ranks[seen], path[paths].arc);
			mark_turns(fill->up, &path[paths]);
			paths += route_path_elements(&path[paths]) <= ROUTE_ELEMENTS_MAX;
		}
		if (ask == ROUTE_ALTERNATIVES_MAX || drawn < ask)
			break;
	}
	return paths;
}

/* Draws paths between two switches, for them or a pair of their hosts. Returns 0 if none fits. */
static unsigned paths_of(const struct fill *fill, struct searches *searches, uint32_t at,
	uint32_t source, uint32_t destination, struct route_path *path)
{
	bool spare = false;
	unsigned paths;

	if (fill->spare) {
		search_legal(searches);
		spare = legal_search_links(searches->legal, at) ==
			legal_search_links(searches->itb, at);
	}
	paths = take(fill, spare ? searches->legal : searches->itb, spare && fill->first, at,
		source, destination, path);
	if (paths > 0)
		return paths;
	search_legal(searches);
	return take(fill, searches->legal, fill->first, at, source, destination, path);
}

static int refuse(const struct fill *fill, const struct searches *searches, uint32_t at,
	uint32_t source, uint32_t destination, struct error *error)
{
	const struct topology_device *host = fill->graph->topology->host_at;

	return route_path_refuse(fill->graph, host[source].name, host[destination].name,
		legal_search_links(searches->legal, at) + 2, error);
}

/* Adds the routes of a switch's hosts, each of which has its own choice. */
static int add_for_hosts(const struct fill *fill, struct searches *searches, uint32_t at,
	uint32_t destination, struct error *error)
{
	const struct route_graph *graph = fill->graph;
	struct route_path path[ROUTE_ALTERNATIVES_MAX];
	int result = 0;

	for (uint32_t i = graph->first_host[at]; i < graph->first_host[at + 1]; i++) {
		uint32_t source = graph->host_of[i];
		unsigned paths;

		if (source == destination)
			continue;
		paths = paths_of(fill, searches, at, source, destination, path);
		if (paths == 0)
			return refuse(fill, searches, at, source, destination, error);
		for (unsigned k = 0; k < paths && result == 0; k++)
			result = route_path_add(graph, fill->options, fill->set, source,
				destination, &path[k], error);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Adds all routes from the hosts of one switch to the hosts of switch searches->to. */
static int add_between(
	const struct fill *fill, struct searches *searches, uint32_t at, struct error *error)
{
	const struct route_graph *graph = fill->graph;
	uint32_t to = searches->to;
	struct route_path path[ROUTE_ALTERNATIVES_MAX];
	unsigned paths;
	int result = 0;

	if (route_graph_hosts_at(graph, at) == 0 || legal_search_count(searches->itb, at) == 0)
		return 0;
	if (fill->options->granularity == ROUTE_PER_HOST_PAIR) {
		for (uint32_t i = graph->first_host[to];
			i < graph->first_host[to + 1] && result == 0; i++)
			result = add_for_hosts(fill, searches, at, graph->host_of[i], error);
		return result;
	}
	paths = paths_of(fill, searches, at, at, to, path);
	if (paths == 0)
		return refuse(fill, searches, at, graph->host_of[graph->first_host[at]],
			graph->host_of[graph->first_host[to]], error);
	return route_path_add_all(graph, fill->options, fill->set, at, to, path, paths, error);
}

static int fill_part(void *context, unsigned job, unsigned jobs, struct error *error)
{
	const struct fill *fill = context;
	const struct route_graph *graph = fill->graph;
	struct searches searches = {
		.itb = legal_search_create_itb(graph, fill->up),
		.legal = legal_search_create(graph, fill->up),
	};
	int result = 0;

	if (searches.itb == NULL || searches.legal == NULL)
		result = route_graph_no_memory(graph, error);
	for (uint32_t at = job; at < graph->switches && result == 0; at += jobs) {
		if (route_graph_hosts_at(graph, at) == 0)
			continue;
		legal_search_run(searches.itb, at);
		searches.to = at;
		searches.legal_is_done = false;
		for (uint32_t from = 0; from < graph->switches && result == 0; from++)
			result = add_between(fill, &searches, from, error);
	}
	legal_search_destroy(searches.itb);
	legal_search_destroy(searches.legal);
	return result;
}

static int tree_itb_routes(route_label_fn label, bool spare, bool first,
	const struct route_graph *graph, const struct route_options *options, struct route_set *set,
	struct error *error)
{
	bool *up = calloc(graph->arcs + 1u, sizeof(*up));
	struct fill fill = {graph, up, spare, first, options, set};
	int result;

	if (up == NULL)
		return route_graph_no_memory(graph, error);
	result = label(graph, options->root, up, error);
	if (result == 0)
		result = route_jobs_run(options->jobs, fill_part, &fill, error);
	free(up);
	return result;
}

#define TREE_ITB(id, name_text, label_fn, spare, first, summary_text)                            \
	static int id##_routes(const struct route_graph *graph,                                  \
		const struct route_options *options, struct route_set *set, struct error *error) \
	{                                                                                        \
		return tree_itb_routes(label_fn, spare, first, graph, options, set, error);      \
	}                                                                                        \
	const struct route_algorithm route_##id = {                                              \
		.name = name_text,                                                               \
		.summary = summary_text,                                                         \
		.deadlock_free = true,                                                           \
		.label = label_fn,                                                               \
		.routes = id##_routes,                                                           \
	};

TREE_ITB(ud_mitb, "ud-mitb", up_down_label, true, false,
	"minimal paths, ITBs at the turns that ud forbids, without ITBs where possible")
TREE_ITB(ud_mitb_first, "ud-mitb-first", up_down_label, true, true,
	"as ud-mitb, but the first path without ITBs in port order")
TREE_ITB(ud_itb, "ud-itb", up_down_label, false, false,
	"a random minimal path, ITBs at the turns that ud forbids")
TREE_ITB(dfs_itb, "dfs-itb", depth_first_label, true, false,
	"minimal paths, ITBs at the turns that dfs forbids, without ITBs where possible")
TREE_ITB(dfs_itb_any, "dfs-itb-any", depth_first_label, false, false,
	"a random minimal path, ITBs at the turns that dfs forbids")
