/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* In-transit buffers make any set of paths free of deadlock. */

#include "route/search/cycle_break.h"

#include "itb_networks.h"

#define NETWORKS 60
#define LINKS    6 /* maximum number of links in a random path */

struct fixture {
	struct topology *topology;
	struct route_graph *graph;
	struct route_path *path; /* [source * hosts + destination] */
};

/* Paths of up to LINKS random links from every host. 'end' is the switch where they end. */
static struct route_path random_path(
	const struct route_graph *graph, uint32_t from, struct rng *rng)
{
	struct route_path path = {.links = 1 + (unsigned)rng_below(rng, LINKS)};
	uint32_t at = from;

	for (unsigned i = 0; i < path.links; i++) {
		uint32_t arcs = graph->first_arc[at + 1] - graph->first_arc[at];

		path.arc[i] = graph->first_arc[at] + (uint32_t)rng_below(rng, arcs);
		at = graph->arc[path.arc[i]].to;
	}
	return path;
}

static uint32_t end_of(const struct route_graph *graph, const struct route_path *path)
{
	return graph->arc[path->arc[path->links - 1]].to;
}

/* Draws paths until they end at a switch with hosts, one for each pair of hosts. */
static void begin(struct fixture *fixture, uint64_t seed, bool hosts_everywhere)
{
	uint32_t hosts;
	struct rng rng;

	fixture->topology = itb_network(seed, hosts_everywhere);
	fixture->graph = route_graph_create(fixture->topology);
	assert_non_null(fixture->graph);
	hosts = fixture->graph->hosts;
	fixture->path = calloc((size_t)hosts * hosts, sizeof(*fixture->path));
	assert_non_null(fixture->path);
	rng_init(&rng, seed, 0, 0);
	for (uint32_t i = 0; i < hosts * hosts; i++)
		do
			fixture->path[i] = random_path(
				fixture->graph, fixture->graph->host_switch[i / hosts], &rng);
		while (route_graph_hosts_at(
			       fixture->graph, end_of(fixture->graph, &fixture->path[i])) == 0);
}

static void end(struct fixture *fixture)
{
	free(fixture->path);
	route_graph_destroy(fixture->graph);
	topology_destroy(fixture->topology);
}
#define fixture_out_of_scope end

/* All paths, as routes to some host where they end. */
static struct route_set *routes_of(const struct fixture *fixture)
{
	const struct route_graph *graph = fixture->graph;
	struct route_set *set = route_set_create(graph->hosts);
	struct route_options options = {.seed = 1};

	assert_non_null(set);
	for (uint32_t i = 0; i < graph->hosts * graph->hosts; i++) {
		uint32_t source = i / graph->hosts, at = end_of(graph, &fixture->path[i]);
		uint32_t to = graph->host_of[graph->first_host[at]];
		struct error error;
		int result = 0;

		if (source != to && route_set_count(set, source, to) < ROUTE_ALTERNATIVES_MAX)
			result = route_path_add(
				graph, &options, set, source, to, &fixture->path[i], &error);
		if (result < 0)
			fail_msg("%s", error.text);
	}
	return set;
}

static void on_random_networks(bool hosts_everywhere)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		struct route_report report;
		OWNED(route_set) *set;
		OWNED(fixture) fixture;
		uint64_t paths;

		begin(&fixture, seed, hosts_everywhere);
		paths = (uint64_t)fixture.graph->hosts * fixture.graph->hosts;
		assert_int_equal(
			0, cycle_break_all(fixture.graph, seed, fixture.path, paths, NULL));
		set = routes_of(&fixture);
		assert_int_equal(0, route_verify_set(fixture.topology, set, &report, NULL));
		assert_int_equal(report.invalid, 0);
		assert_true(report.deadlock_free);
		route_report_free(&report);
	}
}

UNIT_TEST(any_paths_are_made_free_of_deadlock)
{
	on_random_networks(true);
}

UNIT_TEST(so_they_are_where_switches_have_no_hosts)
{
	on_random_networks(false);
}

