/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The parts of smart-routing: turns, paths, the linear program, breaking cycles, whole routes. */

#include <math.h>

#include "route/search/cycle_break.h"
#include "route/smart/smart_plan.h"

#include "networks.h"

#define NETWORKS 100

/* A random network with its turns. */
struct bench {
	struct topology *topology;
	struct route_graph *graph;
	struct turns turns;
	struct route_options options;
};

static void bench_begin(struct bench *bench, struct topology *topology, uint64_t seed)
{
	bench->topology = topology;
	bench->graph = route_graph_create(topology);
	bench->options = (struct route_options){.seed = seed, .alternatives = 1};
	assert_non_null(bench->graph);
	assert_int_equal(0, turns_init(&bench->turns, bench->graph));
}

static void bench_end(struct bench *bench)
{
	turns_fini(&bench->turns);
	route_graph_destroy(bench->graph);
	topology_destroy(bench->topology);
}
#define bench_out_of_scope bench_end

static void find_paths(const struct bench *bench, struct smart_paths *paths)
{
	struct error error = {""};

	if (smart_paths_find(paths, &bench->turns, &bench->options, 32, &error) != 0)
		fail_msg("%s", error.text);
}

static uint32_t arc_between(const struct route_graph *graph, uint32_t from, uint32_t to)
{
	for (uint32_t arc = graph->first_arc[from]; arc < graph->first_arc[from + 1]; arc++)
		if (graph->arc[arc].to == to)
			return arc;
	fail();
	return 0;
}

/* Calls 'visit' for every turn except those back into the same link. */
static void each_turn(const struct bench *bench,
	void (*visit)(const struct bench *bench, void *context, uint32_t in, uint32_t out),
	void *context)
{
	const struct route_graph *graph = bench->graph;

	for (uint32_t in = 0; in < graph->arcs; in++) {
		uint32_t at = graph->arc[in].to;

		for (uint32_t out = graph->first_arc[at]; out < graph->first_arc[at + 1]; out++)
			if (out != graph->arc[in].back)
				visit(bench, context, in, out);
	}
}

static bool allowed(const struct bench *bench, uint32_t in, uint32_t out)
{
	return bench->turns.allowed[turns_number(&bench->turns, in, out)];
}

static void accept_allowed(const struct bench *bench, void *context, uint32_t in, uint32_t out)
{
	if (allowed(bench, in, out))
		assert_true(acyclic_add(context, in, out));
}

static void refuse_forbidden(const struct bench *bench, void *context, uint32_t in, uint32_t out)
{
	if (!allowed(bench, in, out))
		assert_false(acyclic_add(context, in, out));
}

static uint32_t count_pairs(const struct bench *bench)
{
	OWNED(smart_paths) paths;
	uint32_t pairs;

	find_paths(bench, &paths);
	pairs = paths.pairs;
	return pairs;
}

UNIT_TEST(turns_that_are_kept_connect_all_pairs_and_close_no_cycle)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		struct acyclic *acyclic;
		OWNED(bench) bench;
		uint32_t pairs;

		bench_begin(&bench, network_random(seed, seed % 2 == 0), seed);
		pairs = count_pairs(&bench);
		for (uint32_t turn = 0; turn < bench.turns.turns; turn++)
			turns_forbid(&bench.turns, turn);
		assert_int_equal(count_pairs(&bench), pairs);
		acyclic = acyclic_create(bench.graph);
		each_turn(&bench, accept_allowed, acyclic);
		acyclic_destroy(acyclic);
	}
}

UNIT_TEST(in_the_end_the_allowed_turns_close_no_cycle_and_any_other_would)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		struct acyclic *acyclic;
		OWNED(bench) bench;

		bench_begin(&bench, network_random(seed, seed % 2 == 0), seed);
		assert_int_equal(0, smart_break_cycles(&bench.turns, &bench.options, NULL));
		acyclic = acyclic_create(bench.graph);
		each_turn(&bench, accept_allowed, acyclic);
		each_turn(&bench, refuse_forbidden, acyclic);
		acyclic_destroy(acyclic);
	}
}

