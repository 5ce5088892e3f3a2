/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* dfsssp and lash: layers of VCs, their number and balance, and the load of the paths. */

#include "route/formats/route_binary.h"
#include "route/route_algorithm.h"
#include "route/search/shortest_trees.h"
#include "route/verify/route_verify.h"
#include "wire/frame.h"

#include "route_bench.h"

static const struct route_algorithm *const algorithms[] = {&route_dfsssp, &route_lash};

static struct route_set *routes(
	const struct topology *topology, const struct route_algorithm *algorithm, unsigned classes)
{
	const struct route_options options = {.seed = 1, .classes = classes};
	struct error error = {""};
	struct route_set *set = route_compute(topology, algorithm, &options, NULL, &error);

	if (set == NULL)
		fail_msg("%s: %s", algorithm->name, error.text);
	return set;
}

static unsigned layer_of(const struct route_set *set, uint32_t from, uint32_t to)
{
	unsigned length;
	const uint8_t *route = route_set_get(set, from, to, 0, &length);

	assert_non_null(route);
	return route_is_layer(route[0]) ? route[0] & ROUTE_LAYER_MASK : 0;
}

UNIT_TEST(a_tree_needs_no_layers)
{
	OWNED(topology) *topology = bench_generate("rlft:ports=4,stages=3");

	for (unsigned i = 0; i < 2; i++) {
		OWNED(route_set) *set = routes(topology, algorithms[i], 8);

		assert_null(route_set_vc_rule(set));
	}
}

UNIT_TEST(without_the_last_layer_there_is_a_cycle)
{
	OWNED(topology) *topology = bench_generate("torus:dims=5x5");

	for (unsigned i = 0; i < 2; i++) {
		OWNED(route_set) *set = routes(topology, algorithms[i], 0);
		OWNED(route_set) *merged = route_set_create(topology->hosts);
		struct vc_rule *rule = vc_rule_copy(route_set_vc_rule(set));
		OWNED(route_report) report;

		rule->classes--;
		route_set_use_vc_rule(merged, rule);
		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++) {
				unsigned length;
				const uint8_t *route = route_set_get(set, from, to, 0, &length);
				uint8_t other[ROUTE_ELEMENTS_MAX];

				if (route == NULL)
					continue;
				memcpy(other, route, length);
				if (layer_of(set, from, to) == rule->classes)
					other[0]--;
				if (other[0] == ROUTE_TYPE_LAYER)
					route_set_add(merged, from, to, other + 1, length - 1);
				else
					route_set_add(merged, from, to, other, length);
			}
		assert_int_equal(0, route_verify_set(topology, merged, &report, NULL));
		assert_int_equal(0, report.invalid);
		assert_false(report.deadlock_free);
		assert_true(report.cycle_length > 0);
	}
}

UNIT_TEST(a_layer_that_the_rule_lacks_is_an_invalid_route)
{
	static const uint8_t route[] = {ROUTE_TYPE_LAYER | 3, 0x80, 0x82, ROUTE_TYPE_HOST};
	OWNED(topology) *topology = bench_generate("ring:switches=4");
	OWNED(route_set) *set = route_set_create(4);
	OWNED(route_report) report;

	assert_int_equal(0, route_set_add(set, 0, 1, route, sizeof(route)));
	assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
	assert_int_equal(1, report.invalid);
}

UNIT_TEST(both_directions_of_a_pair_of_switches_are_in_one_layer_of_lash)
{
	OWNED(topology) *topology = bench_generate("torus:dims=6x6");
	OWNED(route_set) *set = routes(topology, &route_lash, 0);

	assert_non_null(route_set_vc_rule(set));
	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < from; to++)
			assert_int_equal(layer_of(set, from, to), layer_of(set, to, from));
}

UNIT_TEST(dfsssp_splits_the_fullest_layers_until_all_vcs_have_one)
{
	OWNED(topology) *topology = bench_generate("torus:dims=6x6");
	OWNED(route_set) *set = routes(topology, &route_dfsssp, 8);
	uint32_t pairs[VC_RULE_CLASSES_MAX] = {0};

	assert_int_equal(8, route_set_vc_rule(set)->classes);
	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			if (from != to)
				pairs[layer_of(set, from, to)]++;
	for (unsigned i = 0; i < VC_RULE_CLASSES_MAX; i++)
		assert_in_range(pairs[i], 1, 36 * 35 / 4);
}

UNIT_TEST(too_few_vcs_leave_only_the_rule_that_says_how_many)
{
	OWNED(topology) *topology = bench_generate("torus:dims=5x5");

	for (unsigned i = 0; i < 2; i++) {
		OWNED(route_set) *set = routes(topology, algorithms[i], 1);

		assert_true(route_set_vc_rule(set)->classes > 1);
		assert_int_equal(0, route_set_count(set, 0, 1));
	}
}

/* In a torus, each link can carry the same load, and the trees achieve this. */
UNIT_TEST(the_links_of_a_regular_network_carry_the_same_load)
{
	OWNED(topology) *topology = bench_generate("torus:dims=4x4x4");
	struct route_graph *graph = route_graph_create(topology);
	struct shortest_trees trees;

	assert_int_equal(0, shortest_trees_make(&trees, graph, false, NULL));
	for (uint32_t arc = 1; arc < graph->arcs; arc++)
		assert_int_equal(trees.load[arc], trees.load[0]);
	shortest_trees_free(&trees);
	route_graph_destroy(graph);
}

UNIT_TEST(layers_are_written_and_read_back_in_text_and_binary)
{
	OWNED(topology) *topology = bench_generate("torus:dims=5x5");
	OWNED(route_set) *set = routes(topology, &route_dfsssp, 4);

	for (unsigned binary = 0; binary < 2; binary++) {
		OWNED(route_file) file = {NULL};
		struct error error = {""};
		FILE *out = tmpfile();

		assert_non_null(out);
		assert_int_equal(0, binary ? route_binary_write(topology,
						     &(struct route_file){.set = set}, out, &error)
					   : route_file_write(topology, set, out, &error));
		rewind(out);
		if (route_file_read(topology, out, "FILE", &file, &error) != 0)
			fail_msg("%s", error.text);
		assert_true(bench_same_routes(set, file.set));
		assert_true(vc_rule_equal(route_set_vc_rule(set), route_set_vc_rule(file.set)));
		fclose(out);
	}
}
