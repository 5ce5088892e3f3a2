/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The algorithms that choose minimal paths, balanced or at random, and then place ITBs. */

#include <math.h>

#include "itb_networks.h"
#include "route/search/route_root.h"

#define NETWORKS 30

static const char *const names[] = {
	"random-itb", "bmin-itb", "b33-itb", "b50-itb", "b66-itb", "bmax-itb"};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* Only its leaves have hosts, so no minimal path turns upwards. */
UNIT_TEST(fat_trees_need_no_itbs_above_the_leaves)
{
	OWNED(topology) *topology = network_fat_tree(2, 3);

	for (unsigned i = 0; i < NAMES; i++)
		itb_expect_good(topology, names[i],
			&(struct route_options){.seed = i, .alternatives = 4}, true);
}

UNIT_TEST(random_and_bmin_have_no_itb_that_is_not_needed)
{
	unsigned itbs = 0;

	for (uint64_t seed = 1; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = itb_network(seed, true);
		struct route_options options = {.seed = seed};

		for (unsigned i = 0; i < 2 && topology->switches < 20; i++) {
			OWNED(route_set) *set = bench_compute(topology, names[i], &options);

			itbs += itb_expect_all_needed(topology, set);
		}
	}
	assert_true(itbs > 100);
}

static void check_at_first_switch(
	const struct topology *topology, const struct itb_walk *walk, void *data)
{
	unsigned *itbs = data;

	for (unsigned i = 1; i < walk->links && walk->port[0] == 0; i++)
		if (walk->itb[i]) {
			assert_int_equal(walk->at[i], 0);
			(*itbs)++;
		}
}

/* Clockwise around a ring, by source and then by destination, the turn at s0 comes last. */
UNIT_TEST(cycles_are_broken_in_the_order_of_sources)
{
	OWNED(topology) *topology = network_ring(6);
	unsigned itbs = 0;

	for (uint64_t seed = 0; seed < 20; seed++)
		for (unsigned i = 0; i < 2; i++) {
			struct route_options options = {.seed = seed};
			OWNED(route_set) *set = bench_compute(topology, names[i], &options);

			itb_for_each(topology, set, check_at_first_switch, &itbs);
		}
	assert_true(itbs >= 40);
}

/* A rule that a route must follow at each switch on its path. */
struct rule {
	const char *name;
	bool (*wants)(uint32_t a, uint32_t b, uint32_t c);
	const uint32_t *rank;
	unsigned places, itbs; /* counted */
};

static bool b33(uint32_t a, uint32_t b, uint32_t c)
{
	return b > a && b > c;
}

static bool b50(uint32_t a, uint32_t b, uint32_t c)
{
	return b < c;
}

static bool b66(uint32_t a, uint32_t b, uint32_t c)
{
	return b > a || b > c;
}

static bool bmax(uint32_t a, uint32_t b, uint32_t c)
{
	return true;
}

static void check_rule(const struct topology *topology, const struct itb_walk *walk, void *data)
{
	struct rule *rule = data;

	for (unsigned i = 1; i < walk->links; i++) {
		assert_int_equal(walk->itb[i],
			rule->wants(rule->rank[walk->at[i - 1]], rule->rank[walk->at[i]],
				rule->rank[walk->at[i + 1]]));
		rule->places++;
		rule->itbs += walk->itb[i];
	}
}

static const struct rule rules[] = {
	{"b33-itb", b33, NULL, 0, 0},
	{"b50-itb", b50, NULL, 0, 0},
	{"b66-itb", b66, NULL, 0, 0},
	{"bmax-itb", bmax, NULL, 0, 0},
};

static void run_rule(struct rule *rule, const struct topology *topology, uint64_t seed)
{
	OWNED(route_graph) *graph = route_graph_create(topology);
	struct route_options options = {.seed = seed, .alternatives = 1 + (unsigned)seed % 3};
	OWNED(route_set) *set = bench_compute(topology, rule->name, &options);
	uint32_t *rank;

	assert_non_null(graph);
	rank = switch_rank_make(graph, seed);
	assert_non_null(rank);
	rule->rank = rank;
	itb_for_each(topology, set, check_rule, rule);
	free(rank);
}

UNIT_TEST(itbs_stand_where_the_ranks_say_and_nowhere_else)
{
	for (uint64_t seed = 1; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = itb_network(seed, true);

		for (unsigned i = 0; i < 4 && topology->switches < 10; i++) {
			struct rule rule = rules[i];

			run_rule(&rule, topology, seed);
		}
	}
}

UNIT_TEST(shares_are_a_third_a_half_two_thirds_and_all)
{
	static const unsigned percent[] = {33, 50, 67, 100};
	OWNED(topology) *topology = network_torus(6, 1);

	for (unsigned i = 0; i < 4; i++) {
		struct rule rule = rules[i];
		unsigned share;

		for (uint64_t seed = 0; seed < 10; seed++)
			run_rule(&rule, topology, seed);
		share = (unsigned)(100.0 * rule.itbs / rule.places + 0.5);
		assert_in_range(share, percent[i] - 3, percent[i] + 3);
	}
}