/* A ring of five. The tree from 0 omits the link between 2 and 3, so the turns there may be
 * forbidden: 1-2-3 carries the routes from 1 to 3, and 2-3-4 those from 2 to 4. */
static bool ring_keeps_turn_at_2(uint32_t hosts_at_1, uint32_t hosts_at_2)
{
	uint32_t hosts = 3 + hosts_at_1 + hosts_at_2, host = 0;
	const struct route_graph *graph;
	struct network network;
	OWNED(bench) bench;
	bool at_2, at_3;

	network_begin(&network, 5, hosts);
	for (uint32_t at = 0; at < 5; at++)
		network_link(&network, at, (at + 1) % 5);
	for (uint32_t at = 0; at < 5; at++)
		for (uint32_t i = 0; i < (at == 1 ? hosts_at_1 : at == 2 ? hosts_at_2 : 1); i++)
			network_host(&network, host++, at);
	bench_begin(&bench, network_end(&network), 1);
	graph = bench.graph;
	assert_int_equal(0, smart_break_cycles(&bench.turns, &bench.options, NULL));
	at_2 = allowed(&bench, arc_between(graph, 1, 2), arc_between(graph, 2, 3));
	at_3 = allowed(&bench, arc_between(graph, 2, 3), arc_between(graph, 3, 4));
	assert_int_not_equal(at_2, at_3);
	return at_2;
}

UNIT_TEST(the_turn_that_costs_least_is_forbidden)
{
	assert_true(ring_keeps_turn_at_2(3, 1));
	assert_false(ring_keeps_turn_at_2(1, 3));
}

UNIT_TEST(paths_are_the_shortest_over_allowed_turns)
{
	const struct route_graph *graph;
	OWNED(bench) bench;
	OWNED(smart_paths) paths;
	uint32_t in, out;

	bench_begin(&bench, network_ring(5), 1);
	graph = bench.graph;
	in = arc_between(graph, 1, 2);
	out = arc_between(graph, 2, 3);
	assert_true(turns_forbid(&bench.turns, turns_number(&bench.turns, in, out)));
	find_paths(&bench, &paths);
	assert_int_equal(paths.pairs, 5 * 4);
	for (uint32_t k = 0; k < paths.pairs; k++) {
		uint32_t from = paths.pair[k].source, to = paths.pair[k].destination;
		uint32_t way = (to + 5 - from) % 5, first = paths.pair[k].first_path;
		uint32_t links = way < 5 - way ? way : 5 - way;

		assert_int_equal(paths.pair[k + 1].first_path - first, 1);
		if (from == 1 && to == 3)
			links = 3; /* in the other direction */
		assert_int_equal(paths.first_arc[first + 1] - paths.first_arc[first], links);
	}
}

UNIT_TEST(a_sample_of_many_paths_has_no_path_twice)
{
	OWNED(bench) bench;
	OWNED(smart_paths) paths;

	bench_begin(&bench, network_torus(6, 1), 7);
	assert_int_equal(0, smart_paths_find(&paths, &bench.turns, &bench.options, 10, NULL));
	for (uint32_t k = 0; k < paths.pairs; k++) {
		uint32_t first = paths.pair[k].first_path, end = paths.pair[k + 1].first_path;

		assert_in_range(end - first, 1, 10);
		for (uint32_t a = first; a < end; a++)
			for (uint32_t b = a + 1; b < end; b++)
				assert_memory_not_equal(paths.arc + paths.first_arc[a],
					paths.arc + paths.first_arc[b],
					(paths.first_arc[a + 1] - paths.first_arc[a]) *
						sizeof(*paths.arc));
	}
}