UNIT_TEST(where_every_switch_has_hosts_the_paths_stay)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(fixture) before, after;
		uint64_t paths;

		begin(&before, seed, true);
		begin(&after, seed, true);
		paths = (uint64_t)after.graph->hosts * after.graph->hosts;
		assert_int_equal(0, cycle_break_all(after.graph, 1, after.path, paths, NULL));
		for (uint64_t i = 0; i < paths; i++) {
			assert_int_equal(before.path[i].links, after.path[i].links);
			assert_memory_equal(before.path[i].arc, after.path[i].arc,
				before.path[i].links * sizeof(uint32_t));
		}
	}
}

/* Paths of two links around a ring of six, from switch 'first', then from the next one. */
static void break_ring(struct route_path *path, uint32_t first)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(route_graph) *graph = route_graph_create(topology);

	assert_non_null(graph);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t from = (first + i) % 6;

		path[i] = (struct route_path){.links = 2};
		path[i].arc[0] = graph->first_arc[from]; /* port 0 leads to the next switch */
		path[i].arc[1] = graph->first_arc[(from + 1) % 6];
	}
	assert_int_equal(0, cycle_break_all(graph, 1, path, 6, NULL));
}

/* According to the text of figure 49, all six would have one. */
UNIT_TEST(only_the_path_that_closes_the_ring_gets_an_itb)
{
	struct route_path path[6];

	for (uint32_t first = 0; first < 6; first++) {
		break_ring(path, first);
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(path[i].itb, 0);
		assert_int_equal(path[5].itb, 1);
	}
}

static uint32_t arc_between(const struct route_graph *graph, uint32_t from, uint32_t to)
{
	for (uint32_t arc = graph->first_arc[from]; arc < graph->first_arc[from + 1]; arc++)
		if (graph->arc[arc].to == to)
			return arc;
	fail();
	return 0;
}

/* A triangle of switches without hosts, each linked to a switch with a host. One of the three paths
 * around the triangle would close it, and no host there can absorb. */
UNIT_TEST(where_no_host_can_absorb_another_path_is_taken)
{
	struct network network;
	OWNED(topology) *topology;
	OWNED(route_graph) *graph;
	struct route_path path[3];
	unsigned replaced = 0;

	network_begin(&network, 6, 3);
	for (uint32_t i = 0; i < 3; i++) {
		network_link(&network, i, (i + 1) % 3);
		network_link(&network, i, 3 + i);
		network_host(&network, i, 3 + i);
	}
	topology = network_end(&network);
	graph = route_graph_create(topology);
	assert_non_null(graph);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t at[] = {3 + i, i, (i + 1) % 3, (i + 2) % 3, 3 + (i + 2) % 3};

		path[i] = (struct route_path){.links = 4};
		for (unsigned k = 0; k < 4; k++)
			path[i].arc[k] = arc_between(graph, at[k], at[k + 1]);
	}
	assert_int_equal(0, cycle_break_all(graph, 1, path, 3, NULL));
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(path[i].itb, 0);
		assert_int_equal(end_of(graph, &path[i]), 3 + (i + 2) % 3);
		replaced += path[i].links == 3;
	}
	assert_int_equal(replaced, 1);
}

/* A frame has no space for the links of the whole chain. */
UNIT_TEST(a_way_that_fits_into_no_frame_is_refused)
{
	struct network network;
	OWNED(topology) *topology;
	OWNED(route_graph) *graph;
	struct cycle_break *breaker;
	struct route_path path;

	network_begin(&network, ROUTE_LINKS_MAX + 2, 2);
	for (uint32_t i = 0; i < ROUTE_LINKS_MAX + 1; i++)
		network_link(&network, i, i + 1);
	network_host(&network, 0, 0);
	network_host(&network, 1, ROUTE_LINKS_MAX + 1);
	topology = network_end(&network);
	graph = route_graph_create(topology);
	assert_non_null(graph);
	breaker = cycle_break_create(graph, 1);
	assert_non_null(breaker);
	assert_int_equal(0, cycle_break_find(breaker, 0, ROUTE_LINKS_MAX, &path));
	assert_int_equal(path.links, ROUTE_LINKS_MAX);
	assert_int_equal(-ENOENT, cycle_break_find(breaker, 0, ROUTE_LINKS_MAX + 1, &path));
	cycle_break_destroy(breaker);
}
