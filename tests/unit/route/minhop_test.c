/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Destination tables of minhop are shortest and balanced, and have no other guarantee. */

#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

#include "networks.h"

#define NETWORKS 300

static struct route_table *compute(const struct topology *topology)
{
	struct route_options options = {0};
	struct error error = {""};
	struct route_table *table =
		route_compute_table(topology, &route_minhop, &options, NULL, &error);

	if (table == NULL)
		fail_msg("%s", error.text);
	return table;
}

/* Computes and judges. The caller frees the report. Destroys the topology. */
static struct route_report judge(struct topology *topology)
{
	struct route_table *table = compute(topology);
	struct route_report report;

	assert_int_equal(0,
		route_verify(topology, &(struct route_subject){.table = table}, 1, &report, NULL));
	route_table_destroy(table);
	topology_destroy(topology);
	return report;
}

UNIT_TEST(every_way_arrives_by_a_shortest_path)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(route_report) report = judge(network_random(seed, true));

		assert_true(report.connected);
		assert_int_equal(report.invalid, 0);
		assert_true(report.far_routes == 0 || report.minimal_fraction == 1);
	}
}

UNIT_TEST(what_no_way_leads_to_has_no_entry)
{
	struct network network;
	OWNED(topology) *topology;
	OWNED(route_table) *table;

	network_begin(&network, 3, 3);
	network_link(&network, 0, 1);
	for (uint32_t i = 0; i < 3; i++)
		network_host(&network, i, i);
	topology = network_end(&network);
	table = compute(topology);
	assert_int_equal(route_table_row(table, 0)[2], ROUTE_TABLE_NONE);
	assert_int_equal(route_table_row(table, 2)[0], ROUTE_TABLE_NONE);
	assert_int_equal(route_table_row(table, 0)[1], 0);
}

UNIT_TEST(parallel_links_share_the_load)
{
	struct network network;
	OWNED(route_report) report;

	network_begin(&network, 2, 12);
	for (unsigned i = 0; i < 3; i++)
		network_link(&network, 0, 1);
	for (uint32_t i = 0; i < 12; i++)
		network_host(&network, i, i % 2);
	report = judge(network_end(&network));
	assert_int_equal(report.link_load.min, 12);
	assert_int_equal(report.link_load.max, 12);
}

UNIT_TEST(in_a_fat_tree_the_load_is_even)
{
	OWNED(route_report) report = judge(network_fat_tree(4, 2));

	assert_int_equal(report.link_load.min, report.link_load.max);
}

/* Chosen only by the order of the ports, the deviation is more than a third of the mean. */
UNIT_TEST(on_a_torus_the_load_is_spread)
{
	OWNED(route_report) report = judge(network_torus(8, 1));

	assert_true(report.link_load.stddev < 0.25 * report.link_load.mean);
}

UNIT_TEST(on_a_ring_it_can_deadlock_and_the_verifier_says_so)
{
	OWNED(route_report) report = judge(network_ring(5));

	assert_false(report.deadlock_free);
	assert_int_equal(report.cycle_length, 5);
}