/* Maximum load plus mean load, which the program minimises. */
static double objective(const struct smart_paths *paths, uint32_t arcs, const double *flow)
{
	double *load = calloc(arcs + 1u, sizeof(*load)), max = 0, sum = 0;

	for (uint32_t p = 0; p < paths->paths; p++)
		for (uint32_t i = paths->first_arc[p]; i < paths->first_arc[p + 1]; i++)
			load[paths->arc[i]] += flow[p];
	for (uint32_t arc = 0; arc < arcs; arc++) {
		max = fmax(max, load[arc]);
		sum += load[arc];
	}
	free(load);
	return max + sum / arcs;
}

/* Cost of the cheapest path of the pair at these prices. */
static double cheapest(const struct smart_paths *paths, uint32_t pair, const double *price)
{
	double min = HUGE_VAL;

	for (uint32_t p = paths->pair[pair].first_path; p < paths->pair[pair + 1].first_path; p++) {
		double sum = 0;

		for (uint32_t i = paths->first_arc[p]; i < paths->first_arc[p + 1]; i++)
			sum += price[paths->arc[i]];
		min = fmin(min, sum);
	}
	return min;
}

/* Weak duality: let the prices of the arcs be 1 / arcs each, plus 1 distributed over all arcs. Any
 * split then costs at least what all pairs pay on their cheapest paths, and its maximum load plus
 * its mean load is at least its cost. A split that attains this bound is an optimum, however it was
 * found. */
UNIT_TEST(prices_prove_that_no_split_is_better)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(bench) bench;
		OWNED(smart_paths) paths;
		struct smart_prices prices;
		double *flow, bound = 0, sum = 0;
		uint32_t arcs;

		bench_begin(&bench, network_random(seed, true), seed);
		arcs = bench.graph->arcs;
		find_paths(&bench, &paths);
		flow = calloc(paths.paths + 1u, sizeof(*flow));
		prices.arc = calloc(arcs + 1u, sizeof(*prices.arc));
		prices.pair = calloc(paths.pairs + 1u, sizeof(*prices.pair));
		assert_int_equal(0, smart_lp_balance(&paths, bench.graph, flow, &prices, NULL));
		for (uint32_t arc = 0; arc < arcs; arc++) {
			assert_true(paths.pairs == 0 || prices.arc[arc] >= 1.0 / arcs);
			sum += prices.arc[arc] - 1.0 / arcs;
		}
		for (uint32_t k = 0; k < paths.pairs; k++) {
			double traffic = paths.pair[k].routes * paths.pair[k].weight, parts = 0;

			for (uint32_t p = paths.pair[k].first_path;
				p < paths.pair[k + 1].first_path; p++)
				parts += flow[p];
			assert_true(fabs(parts - traffic) < 1e-6);
			bound += traffic * cheapest(&paths, k, prices.arc);
		}
		if (paths.pairs > 0) {
			assert_true(fabs(sum - 1) < 1e-6);
			assert_true(fabs(objective(&paths, arcs, flow) - bound) < 1e-6 * bound);
			/* The short form of the program, without prices, is equivalent. */
			assert_int_equal(
				0, smart_lp_balance(&paths, bench.graph, flow, NULL, NULL));
			assert_true(fabs(objective(&paths, arcs, flow) - bound) < 1e-6 * bound);
		}
		free(flow);
		free(prices.arc);
		free(prices.pair);
	}
}

