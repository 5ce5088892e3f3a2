/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Up to ten minimal paths for each pair of switches. */

#include "route/search/itb_routes.h"

#include "itb_networks.h"

#define NETWORKS 40

/* Paths of exactly this many links, found by trying every arc. */
static unsigned count(const struct route_graph *graph, uint32_t at, uint32_t to, unsigned links)
{
	unsigned found = 0;

	if (links == 0)
		return at == to;
	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
		found += count(graph, graph->arc[arc].to, to, links - 1);
	return found;
}

static void check_pair(const struct minimal_paths *paths, uint32_t from, uint32_t to)
{
	const struct route_graph *graph = paths->graph;
	const struct minimal_pair *pair =
		&paths->pair[paths->place_of[from] * paths->places + paths->place_of[to]];
	unsigned there_are = count(graph, from, to, pair->links);

	for (unsigned links = 0; links < pair->links; links++)
		assert_int_equal(count(graph, from, to, links), 0);
	assert_int_equal(
		pair->paths, there_are < MINIMAL_PATHS_MAX ? there_are : MINIMAL_PATHS_MAX);
	for (unsigned i = 0; i < pair->paths; i++) {
		const uint32_t *arc = pair->arc + i * pair->links;
		uint32_t at = from;

		for (unsigned k = 0; k < pair->links; k++) {
			assert_in_range(arc[k], graph->first_arc[at], graph->first_arc[at + 1] - 1);
			at = graph->arc[arc[k]].to;
		}
		assert_int_equal(at, to);
		for (unsigned k = 0; k < i && pair->links > 0; k++)
			assert_memory_not_equal(
				arc, pair->arc + k * pair->links, pair->links * sizeof(*arc));
	}
}

UNIT_TEST(paths_are_minimal_different_and_ten_or_all)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = network_random(seed, true);
		OWNED(route_graph) *graph = route_graph_create(topology);
		struct route_options options = {.seed = seed};
		struct minimal_paths paths;

		assert_non_null(graph);
		assert_int_equal(0, minimal_paths_make(graph, &options, &paths, NULL));
		for (uint32_t from = 0; from < paths.places; from++)
			for (uint32_t to = 0; to < paths.places; to++)
				check_pair(&paths, paths.switch_of[from], paths.switch_of[to]);
		minimal_paths_free(&paths);
	}
}

/* 20 links side by side. */
UNIT_TEST(of_more_than_ten_each_is_drawn_as_often)
{
	enum { WAYS = 20, SEEDS = 2000 };
	unsigned drawn[WAYS] = {0};
	struct network network;
	OWNED(topology) *topology;
	OWNED(route_graph) *graph;

	network_begin(&network, 2, 2);
	for (unsigned i = 0; i < WAYS; i++)
		network_link(&network, 0, 1);
	network_host(&network, 0, 0);
	network_host(&network, 1, 1);
	topology = network_end(&network);
	graph = route_graph_create(topology);
	assert_non_null(graph);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct route_options options = {.seed = seed};
		struct minimal_paths paths;

		assert_int_equal(0, minimal_paths_make(graph, &options, &paths, NULL));
		for (unsigned i = 0; i < MINIMAL_PATHS_MAX; i++)
			drawn[paths.pair[1].arc[i] - graph->first_arc[0]]++;
		minimal_paths_free(&paths);
	}
	for (unsigned i = 0; i < WAYS; i++)
		assert_in_range(drawn[i], SEEDS / 2 - 110, SEEDS / 2 + 110);
}