UNIT_TEST(ranks_are_unique_and_the_lowest_without_hosts)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = itb_network(seed, false);
		OWNED(route_graph) *graph = route_graph_create(topology);
		uint32_t *rank, without = 0;
		uint64_t seen = 0;

		assert_non_null(graph);
		rank = switch_rank_make(graph, seed);
		assert_non_null(rank);
		for (uint32_t at = 0; at < graph->switches; at++) {
			seen |= (uint64_t)1 << rank[at];
			without += route_graph_hosts_at(graph, at) == 0;
		}
		assert_true(seen == UINT64_MAX >> (64 - graph->switches));
		for (uint32_t at = 0; at < graph->switches; at++)
			assert_int_equal(rank[at] < without, route_graph_hosts_at(graph, at) == 0);
		free(rank);
	}
}

/* Marks the connected switches without hosts around this one. */
static void mark_group(const struct route_graph *graph, uint32_t at, bool *marked)
{
	marked[at] = true;
	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
		uint32_t to = graph->arc[arc].to;

		if (!marked[to] && route_graph_hosts_at(graph, to) == 0)
			mark_group(graph, to, marked);
	}
}

/* A path down to it leads from every other switch of the group. */
static bool is_bottom(const struct route_graph *graph, uint32_t at, const uint32_t *rank)
{
	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
		if (rank[graph->arc[arc].to] < rank[at])
			return false;
	return true;
}

UNIT_TEST(switches_without_hosts_that_hang_together_have_one_bottom)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = itb_network(seed, false);
		OWNED(route_graph) *graph = route_graph_create(topology);
		unsigned groups = 0, bottoms = 0;
		bool marked[64] = {false};
		uint32_t *rank;

		assert_non_null(graph);
		rank = switch_rank_make(graph, seed);
		assert_non_null(rank);
		for (uint32_t at = 0; at < graph->switches; at++) {
			if (route_graph_hosts_at(graph, at) > 0)
				continue;
			bottoms += is_bottom(graph, at, rank);
			groups += !marked[at];
			mark_group(graph, at, marked);
		}
		assert_int_equal(groups, bottoms);
		free(rank);
	}
}

/* Returns true if all routes have the same paths, ignoring their ITBs. */
static bool same_ways(
	const struct topology *topology, const struct route_set *a, const struct route_set *b)
{
	for (uint32_t source = 0; source < topology->hosts; source++)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			struct itb_walk left, right;

			if (source == to)
				continue;
			left = itb_walk(topology, a, source, to, 0);
			right = itb_walk(topology, b, source, to, 0);
			if (left.links != right.links ||
				memcmp(left.port, right.port, left.links) != 0)
				return false;
		}
	return true;
}

UNIT_TEST(the_b_family_has_the_same_paths)
{
	OWNED(topology) *topology = network_torus(4, 2);
	struct route_options options = {.seed = 3};
	OWNED(route_set) *random = bench_compute(topology, "random-itb", &options);
	OWNED(route_set) *first = bench_compute(topology, "bmin-itb", &options);

	for (unsigned i = 2; i < NAMES; i++) {
		OWNED(route_set) *set = bench_compute(topology, names[i], &options);

		assert_true(same_ways(topology, first, set));
	}
	assert_false(same_ways(topology, first, random));
}

static double load_deviation(const char *name)
{
	OWNED(topology) *topology = network_torus(5, 2);
	OWNED(route_report) report = itb_judge(topology, name, &(struct route_options){.seed = 1});
	double deviation = report.link_load.stddev;

	return deviation;
}

UNIT_TEST(balancing_evens_the_load_out)
{
	assert_true(load_deviation("bmin-itb") < 0.4 * load_deviation("random-itb"));
}

UNIT_TEST(more_alternatives_do_not_change_the_first_routes)
{
	static const char *const all[] = {
		"ud", "random-itb", "bmin-itb", "b33-itb", "b50-itb", "b66-itb", "bmax-itb"};
	OWNED(topology) *topology = network_torus(4, 1);
	struct route_options one = {.seed = 3}, ten = {.seed = 3, .alternatives = 10};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		OWNED(route_set) *many = bench_compute(topology, all[i], &ten);
		OWNED(route_set) *few = bench_compute(topology, all[i], &one);

		for (uint32_t source = 0; source < topology->hosts; source++)
			for (uint32_t to = 0; to < topology->hosts; to++) {
				const uint8_t *left, *right;
				unsigned length[2];

				left = route_set_get(few, source, to, 0, &length[0]);
				right = route_set_get(many, source, to, 0, &length[1]);
				if (source == to)
					continue;
				assert_int_equal(length[0], length[1]);
				assert_memory_equal(left, right, length[0]);
			}
	}
}

