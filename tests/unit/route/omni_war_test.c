/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* omni-war and dal in HyperX networks of several shapes: the verifier judges the tables, with all
 * detours. */

#include "queuing/vc_ladder.h"

#include "failures.h"
#include "route_bench.h"

static const struct {
	const char *spec;
	unsigned dims;
} networks[] = {
	{"hyperx:shape=1", 0},
	{"hyperx:shape=5,hosts=2", 1},
	{"hyperx:shape=3x3", 2},
	{"hyperx:shape=4x3,width=1x3", 2},
	{"hyperx:shape=3x4x2,hosts=2", 3},
	{"hyperx:shape=2x3x2x2", 4},
	{"hypercube:dims=3", 3},
	{"full:switches=6,hosts=2", 1},
};

#define NETWORKS (sizeof(networks) / sizeof(networks[0]))

static struct route_table *compute(const struct topology *topology,
	const struct route_algorithm *algorithm, unsigned vcs, struct error *error)
{
	const struct route_options options = {.seed = 1, .classes = vcs};

	return route_compute_table(topology, algorithm, &options, NULL, error);
}

static struct route_table *tables(
	const struct topology *topology, unsigned vcs, struct error *error)
{
	return compute(topology, &route_omni_war, vcs, error);
}

UNIT_TEST(every_shape_with_any_number_of_vcs_is_free_of_deadlock)
{
	for (unsigned i = 0; i < NETWORKS; i++)
		for (unsigned vcs = networks[i].dims; vcs <= VC_RULE_CLASSES_MAX; vcs++) {
			OWNED(topology) *topology = bench_generate(networks[i].spec);
			struct error error = {""};
			OWNED(route_table) *table = compute(
				topology, vcs % 2 == 0 ? &route_omni_war : &route_dal, vcs, &error);
			OWNED(route_report) report;

			if (table == NULL)
				fail_msg("%s", error.text);
			report = bench_verified(topology, table);
			if (!report.deadlock_free || !report.connected || report.invalid != 0)
				fail_msg("%s, %u VCs: %u in a cycle, '%s'", networks[i].spec, vcs,
					report.cycle_length, report.evidence);
			assert_int_equal(report.max_switch_links, networks[i].dims);
		}
}

UNIT_TEST(a_rung_less_than_dimensions_has_a_cycle)
{
	for (unsigned i = 0; i < NETWORKS; i++) {
		OWNED(topology) *topology = bench_generate(networks[i].spec);
		OWNED(route_table) *table = compute(topology,
			i % 2 == 0 ? &route_omni_war : &route_dal, networks[i].dims, NULL);
		OWNED(route_report) report;

		if (networks[i].dims < 2)
			continue;
		table->vc_rule->classes--;
		report = bench_verified(topology, table);
		if (report.deadlock_free || report.cycle_length == 0)
			fail_msg("%s", networks[i].spec);
	}
}

UNIT_TEST(all_vcs_are_rungs_and_by_default_there_are_as_many_detours_as_dimensions)
{
	static const unsigned expected[][2] = {{0, 4}, {1, 2}, {2, 2}, {3, 3}, {8, 8}, {16, 8}};
	OWNED(topology) *topology = bench_generate("hyperx:shape=3x3");

	for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		OWNED(route_table) *table = tables(topology, expected[i][0], NULL);

		assert_int_equal(table->vc_rule->classes, expected[i][1]);
	}
}

/* In a row of four, ports 0 to 2, and one of three, ports 3 and 4. */
UNIT_TEST(a_detour_stays_in_the_rows_that_lead_on_while_there_are_rungs)
{
	OWNED(topology) *topology = bench_generate("hyperx:shape=4x3");
	OWNED(route_table) *table = tables(topology, 3, NULL);
	const struct vc_rule *rule = table->vc_rule;
	const struct vc_ladder *ladder = vc_ladder_find(rule->steps);
	static const struct {
		uint32_t destination;
		unsigned input;
		uint8_t from;
		uint64_t minimal, ports;
	} rows[] = {
		{1, 5, 0, 0x01, 0x07}, /* from the host: three rungs for one link */
		{8, 5, 0, 0x10, 0x18}, /* in the other row */
		{9, 5, 0, 0x11, 0x1F}, /* three for two */
		{9, 0, 0, 0x11, 0x11}, /* two for two */
		{8, 3, 0, 0x10, 0x18}, /* two for one */
		{8, 3, 1, 0x10, 0x10}, /* one for one */
		{0, 3, 1, 0, 0},       /* here */
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t set = route_table_alternatives(table, 0)[rows[i].destination];
		enum vc_ladder_move move =
			vc_ladder_move(rule, ladder, 0, rows[i].input, rows[i].from, &set);

		assert_int_equal(set, rows[i].minimal);
		assert_int_equal(vc_ladder_ports(rule, 0, move, set), rows[i].ports);
	}
}

/* As above, with a rung for every hop that dal can take. */
UNIT_TEST(with_dal_a_packet_completes_the_row_of_its_detour_first)
{
	OWNED(topology) *topology = bench_generate("hyperx:shape=4x3");
	OWNED(route_table) *table = compute(topology, &route_dal, 4, NULL);
	const struct vc_rule *rule = table->vc_rule;
	const struct vc_ladder *ladder = vc_ladder_find(rule->steps);
	static const struct {
		uint32_t destination;
		unsigned input;
		uint64_t ports;
	} rows[] = {
		{9, 5, 0x1F}, /* from the host: any port of either row */
		{9, 1, 0x01}, /* a detour in the first row */
		{9, 4, 0x10}, /* or in the second */
		{8, 1, 0x18}, /* the first row is complete */
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t set = route_table_alternatives(table, 0)[rows[i].destination];
		enum vc_ladder_move move = vc_ladder_move(rule, ladder, 0, rows[i].input, 0, &set);

		assert_int_equal(vc_ladder_ports(rule, 0, move, set), rows[i].ports);
	}
}

static void expect_refused(const struct topology *topology)
{
	struct error error = {""};

	assert_null(tables(topology, 0, &error));
	assert_non_null(strstr(error.text, ": the links between s"));
	assert_non_null(strstr(error.text, "do not form a HyperX"));
}

UNIT_TEST(other_networks_are_refused)
{
	static const char *const specs[] = {"torus:dims=5", "torus:dims=3x5", "mesh:dims=3x3",
		"rlft:ports=4,stages=2", "rlft:ports=8,stages=2", "clos:ports=6,stages=2",
		"dragonfly:a=4,p=2,h=2", "slimfly:q=5", "irregular:switches=16,seed=3",
		"hypercube:dims=9"};

	for (unsigned i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		OWNED(topology) *topology = bench_generate(specs[i]);

		expect_refused(topology);
	}
}

UNIT_TEST(a_hyperx_without_one_of_its_links_is_refused)
{
	OWNED(topology) *whole = bench_generate("hyperx:shape=4x3");

	for (uint32_t link = 0; link < whole->links; link++) {
		OWNED(topology) *topology = NULL;

		if (!failure_possible(whole, link))
			continue;
		topology = bench_generate("hyperx:shape=4x3");
		fail_link(topology, link);
		expect_refused(topology);
	}
}
