/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "itb_routes.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/rng.h"
#include "legal_routes.h"
#include "route/route_set.h"

/* Separates these draws from those for routes, whose streams are hosts or switches. */
#define CANDIDATE_STREAM ((uint64_t)2 << 32)

struct work {
	struct minimal_paths *paths;
	const struct route_options *options;
	bool *down; /* false for every arc, so nothing is forbidden */
};

/* Records the number and length of the paths from each switch with hosts. Sets '*arcs' to the
 * number of arcs in all of these paths. */
static int measure(const struct work *work, const struct legal_search *search, uint32_t to,
	size_t *arcs, struct error *error)
{
	const struct minimal_paths *paths = work->paths;
	const struct topology_device *name = paths->graph->topology->switch_at;

	*arcs = 0;
	for (uint32_t place = 0; place < paths->places; place++) {
		uint32_t from = paths->switch_of[place];
		uint64_t count = legal_search_count(search, from);
		struct minimal_pair *pair =
			&paths->pair[(size_t)place * paths->places + paths->place_of[to]];

		if (count == 0)
			continue;
		if (legal_search_links(search, from) > ROUTE_LINKS_MAX)
			return route_path_refuse(paths->graph, name[from].name, name[to].name,
				legal_search_links(search, from) + 2, error);
		pair->paths = count < paths->limit ? (uint8_t)count : paths->limit;
		pair->links = (uint8_t)legal_search_links(search, from);
		*arcs += (size_t)pair->paths * pair->links;
	}
	return 0;
}

static void draw(
	const struct work *work, const struct legal_search *search, uint32_t to, uint32_t *arc)
{
	const struct minimal_paths *paths = work->paths;

	for (uint32_t place = 0; place < paths->places; place++) {
		uint32_t from = paths->switch_of[place];
		struct minimal_pair *pair =
			&paths->pair[(size_t)place * paths->places + paths->place_of[to]];
		uint64_t ranks[MINIMAL_PATHS_MAX];
		struct rng rng;

		rng_init(&rng, work->options->seed, from, CANDIDATE_STREAM | to);
		rank_draw(&rng, legal_search_count(search, from), pair->paths, ranks);
		pair->arc = arc;
		for (unsigned i = 0; i < pair->paths; i++, arc += pair->links)
			legal_search_arcs(search, from, ranks[i], arc);
	}
}

static int make_part(void *context, unsigned job, unsigned jobs, struct error *error)
{
	const struct work *work = context;
	struct minimal_paths *paths = work->paths;
	struct legal_search *search = legal_search_create(paths->graph, work->down);
	int result = 0;

	if (search == NULL)
		return route_graph_no_memory(paths->graph, error);
	for (uint32_t place = job; place < paths->places && result == 0; place += jobs) {
		uint32_t to = paths->switch_of[place];
		size_t arcs;

		legal_search_run(search, to);
		result = measure(work, search, to, &arcs, error);
		if (result < 0)
			break;
		paths->column[place] = calloc(arcs + 1, sizeof(uint32_t));
		if (paths->column[place] == NULL)
			result = route_graph_no_memory(paths->graph, error);
		else
			draw(work, search, to, paths->column[place]);
	}
	legal_search_destroy(search);
	return result;
}

static int find_places(struct minimal_paths *paths)
{
	const struct route_graph *graph = paths->graph;

	ARRAYS_ADD(paths, switch_of, graph->switches + 1u);
	ARRAYS_ADD(paths, place_of, graph->switches + 1u);
	if (paths->arrays.failed)
		return -ENOMEM;
	for (uint32_t at = 0; at < graph->switches; at++) {
		paths->place_of[at] = ROUTE_GRAPH_NONE;
		if (route_graph_hosts_at(graph, at) == 0)
			continue;
		paths->place_of[at] = paths->places;
		paths->switch_of[paths->places++] = at;
	}
	paths->limit = MINIMAL_PATHS_MAX;
	while (paths->limit > 2 &&
		(uint64_t)paths->places * paths->places * paths->limit > MINIMAL_PATHS_ALL)
		paths->limit--;
	ARRAYS_ADD(paths, pair, (size_t)paths->places * paths->places + 1);
	ARRAYS_ADD(paths, column, paths->places + 1u);
	return paths->arrays.failed ? -ENOMEM : 0;
}

static int number_paths(struct minimal_paths *paths, struct error *error)
{
	uint64_t number = 0;

	for (size_t i = 0; i < (size_t)paths->places * paths->places; i++) {
		paths->pair[i].first = (uint32_t)number;
		number += paths->pair[i].paths;
	}
	if (number > UINT32_MAX)
		return route_graph_no_memory(paths->graph, error);
	paths->paths = (uint32_t)number;
	return 0;
}

int minimal_paths_make(const struct route_graph *graph, const struct route_options *options,
	struct minimal_paths *paths, struct error *error)
{
	struct work work = {paths, options, calloc(graph->arcs + 1u, sizeof(bool))};
	int result;

	*paths = (struct minimal_paths){.graph = graph};
	if (work.down == NULL || find_places(paths) < 0)
		result = route_graph_no_memory(graph, error);
	else
		result = route_jobs_run(options->jobs, make_part, &work, error);
	if (result == 0)
		result = number_paths(paths, error);
	free(work.down);
	if (result < 0)
		minimal_paths_free(paths);
	return result;
}

void minimal_paths_free(struct minimal_paths *paths)
{
	for (uint32_t place = 0; paths->column != NULL && place < paths->places; place++)
		free(paths->column[place]);
	arrays_free(&paths->arrays);
}
