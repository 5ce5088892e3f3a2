/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares the depth-first labels with their definition, computed separately by recursion. */

#include "route/algorithms/up_down.h"
#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

#include "networks.h"

#define NETWORKS 300
#define SWITCHES 9 /* maximum for a random network */
#define NOWHERE  1000u

/* A network as numbers of links between switches, and the order in which switches enter the
 * tree. */
struct definition {
	unsigned switches;
	unsigned links[SWITCHES][SWITCHES], distance[SWITCHES][SWITCHES];
	unsigned place[SWITCHES], entered;
};

static void define(struct definition *definition, const struct route_graph *graph)
{
	*definition = (struct definition){.switches = graph->switches};
	for (unsigned at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			definition->links[at][graph->arc[arc].to]++;
	for (unsigned a = 0; a < SWITCHES; a++) {
		definition->place[a] = NOWHERE;
		for (unsigned b = 0; b < SWITCHES; b++)
			definition->distance[a][b] = a == b                        ? 0
						     : definition->links[a][b] > 0 ? 1
										   : NOWHERE;
	}
	for (unsigned via = 0; via < SWITCHES; via++)
		for (unsigned a = 0; a < SWITCHES; a++)
			for (unsigned b = 0; b < SWITCHES; b++) {
				unsigned way =
					definition->distance[a][via] + definition->distance[via][b];

				if (way < definition->distance[a][b])
					definition->distance[a][b] = way;
			}
}

/* Smaller is better: links to the tree first, then distances, then the number. */
static uint64_t merit(const struct definition *definition, unsigned at)
{
	uint64_t links = 0, remote = 0;

	for (unsigned other = 0; other < definition->switches; other++) {
		if (definition->place[other] != NOWHERE)
			links += definition->links[at][other];
		if (definition->distance[at][other] < NOWHERE)
			remote += definition->distance[at][other];
	}
	return (1000 - links) << 32 | remote << 16 | at;
}

static void visit(struct definition *definition, unsigned at)
{
	definition->place[at] = definition->entered++;
	for (;;) {
		unsigned best = NOWHERE;

		for (unsigned to = 0; to < definition->switches; to++)
			if (definition->links[at][to] > 0 && definition->place[to] == NOWHERE &&
				(best == NOWHERE ||
					merit(definition, to) < merit(definition, best)))
				best = to;
		if (best == NOWHERE)
			return;
		visit(definition, best);
	}
}

static void assert_labels(const struct route_graph *graph, uint32_t root)
{
	struct definition definition;
	bool *up = calloc(graph->arcs + 1u, sizeof(*up));

	define(&definition, graph);
	visit(&definition, root);
	for (unsigned at = 0; at < graph->switches; at++)
		if (definition.place[at] == NOWHERE)
			visit(&definition, at);
	assert_int_equal(0, route_depth_first.label(graph, root, up, NULL));
	for (unsigned at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			assert_int_equal(up[arc],
				definition.place[graph->arc[arc].to] < definition.place[at]);
	free(up);
}

UNIT_TEST(the_labels_are_those_of_the_definition_from_every_root)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = network_random(seed, seed % 4 != 0);
		OWNED(route_graph) *graph = route_graph_create(topology);

		for (uint32_t root = 0; root < topology->switches; root++)
			assert_labels(graph, root);
	}
}

/* Frees the network. 'places' receives the position of each switch in the tree from switch 0. */
static void find_places(struct network *network, uint32_t *places)
{
	OWNED(topology) *topology = network_end(network);
	OWNED(route_graph) *graph = route_graph_create(topology);
	struct up_down_labels labels;

	assert_int_equal(0, depth_first_labels_make(graph, 0, &labels, NULL));
	memcpy(places, labels.level, topology->switches * sizeof(*places));
	for (uint32_t i = 0; i < topology->switches; i++)
		assert_int_equal(places[labels.order[i]], i);
	up_down_labels_free(&labels);
}

/* From 1, switch 4 has two links to the tree of 0 and 1. 2 and 3 have one, and smaller numbers. */
UNIT_TEST(a_neighbour_with_more_links_to_the_tree_enters_first)
{
	struct network network;
	uint32_t places[5];

	network_begin(&network, 5, 0);
	network_link(&network, 0, 1);
	network_link(&network, 0, 4);
	network_link(&network, 1, 2);
	network_link(&network, 1, 3);
	network_link(&network, 1, 4);
	network_link(&network, 2, 3);
	network_link(&network, 3, 4);
	find_places(&network, places);
	assert_int_equal(places[1], 1);
	assert_int_equal(places[4], 2);
}

UNIT_TEST(parallel_links_count_one_by_one)
{
	struct network network;
	uint32_t places[4];

	network_begin(&network, 4, 0);
	network_link(&network, 0, 1);
	network_link(&network, 1, 3); /* 1 and 2 are closer to all others than 3 */
	network_link(&network, 0, 2);
	network_link(&network, 1, 2);
	network_link(&network, 0, 3);
	network_link(&network, 0, 3);
	find_places(&network, places);
	assert_int_equal(places[3], 1);
}

/* From 0, switches 1 (the end of a chain) and 2 (a hub) have one link each. */
UNIT_TEST(of_equal_neighbours_the_one_nearest_to_all_enters_first)
{
	struct network network;
	uint32_t places[5];

	network_begin(&network, 5, 0);
	network_link(&network, 0, 1);
	network_link(&network, 0, 2);
	network_link(&network, 2, 3);
	network_link(&network, 2, 4);
	find_places(&network, places);
	assert_int_equal(places[2], 1);
	assert_int_equal(places[3], 2);
	assert_int_equal(places[4], 3);
	assert_int_equal(places[1], 4);
}

static double mean_minimal(const char *algorithm)
{
	double sum = 0;

	for (unsigned seed = 0; seed < 5; seed++) {
		struct route_options options = {.seed = 1};
		OWNED(topology) *topology;
		OWNED(route_set) *set;
		OWNED(route_report) report;
		struct error error = {""};
		char spec[64];

		snprintf(spec, sizeof(spec), "irregular:switches=32,hosts=1,seed=%u", seed);
		topology = topology_generate(spec, &error);
		assert_non_null(topology);
		set = route_compute(
			topology, route_algorithm_find(algorithm), &options, NULL, &error);
		assert_non_null(set);
		assert_int_equal(0, route_verify_set(topology, set, &report, &error));
		sum += report.minimal_fraction / 5;
	}
	return sum;
}

/* The thesis, section 5.2.2: 81 % for DFS, 71 % for UD, the mean of ten networks. */
UNIT_TEST(irregular_networks_of_32_switches_have_the_published_shares_of_minimal_routes)
{
	double dfs = mean_minimal("dfs"), ud = mean_minimal("ud");

	assert_true(dfs > 0.78 && dfs < 0.84);
	assert_true(dfs > ud + 0.03);
}
