/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "smart_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "route/route_path.h"

/* The search runs over arcs, because the allowed turns depend on the previous arc. It proceeds
 * breadth-first and backwards from a destination, and counts shortest paths. The paths of a source
 * are then identified by rank, as in legal_routes.c. */

#define NO_WAY    UINT32_MAX
#define COUNT_MAX ((uint64_t)1 << 52)
/* Separates these draws from others for the same pair (route_path.c). */
#define PATH_STREAM ((uint64_t)2 << 32)

struct search {
	const struct turns *turns;
	const struct route_graph *graph;
	uint32_t *links; /* by arc: links to the destination, including itself; NO_WAY: none */
	uint64_t *count; /* by arc: number of shortest paths that start with it */
	uint32_t *queue;
	struct arrays arrays;
	uint32_t destination;
};

static bool search_init(struct search *search, const struct turns *turns)
{
	size_t arcs = turns->graph->arcs;

	*search = (struct search){
		.turns = turns,
		.graph = turns->graph,
	};
	ARRAYS_ADD(search, links, arcs);
	ARRAYS_ADD(search, count, arcs);
	ARRAYS_ADD(search, queue, arcs);
	return !search->arrays.failed;
}

static uint64_t add_counts(uint64_t a, uint64_t b)
{
	return a + b < COUNT_MAX ? a + b : COUNT_MAX;
}

/* Expands all arcs that 'out' may follow. */
static void meet_all_before(struct search *search, uint32_t out, uint32_t *tail)
{
	const struct route_graph *graph = search->graph;
	uint32_t at = graph->arc[graph->arc[out].back].to;

	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
		uint32_t in = graph->arc[arc].back;

		if (!search->turns->allowed[turns_number(search->turns, in, out)])
			continue;
		if (search->links[in] == NO_WAY) {
			search->links[in] = search->links[out] + 1;
			search->queue[(*tail)++] = in;
		}
		if (search->links[in] == search->links[out] + 1)
			search->count[in] = add_counts(search->count[in], search->count[out]);
	}
}

static void search_run(struct search *search, uint32_t destination)
{
	const struct route_graph *graph = search->graph;
	uint32_t tail = 0;

	search->destination = destination;
	memset(search->links, 0xFF, graph->arcs * sizeof(*search->links));
	memset(search->count, 0, graph->arcs * sizeof(*search->count));
	for (uint32_t arc = graph->first_arc[destination]; arc < graph->first_arc[destination + 1];
		arc++) {
		uint32_t in = graph->arc[arc].back;

		search->links[in] = 1;
		search->count[in] = 1;
		search->queue[tail++] = in;
	}
	for (uint32_t head = 0; head < tail; head++)
		meet_all_before(search, search->queue[head], &tail);
}

/* Returns the number of shortest paths from the switch (0: none), and sets '*links' to their
 * length. */
static uint64_t search_count(const struct search *search, uint32_t source, uint32_t *links)
{
	const struct route_graph *graph = search->graph;
	uint64_t count = 0;

	*links = NO_WAY;
	for (uint32_t arc = graph->first_arc[source]; arc < graph->first_arc[source + 1]; arc++) {
		if (search->links[arc] < *links) {
			*links = search->links[arc];
			count = 0;
		}
		if (search->links[arc] == *links && *links != NO_WAY)
			count = add_counts(count, search->count[arc]);
	}
	return count;
}

static void search_path(
	const struct search *search, uint32_t source, uint32_t links, uint64_t rank, uint32_t *path)
{
	const struct route_graph *graph = search->graph;
	uint32_t at = source, before = ROUTE_GRAPH_NONE;

	for (; links > 0; links--) {
		uint32_t out = graph->first_arc[at];

		for (;; out++) {
			if (search->links[out] != links ||
				(before != ROUTE_GRAPH_NONE &&
					!search->turns->allowed[turns_number(
						search->turns, before, out)]))
				continue;
			if (rank < search->count[out])
				break;
			rank -= search->count[out];
		}
		*path++ = before = out;
		at = graph->arc[out].to;
	}
}

uint32_t *smart_paths_append(struct smart_paths *paths, uint32_t links)
{
	uint32_t used = paths->paths == 0 ? 0 : paths->first_arc[paths->paths];

	if (!array_reserve(&paths->first_arc, &paths->path_room, paths->paths + 2,
		    sizeof(*paths->first_arc)) ||
		!array_reserve(&paths->arc, &paths->arc_room, used + links, sizeof(*paths->arc)))
		return NULL;
	paths->first_arc[paths->paths++] = used;
	paths->first_arc[paths->paths] = used + links;
	return paths->arc + used;
}

static int add_pair(struct smart_paths *paths, const struct search *search, uint32_t source,
	const struct route_options *options, uint32_t limit, struct error *error)
{
	const struct route_graph *graph = search->graph;
	const struct topology *topology = graph->topology;
	uint32_t destination = search->destination, links;
	uint64_t count = search_count(search, source, &links);
	uint32_t wanted = count < limit ? (uint32_t)count : limit;
	uint32_t hosts =
		route_graph_hosts_at(graph, source) * route_graph_hosts_at(graph, destination);
	bool per_host = options->granularity == ROUTE_PER_HOST_PAIR;
	struct rng rng;

	if (count == 0)
		return 0;
	if (links > ROUTE_LINKS_MAX)
		return error_set(error, EINVAL,
			"%s: the path from %s to %s takes %u links; at most %u are allowed",
			topology->name, topology->switch_at[source].name,
			topology->switch_at[destination].name, links, ROUTE_LINKS_MAX);
	paths->pair[paths->pairs++] = (struct smart_pair){
		source, destination, per_host ? hosts : 1, per_host ? 1 : hosts, paths->paths};
	rng_init(&rng, options->seed, source, PATH_STREAM | destination);
	for (uint32_t i = 0; i < wanted; i++) {
		/* Draws one from each of 'wanted' equal ranges of ranks. */
		uint64_t from = count * i / wanted, to = count * (i + 1) / wanted;
		uint32_t *path = smart_paths_append(paths, links);

		if (path == NULL)
			return error_set(
				error, ENOMEM, "%s: not enough memory for paths", topology->name);
		search_path(search, source, links, from + rng_below(&rng, to - from), path);
	}
	return 0;
}