UNIT_TEST(the_descent_comes_close_to_the_program_and_bounds_it)
{
	double program = 0, descent = 0, bounds = 0;

	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(bench) bench;
		OWNED(smart_paths) paths;
		struct smart_prices prices;
		double *flow, best, bound = 0;

		bench_begin(&bench, network_random(seed, true), seed);
		find_paths(&bench, &paths);
		flow = calloc(paths.paths + 1u, sizeof(*flow));
		prices.arc = calloc(bench.graph->arcs + 1u, sizeof(*prices.arc));
		prices.pair = calloc(paths.pairs + 1u, sizeof(*prices.pair));
		assert_int_equal(0, smart_lp_balance(&paths, bench.graph, flow, NULL, NULL));
		best = objective(&paths, bench.graph->arcs, flow);
		assert_int_equal(
			0, smart_descent_balance(&paths, bench.graph, flow, &prices, NULL));
		for (uint32_t k = 0; k < paths.pairs; k++) {
			double traffic = paths.pair[k].routes * paths.pair[k].weight, parts = 0;

			for (uint32_t p = paths.pair[k].first_path;
				p < paths.pair[k + 1].first_path; p++)
				parts += flow[p];
			assert_true(fabs(parts - traffic) < 1e-6 * traffic);
			assert_true(fabs(prices.pair[k] - cheapest(&paths, k, prices.arc)) < 1e-9);
			bound += traffic * prices.pair[k];
		}
		if (paths.pairs > 0) {
			assert_true(bound <= best * (1 + 1e-6));
			program += best;
			descent += objective(&paths, bench.graph->arcs, flow);
			bounds += bound;
		}
		free(flow);
		free(prices.arc);
		free(prices.pair);
	}
	assert_true(descent < 1.005 * program);
	assert_true(bounds > 0.99 * program);
}

UNIT_TEST(no_detour_is_added_that_is_not_cheaper)
{
	OWNED(bench) bench;
	OWNED(smart_paths) paths;
	struct smart_prices prices;
	uint32_t before, added;
	double bound;

	bench_begin(&bench, network_torus(3, 1), 1);
	find_paths(&bench, &paths);
	before = paths.paths;
	prices.arc = calloc(bench.graph->arcs, sizeof(*prices.arc));
	prices.pair = calloc(paths.pairs, sizeof(*prices.pair));
	for (uint32_t arc = 0; arc < bench.graph->arcs; arc++)
		prices.arc[arc] = 1;
	for (uint32_t k = 0; k < paths.pairs; k++)
		prices.pair[k] = cheapest(&paths, k, prices.arc);
	assert_int_equal(0, smart_detours_add(&paths, &bench.turns, &prices, &added, &bound));
	assert_int_equal(added, 0);
	/* One pair would pay more, so it gets one more path. */
	prices.pair[5] += 0.5;
	assert_int_equal(0, smart_detours_add(&paths, &bench.turns, &prices, &added, &bound));
	assert_int_equal(added, 1);
	assert_int_equal(paths.paths, before + 1);
	free(prices.arc);
	free(prices.pair);
}

/* Six routes over four parallel links. */
UNIT_TEST(whole_routes_are_spread_as_evenly_as_they_can)
{
	OWNED(bench) bench;
	OWNED(smart_paths) paths;
	struct network network;
	uint32_t count[64] = {0};
	double flow[64];

	network_begin(&network, 2, 5);
	for (unsigned i = 0; i < 4; i++)
		network_link(&network, 0, 1);
	for (uint32_t host = 0; host < 5; host++)
		network_host(&network, host, host < 2 ? 0 : 1);
	bench_begin(&bench, network_end(&network), 1);
	find_paths(&bench, &paths);
	assert_int_equal(paths.paths, 8);
	for (uint32_t p = 0; p < paths.paths; p++)
		flow[p] = 1.5;
	assert_int_equal(0, smart_share(&paths, bench.graph, flow, count));
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t first = paths.pair[k].first_path;

		assert_int_equal(
			6, count[first] + count[first + 1] + count[first + 2] + count[first + 3]);
		for (uint32_t p = first; p < first + 4; p++)
			assert_in_range(count[p], 1, 2);
	}
}