/* On the 4 x 4 torus, a pair two apart in both dimensions has 24 minimal paths, and neighbours have
 * one. */
UNIT_TEST(a_pair_has_as_many_routes_as_asked_for_or_as_there_are)
{
	OWNED(topology) *topology = network_torus(4, 1);
	struct route_options ten = {.seed = 3, .alternatives = 10};

	for (unsigned i = 0; i < NAMES; i++) {
		OWNED(route_set) *set = bench_compute(topology, names[i], &ten);

		assert_int_equal(route_set_count(set, 0, 10), 10);
		assert_int_equal(route_set_count(set, 0, 1), 1);
		assert_int_equal(route_set_count(set, 0, 2), 2);
		assert_int_equal(route_set_count(set, 0, 5), 2);
	}
}

/* With all its ITBs, a bmax route fits up to 10 links, and a route of 20 links has space for 5. The
 * turns that other routes take under the rule must not close a cycle with those of such routes. */
UNIT_TEST(routes_too_long_for_all_their_itbs_go_with_fewer)
{
	static const uint32_t switches[] = {24, 40};

	for (unsigned k = 0; k < 2; k++) {
		OWNED(topology) *topology = network_ring(switches[k]);

		for (unsigned i = 0; i < NAMES; i++)
			itb_expect_good(
				topology, names[i], &(struct route_options){.seed = i}, true);
	}
}

static bool same_way(const struct topology *topology, const struct route_set *set, uint32_t a,
	uint32_t b, uint32_t c, uint32_t d)
{
	struct itb_walk left = itb_walk(topology, set, a, b, 0);
	struct itb_walk right = itb_walk(topology, set, c, d, 0);

	return memcmp(left.port, right.port, left.links) == 0;
}

/* Two hosts at each of two switches with two minimal paths, which four pairs share. If each path
 * carries two pairs, a host has the same path to both hosts in one of three cases. */
UNIT_TEST(which_pair_of_hosts_gets_which_path_is_random)
{
	OWNED(topology) *topology = network_torus(4, 2);
	unsigned halves = 0, same = 0;

	for (uint64_t seed = 0; seed < 150; seed++) {
		struct route_set *set =
			bench_compute(topology, "bmin-itb", &(struct route_options){.seed = seed});

		for (uint32_t at = 0; at < 16; at++) {
			uint32_t a = 2 * at, b = 2 * ((at / 4 + 1) % 4 * 4 + (at + 1) % 4);
			unsigned alike = 1 + same_way(topology, set, a, b, a, b + 1) +
					 same_way(topology, set, a, b, a + 1, b) +
					 same_way(topology, set, a, b, a + 1, b + 1);

			halves += alike == 2;
			same += alike == 2 && same_way(topology, set, a, b, a, b + 1);
		}
		route_set_destroy(set);
	}
	assert_true(halves > 200);
	assert_in_range(100 * same / halves, 23, 43);
}

UNIT_TEST(random_itb_takes_each_minimal_path_alike)
{
	OWNED(topology) *topology = network_ring(4);
	unsigned clockwise = 0;

	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct route_options options = {.seed = seed};
		OWNED(route_set) *set = bench_compute(topology, "random-itb", &options);

		clockwise += itb_walk(topology, set, 0, 2, 0).at[1] == 1;
	}
	assert_in_range(clockwise, 500 - 80, 500 + 80);
}

UNIT_TEST(another_seed_gives_other_routes)
{
	for (unsigned i = 0; i < NAMES; i++)
		assert_false(itb_options_agree(names[i], &(struct route_options){.seed = 5},
			&(struct route_options){.seed = 6}));
}

/* More paths than are deleted one by one. The verifier's loads give the printed bound. */
UNIT_TEST(many_paths_are_balanced_and_bounded)
{
	OWNED(topology) *topology = bench_generate("torus:dims=12x12,hosts=1");
	struct route_options options = {.seed = 1};
	OWNED(route_set) *set = bench_compute(topology, "bmin-itb", &options);
	OWNED(route_report) report;
	double mean, max;

	assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
	assert_true(route_report_good(&report));
	mean = report.link_load.mean;
	max = (double)report.link_load.max;
	assert_true(max < 1.03 * mean);
	assert_true(report.link_load.stddev < 0.01 * mean);
	assert_true(fabs(route_set_excess(set) - (max / mean - 1) / 2) < 1e-9);
}

UNIT_TEST(few_paths_have_no_bound)
{
	OWNED(topology) *topology = network_torus(4, 2);
	OWNED(route_set) *set =
		bench_compute(topology, "bmin-itb", &(struct route_options){.seed = 1});

	assert_true(route_set_excess(set) < 0);
}
