/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Minimal routes with in-transit buffers at the forbidden turns of a tree. */

#include "itb_networks.h"

#define NETWORKS 60

static const char *const names[] = {"ud-mitb", "ud-mitb-first", "ud-itb", "dfs-itb", "dfs-itb-any"};
#define NAMES (sizeof(names) / sizeof(names[0]))

/* Labels of the arcs, by switch and port. */
struct labels {
	struct route_graph *graph;
	bool *up;
};

static bool leads_up(const struct labels *labels, uint32_t at, uint8_t port)
{
	const struct route_graph *graph = labels->graph;

	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
		if (graph->arc[arc].port == port)
			return labels->up[arc];
	fail();
	return false;
}

static void check_turns(const struct topology *topology, const struct itb_walk *walk, void *data)
{
	for (unsigned i = 1; i < walk->links; i++) {
		bool forbidden = !leads_up(data, walk->at[i - 1], walk->port[i - 1]) &&
				 leads_up(data, walk->at[i], walk->port[i]);

		assert_int_equal(walk->itb[i], forbidden);
	}
	assert_false(walk->itb[0]);
	assert_false(walk->itb[walk->links]);
}

UNIT_TEST(itbs_stand_at_the_forbidden_turns_and_nowhere_else)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = itb_network(seed, seed % 2 == 0);
		struct route_options options = {.seed = seed, .alternatives = 10};

		for (unsigned i = 0; i < NAMES; i++) {
			struct labels labels = {.graph = route_graph_create(topology)};
			OWNED(route_set) *set = bench_compute(topology, names[i], &options);

			assert_non_null(labels.graph);
			labels.up = calloc(labels.graph->arcs + 1u, sizeof(*labels.up));
			assert_non_null(labels.up);
			assert_int_equal(0, route_algorithm_find(names[i])->label(
						    labels.graph, 0, labels.up, NULL));
			itb_for_each(topology, set, check_turns, &labels);
			free(labels.up);
			route_graph_destroy(labels.graph);
		}
	}
}

/* Pairs of the set whose route has ITBs although their tree has a route of the same length without
 * them. */
static unsigned count_spared(const struct topology *topology, const char *name, const char *tree,
	const struct route_options *options)
{
	OWNED(route_set) *plain_set = bench_compute(topology, tree, options);
	OWNED(route_set) *set = bench_compute(topology, name, options);
	unsigned found = 0;

	for (uint32_t source = 0; source < topology->hosts; source++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			for (unsigned i = 0; i < route_set_count(set, source, to); i++) {
				struct itb_walk plain =
					itb_walk(topology, plain_set, source, to, 0);
				struct itb_walk walk = itb_walk(topology, set, source, to, i);

				found += walk.itbs > 0 && walk.links == plain.links;
			}
	return found;
}

UNIT_TEST(ud_mitb_and_dfs_itb_avoid_itbs_where_they_can_and_the_others_do_not)
{
	unsigned ud = 0, dfs = 0;

	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = itb_network(seed, seed % 2 == 0);
		struct route_options options = {
			.seed = seed, .alternatives = 1 + (unsigned)seed % 3};

		assert_int_equal(count_spared(topology, "ud-mitb", "ud", &options), 0);
		assert_int_equal(count_spared(topology, "ud-mitb-first", "ud", &options), 0);
		assert_int_equal(count_spared(topology, "dfs-itb", "dfs", &options), 0);
		ud += count_spared(topology, "ud-itb", "ud", &options);
		dfs += count_spared(topology, "dfs-itb-any", "dfs", &options);
	}
	assert_true(ud > 0);
	assert_true(dfs > 0);
}

/* Pairs whose route without ITBs is not the first of ten others in port order. */
static unsigned count_not_first(
	const struct topology *topology, const char *name, const struct route_options *options)
{
	struct route_options several = {.seed = options->seed, .alternatives = 10};
	OWNED(route_set) *set = bench_compute(topology, name, options);
	OWNED(route_set) *others = bench_compute(topology, "ud", &several);
	unsigned found = 0;

	for (uint32_t source = 0; source < topology->hosts; source++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			for (unsigned i = 0; i < route_set_count(others, source, to); i++) {
				struct itb_walk walk = itb_walk(topology, set, source, to, 0);
				struct itb_walk other = itb_walk(topology, others, source, to, i);

				found += walk.itbs == 0 && walk.links == other.links &&
					 memcmp(walk.port, other.port, walk.links) > 0;
			}
	return found;
}

UNIT_TEST(ud_mitb_first_takes_the_first_without_itbs_by_the_ports_and_ud_mitb_draws)
{
	unsigned drawn = 0;

	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = itb_network(seed, seed % 2 == 0);
		struct route_options options = {.seed = seed, .alternatives = 1};

		assert_int_equal(count_not_first(topology, "ud-mitb-first", &options), 0);
		drawn += count_not_first(topology, "ud-mitb", &options);
	}
	assert_true(drawn > 0);
}

/* The relevant part of the thesis' figure 45: from s1 to s2 there are two minimal paths, through
 * the root s0 and through s3, which is below both. */
