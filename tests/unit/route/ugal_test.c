/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* ugal in grids and HyperX networks: the verifier judges the tables, with all detours. */

#include "failures.h"
#include "route/route_graph.h"
#include "route_bench.h"

static const struct {
	const char *spec;
	unsigned classes, longest;
} networks[] = {
	{"torus:dims=5", 4, 2},
	{"torus:dims=4x4,hosts=2", 4, 4},
	{"torus:dims=3x5x4", 4, 5},
	{"ring:switches=6", 4, 3},
	{"mesh:dims=4x3,hosts=2", 2, 5},
	{"mesh:dims=3x2x3", 2, 5},
	{"hypercube:dims=4", 2, 4},
	{"hyperx:shape=4x3", 2, 2},
	{"hyperx:shape=3x4x2,hosts=2", 2, 3},
	{"hyperx:shape=4x3,width=1x3", 2, 2},
	{"full:switches=6,hosts=2", 2, 1},
};

#define NETWORKS (sizeof(networks) / sizeof(networks[0]))

static struct route_table *tables(const struct topology *topology, struct error *error)
{
	const struct route_options options = {.seed = 1};

	return route_compute_table(topology, &route_ugal, &options, NULL, error);
}

UNIT_TEST(every_grid_and_hyperx_is_free_of_deadlock)
{
	for (unsigned i = 0; i < NETWORKS; i++) {
		OWNED(topology) *topology = bench_generate(networks[i].spec);
		struct error error = {""};
		OWNED(route_table) *table = tables(topology, &error);
		OWNED(route_report) report;

		if (table == NULL)
			fail_msg("%s", error.text);
		report = bench_verified(topology, table);
		if (!route_report_good(&report))
			fail_msg("%s: %u in a cycle, '%s'", networks[i].spec, report.cycle_length,
				report.evidence);
		assert_int_equal(report.vc_classes, networks[i].classes);
		assert_int_equal(report.max_switch_links, networks[i].longest);
	}
}

/* Links from a switch to a host according to the table. */
static unsigned follow(const struct topology *topology, const struct route_table *table,
	uint32_t at, uint32_t host)
{
	struct topology_port far;

	for (unsigned links = 0;; links++) {
		assert_true(topology_peer(topology,
			(struct topology_port){DEVICE_SWITCH, at, route_table_row(table, at)[host]},
			&far));
		if (far.kind == DEVICE_HOST)
			return links;
		at = far.device;
	}
}

UNIT_TEST(the_lengths_that_switches_weigh_are_those_of_the_tables)
{
	for (unsigned i = 0; i < NETWORKS; i++) {
		OWNED(topology) *topology = bench_generate(networks[i].spec);
		OWNED(route_table) *table = tables(topology, NULL);
		struct route_lengths *lengths = route_lengths_create(topology);

		assert_non_null(lengths);
		for (uint32_t at = 0; at < topology->switches; at++)
			for (uint32_t host = 0; host < topology->hosts; host++)
				assert_int_equal(follow(topology, table, at, host),
					route_lengths_to(lengths, at, host));
		assert_int_equal(route_lengths_to(lengths, 0, topology->hosts), UINT8_MAX);
		route_lengths_destroy(lengths);
	}
}

UNIT_TEST(a_torus_with_one_class_per_half_has_a_cycle)
{
	for (unsigned i = 0; networks[i].classes == 4; i++) {
		OWNED(topology) *topology = bench_generate(networks[i].spec);
		OWNED(route_table) *table = tables(topology, NULL);
		OWNED(route_report) report;

		table->vc_rule->classes = 2;
		report = bench_verified(topology, table);
		if (report.deadlock_free || report.cycle_length == 0)
			fail_msg("%s", networks[i].spec);
	}
}

UNIT_TEST(a_torus_without_any_of_its_links_is_free_of_deadlock)
{
	OWNED(topology) *whole = bench_generate("torus:dims=4x3");

	for (uint32_t link = 0; link < whole->links; link++) {
		OWNED(topology) *topology = NULL;
		OWNED(route_table) *table = NULL;
		OWNED(route_report) report;

		if (!failure_possible(whole, link))
			continue;
		topology = bench_generate("torus:dims=4x3");
		fail_link(topology, link);
		table = tables(topology, NULL);
		assert_non_null(table);
		report = bench_verified(topology, table);
		assert_true(route_report_good(&report));
	}
}

UNIT_TEST(other_networks_are_refused)
{
	static const char *const specs[] = {"rlft:ports=4,stages=2", "dragonfly:a=4,p=2,h=2",
		"slimfly:q=5", "irregular:switches=16,seed=3"};

	for (unsigned i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		OWNED(topology) *topology = bench_generate(specs[i]);
		struct error error = {""};

		assert_null(tables(topology, &error));
		assert_non_null(strstr(error.text, "ugal: the topology is neither a grid ("));
		assert_non_null(strstr(error.text, ") nor a HyperX: "));
	}
}

/* Port numbers are in a different order at one switch, so paths could close a cycle. */
UNIT_TEST(a_hyperx_whose_ports_are_in_another_order_is_refused)
{
	OWNED(topology) *topology = bench_generate("hyperx:shape=4x3");
	struct error error = {""};

	for (uint32_t i = 0; i < topology->links; i++)
		for (unsigned end = 0; end < 2; end++) {
			struct topology_port *port =
				end == 0 ? &topology->link_at[i].a : &topology->link_at[i].b;

			if (port->kind == DEVICE_SWITCH && port->device == 5 && port->port < 5)
				port->port = (uint8_t)(4 - port->port);
		}
	assert_int_equal(0, topology_finish(topology, "test", NULL));
	assert_null(tables(topology, &error));
	assert_non_null(strstr(error.text, "are not in the order of the dimensions"));
}

UNIT_MAIN(NULL, NULL)