/* The maximum load of an arc: traffic times cost. */
static double weighted_load(
	const struct route_graph *graph, const struct smart_paths *paths, const double *flow)
{
	double *load = calloc(graph->arcs + 1u, sizeof(*load)), max = 0;

	for (uint32_t p = 0; p < paths->paths; p++)
		for (uint32_t i = paths->first_arc[p]; i < paths->first_arc[p + 1]; i++)
			load[paths->arc[i]] += flow[p];
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		max = fmax(max, load[arc] * graph->arc[arc].cost);
	free(load);
	return max;
}

static double weighted_load_of_routes(const struct route_graph *graph, const struct route_set *set)
{
	double *load = calloc(graph->arcs + 1u, sizeof(*load)), max = 0;

	for (uint32_t from = 0; from < graph->hosts; from++)
		for (uint32_t to = 0; to < graph->hosts; to++) {
			unsigned length = 0;
			const uint8_t *route = route_set_get(set, from, to, 0, &length);
			uint32_t at = graph->host_switch[from];

			for (unsigned i = 0;
				from != to && i < length && at != graph->host_switch[to]; i++) {
				uint32_t arc;

				if ((route[i] & ROUTE_PORT_BIT) == 0)
					continue;
				/* A host on the path that absorbs and re-injects. */
				if (i + 1 < length && route[i + 1] == ROUTE_TYPE_ITB)
					continue;
				arc = route_graph_arc_of_port(
					graph, at, route[i] & ROUTE_PORT_MASK);
				load[arc]++;
				at = graph->arc[arc].to;
			}
		}
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		max = fmax(max, load[arc] * graph->arc[arc].cost);
	free(load);
	return max;
}

/* 12 switches with four hosts each, a ring and chords, some of them doubled, at 100, 200 or 400
 * Gbps. */
static struct topology *draw_mixed(uint64_t seed)
{
	struct topology *topology;
	struct network network;
	struct rng rng;

	rng_init(&rng, seed, 0, 0);
	network_begin(&network, 12, 48);
	for (uint32_t s = 0; s < 12; s++) {
		network_link(&network, s, (s + 1) % 12);
		network_link(&network, s, (s + 2 + (uint32_t)rng_below(&rng, 8)) % 12);
		if (rng_below(&rng, 3) == 0)
			network_link(&network, s, (s + 1) % 12);
	}
	for (uint32_t host = 0; host < 48; host++)
		network_host(&network, host, host / 4);
	topology = network_end(&network);
	for (uint32_t i = 0; i < topology->links; i++)
		topology->link_at[i].rate_bps = (uint64_t)100000000000 << rng_below(&rng, 3);
	return topology;
}

/* The load that the linear program reaches over all shortest paths is the bound. */
UNIT_TEST(routes_over_links_of_mixed_rates_come_close_to_the_bound)
{
	static const struct route_algorithm *const algorithms[] = {
		&route_bsmart_itb, &route_bmin_itb};
	double worst = 1, unweighted = 1;

	for (uint64_t seed = 0; seed < 50; seed++) {
		OWNED(bench) bench;
		OWNED(smart_paths) paths;
		double *flow, bound, share = 0;

		bench_begin(&bench, draw_mixed(seed), seed);
		find_paths(&bench, &paths);
		flow = calloc(paths.paths + 1u, sizeof(*flow));
		assert_int_equal(0, smart_lp_balance(&paths, bench.graph, flow, NULL, NULL));
		bound = weighted_load(bench.graph, &paths, flow);
		for (unsigned i = 0; i < 2; i++) {
			OWNED(route_set) *set = route_compute(
				bench.topology, algorithms[i], &bench.options, NULL, NULL);
			double here = bound / weighted_load_of_routes(bench.graph, set);

			assert_true(here <= 1 + 1e-6);
			share = fmax(share, here);
			if (i == 0)
				unweighted = fmin(unweighted, here);
		}
		worst = fmin(worst, share);
		free(flow);
	}
	print_message("worst share of the bound: %.3f, bsmart-itb alone %.3f\n", worst, unweighted);
	assert_true(worst >= 0.95);
}