static unsigned count_below(const char *name, unsigned seeds)
{
	struct network network;
	OWNED(topology) *topology;
	unsigned below = 0;

	network_begin(&network, 4, 4);
	network_link(&network, 0, 1);
	network_link(&network, 0, 2);
	network_link(&network, 1, 3);
	network_link(&network, 3, 2);
	for (uint32_t i = 0; i < 4; i++)
		network_host(&network, i, i);
	topology = network_end(&network);
	for (uint64_t seed = 0; seed < seeds; seed++) {
		struct route_options options = {.seed = seed};
		OWNED(route_set) *set = bench_compute(topology, name, &options);
		struct itb_walk walk = itb_walk(topology, set, 1, 2, 0);

		assert_int_equal(walk.links, 2);
		assert_int_equal(walk.itbs, walk.at[1] == 3);
		below += walk.at[1] == 3;
	}
	return below;
}

UNIT_TEST(in_figure_45_ud_mitb_always_goes_by_the_root)
{
	assert_int_equal(count_below("ud-mitb", 1000), 0);
}

UNIT_TEST(in_figure_45_ud_itb_goes_either_way_alike)
{
	assert_in_range(count_below("ud-itb", 1000), 500 - 80, 500 + 80);
}

UNIT_TEST(on_a_ring_every_itb_is_needed)
{
	OWNED(topology) *topology = network_ring(6);

	for (unsigned i = 0; i < NAMES; i++) {
		struct route_options options = {.seed = i};
		OWNED(route_set) *set = bench_compute(topology, names[i], &options);

		assert_true(itb_expect_all_needed(topology, set) >= 2);
	}
}

/* A ring of six where s3, the only switch with a forbidden turn, has no host. */
UNIT_TEST(without_hosts_at_the_turn_the_way_leads_round)
{
	struct route_options options = {.seed = 1};
	struct network network;
	OWNED(topology) *topology;
	OWNED(route_set) *set;
	struct itb_walk walk;

	network_begin(&network, 6, 5);
	for (uint32_t i = 0; i < 6; i++)
		network_link(&network, i, (i + 1) % 6);
	for (uint32_t i = 0; i < 5; i++)
		network_host(&network, i, i < 3 ? i : i + 1);
	topology = network_end(&network);
	set = bench_compute(topology, "ud-itb", &options);
	walk = itb_walk(topology, set, 2, 3, 0); /* from s2 to s4 */
	assert_int_equal(walk.links, 4);
	assert_int_equal(walk.itbs, 0);
	itb_expect_good(topology, "ud-itb", &options, false);
}

enum { ROW = 33, CHAIN = 16 };

/* Numbered so that up and down alternate on the path along the row. */
static uint32_t row_switch(uint32_t i)
{
	return 1 + (i % 2 == 0 ? i / 2 : (ROW + 1) / 2 + i / 2);
}

/* 33 switches in a row, each joined to the root through 16 others. Along the row, every other turn
 * is forbidden, which makes 32 links and 16 ITBs, too many for a frame. Through the root, there are
 * 34 links. */
UNIT_TEST(routes_that_do_not_fit_into_a_frame_give_way_to_legal_ones)
{
	struct route_options options = {.seed = 1};
	struct network network;
	OWNED(topology) *topology;
	OWNED(route_set) *set;
	struct itb_walk walk;

	network_begin(&network, 1 + ROW * (CHAIN + 1), ROW);
	network.topology->switch_at[0].ports = ROW;
	for (uint32_t i = 0; i < ROW; i++) {
		uint32_t chain = 1 + ROW + i * CHAIN;

		network_link(&network, 0, chain);
		for (uint32_t k = 1; k < CHAIN; k++)
			network_link(&network, chain + k - 1, chain + k);
		network_link(&network, chain + CHAIN - 1, row_switch(i));
		network_host(&network, i, row_switch(i));
	}
	for (uint32_t i = 0; i + 1 < ROW; i++)
		network_link(&network, row_switch(i), row_switch(i + 1));
	topology = network_end(&network);
	set = bench_compute(topology, "ud-itb", &options);
	walk = itb_walk(topology, set, 0, ROW - 1, 0);
	assert_int_equal(walk.links, 34);
	assert_int_equal(walk.itbs, 0);
	walk = itb_walk(topology, set, 0, 6, 0);
	assert_int_equal(walk.links, 6);
	assert_int_equal(walk.itbs, 3);
	itb_expect_good(topology, "ud-itb", &options, false);
}

UNIT_TEST(a_way_that_fits_into_no_frame_is_refused)
{
	OWNED(topology) *topology = network_ring(160);
	struct route_options options = {.seed = 1};
	struct error error;
	int result;

	assert_null(
		route_compute(topology, route_algorithm_find("ud-itb"), &options, &result, &error));
	assert_int_equal(result, -EINVAL);
	assert_non_null(strstr(error.text, "route elements; at most 64 are allowed"));
}

UNIT_TEST(another_seed_or_root_gives_other_routes)
{
	struct route_options one = {.seed = 5}, seed = {.seed = 6}, root = {.seed = 5, .root = 7};

	for (unsigned i = 0; i < NAMES; i++) {
		/* Where a torus this small needs ITBs, there is one possible path. */
		assert_int_equal(itb_options_agree(names[i], &one, &seed),
			strcmp(names[i], "ud-mitb-first") == 0);
		assert_false(itb_options_agree(names[i], &one, &root));
	}
}

/* The thesis: 256 / 63 links; up/down has 32 / 7. */
UNIT_TEST(on_the_8_by_8_torus_all_is_minimal)
{
	OWNED(topology) *topology = network_torus(8, 8);
	struct route_options options = {.seed = 1};
	OWNED(route_report) report = itb_judge(topology, "ud-itb", &options);

	assert_true(report.minimal_fraction == 1);
	assert_in_range((unsigned)(report.mean_switch_links * 1e4 + 0.5), 40635, 40635);
	assert_true(report.deadlock_free);
}