static uint32_t count_host_switches(const struct route_graph *graph)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < graph->switches; at++)
		count += route_graph_hosts_at(graph, at) > 0;
	return count;
}

static int find_all(struct smart_paths *paths, struct search *search,
	const struct route_options *options, uint32_t limit, struct error *error)
{
	const struct route_graph *graph = search->graph;
	int result = 0;

	for (uint32_t to = 0; to < graph->switches && result == 0; to++) {
		if (route_graph_hosts_at(graph, to) == 0)
			continue;
		search_run(search, to);
		for (uint32_t from = 0; from < graph->switches && result == 0; from++)
			if (from != to && route_graph_hosts_at(graph, from) > 0)
				result = add_pair(paths, search, from, options, limit, error);
	}
	paths->pair[paths->pairs].first_path = paths->paths;
	return result;
}

int smart_paths_find(struct smart_paths *paths, const struct turns *turns,
	const struct route_options *options, uint32_t limit, struct error *error)
{
	const struct route_graph *graph = turns->graph;
	size_t switches = count_host_switches(graph);
	struct search search;
	int result;

	*paths = (struct smart_paths){0};
	paths->pair = calloc(switches * switches + 1, sizeof(*paths->pair));
	if (!search_init(&search, turns) || paths->pair == NULL)
		result = route_graph_no_memory(graph, error);
	else
		result = find_all(paths, &search, options, limit, error);
	arrays_free(&search.arrays);
	paths->large = paths->pairs > SMART_EXACT_PAIRS || paths->paths > SMART_EXACT_PATHS * limit;
	if (result < 0)
		smart_paths_fini(paths);
	return result;
}

void smart_paths_fini(struct smart_paths *paths)
{
	free(paths->pair);
	free(paths->first_arc);
	free(paths->arc);
	*paths = (struct smart_paths){0};
}

/* Breadth-first search from each component's first switch. Marks both arcs of each tree link. */
static void find_tree(const struct route_graph *graph, bool *reached, uint32_t *queue, bool *tree)
{
	for (uint32_t root = 0; root < graph->switches; root++) {
		uint32_t head = 0, tail = 0;

		if (reached[root])
			continue;
		reached[root] = true;
		for (queue[tail++] = root; head < tail; head++) {
			uint32_t at = queue[head];

			for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1];
				arc++) {
				uint32_t to = graph->arc[arc].to;

				if (reached[to])
					continue;
				reached[to] = tree[arc] = tree[graph->arc[arc].back] = true;
				queue[tail++] = to;
			}
		}
	}
}

static void number_turns(struct turns *turns)
{
	const struct route_graph *graph = turns->graph;

	for (uint32_t arc = 0; arc < graph->arcs; arc++) {
		uint32_t to = graph->arc[arc].to;

		turns->first[arc] = turns->turns;
		turns->turns += graph->first_arc[to + 1] - graph->first_arc[to];
	}
	turns->first[graph->arcs] = turns->turns;
}

static void allow_turns(struct turns *turns, const bool *tree)
{
	const struct route_graph *graph = turns->graph;

	for (uint32_t in = 0; in < graph->arcs; in++) {
		uint32_t at = graph->arc[in].to;

		for (uint32_t out = graph->first_arc[at]; out < graph->first_arc[at + 1]; out++) {
			uint32_t turn = turns_number(turns, in, out);

			turns->allowed[turn] = graph->arc[in].back != out;
			turns->kept[turn] = turns->allowed[turn] && tree[in] && tree[out];
		}
	}
}

int turns_init(struct turns *turns, const struct route_graph *graph)
{
	struct arrays scratch = {0};
	bool *reached = arrays_add(&scratch, graph->switches, sizeof(*reached));
	bool *tree = arrays_add(&scratch, graph->arcs, sizeof(*tree));
	uint32_t *queue = arrays_add(&scratch, graph->switches, sizeof(*queue));
	int result = -ENOMEM;

	*turns = (struct turns){.graph = graph};
	ARRAYS_ADD(turns, first, graph->arcs + 1u);
	if (scratch.failed || turns->arrays.failed)
		goto out;
	number_turns(turns);
	ARRAYS_ADD(turns, allowed, turns->turns + 1u);
	ARRAYS_ADD(turns, kept, turns->turns + 1u);
	if (turns->arrays.failed)
		goto out;
	find_tree(graph, reached, queue, tree);
	allow_turns(turns, tree);
	result = 0;
out:
	if (result < 0)
		turns_fini(turns);
	arrays_free(&scratch);
	return result;
}

void turns_fini(struct turns *turns)
{
	arrays_free(&turns->arrays);
	*turns = (struct turns){0};
}

bool turns_forbid(struct turns *turns, uint32_t turn)
{
	if (turns->kept[turn])
		return false;
	turns->allowed[turn] = false;
	return true;
}
