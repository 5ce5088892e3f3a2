/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Routing in Dragonflies of all sizes, whole and damaged: the verifier judges the tables, with all
 * detours. */

#include "queuing/vc_ladder.h"
#include "route/route_algorithm.h"

#include "failures.h"
#include "route_bench.h"

static const struct route_algorithm *const algorithms[] = {
	&route_df_min,
	&route_df_valiant,
	&route_df_valiant_node,
	&route_df_ugal_l,
	&route_df_par,
	&route_df_ugal_g,
	&route_df_ugal_l_node,
};

#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))

static struct topology *dragonfly(unsigned a, unsigned p, unsigned h)
{
	char spec[64];

	snprintf(spec, sizeof(spec), "dragonfly:a=%u,p=%u,h=%u", a, p, h);
	return bench_generate(spec);
}

/* NULL, and the reason if they are refused. */
static struct route_table *tables(const struct topology *topology,
	const struct route_algorithm *algorithm, struct error *error)
{
	const struct route_options options = {.seed = 1};

	return route_compute_table(topology, algorithm, &options, NULL, error);
}

static void expect_good(const struct topology *topology, const struct route_algorithm *algorithm)
{
	struct error error = {""};
	OWNED(route_table) *table = tables(topology, algorithm, &error);
	OWNED(route_report) report;

	if (table == NULL)
		fail_msg("%s on %s: %s", algorithm->name, topology->name, error.text);
	report = bench_verified(topology, table);
	if (!report.deadlock_free || !report.connected || report.invalid != 0)
		fail_msg("%s on %s: %u in a cycle, %u unconnected, '%s'", algorithm->name,
			topology->name, report.cycle_length, (unsigned)report.unconnected,
			report.evidence);
	assert_true(report.max_switch_links <= 5);
}

/* More hosts per switch change no dependency, so one is sufficient. */
UNIT_TEST(every_size_with_every_wiring_is_free_of_deadlock)
{
	static const char *const wirings[] = {"palmtree", "absolute", "circulant"};
	char spec[80];

	for (unsigned a = 1; a <= 8; a++)
		for (unsigned h = 1; a * (a * h + 1) <= 80 && a + h <= 64; h++)
			for (unsigned i = 0; i < sizeof(wirings) / sizeof(wirings[0]); i++) {
				OWNED(topology) *topology;

				snprintf(spec, sizeof(spec), "dragonfly:a=%u,p=1,h=%u,wiring=%s", a,
					h, wirings[i]);
				topology = bench_generate(spec);
				for (unsigned k = 0; k < ALGORITHMS; k++)
					expect_good(topology, algorithms[k]);
			}
}

UNIT_TEST(the_network_of_1056_hosts_is_free_of_deadlock)
{
	OWNED(topology) *topology = dragonfly(8, 4, 4);

	assert_int_equal(topology->hosts, 1056);
	expect_good(topology, &route_df_valiant);
	expect_good(topology, &route_df_par);
}

UNIT_TEST(smaller_numbers_of_groups_and_parallel_links_are_served)
{
	static const char *const specs[] = {"dragonfly:a=4,p=2,h=2,g=5",
		"dragonfly:a=4,p=2,h=2,g=5,parallel=2", "dragonfly:a=4,p=1,h=2,g=3,parallel=4",
		"dragonfly:a=4,p=1,h=2,g=2", "dragonfly:a=3,p=1,h=3,g=4,parallel=2"};

	for (unsigned k = 0; k < sizeof(specs) / sizeof(specs[0]); k++) {
		OWNED(topology) *topology = bench_generate(specs[k]);

		for (unsigned i = 0; i < ALGORITHMS; i++)
			expect_good(topology, algorithms[i]);
	}
}

UNIT_TEST(a_ladder_without_its_last_rung_has_a_cycle)
{
	OWNED(topology) *topology = dragonfly(4, 1, 2);

	for (unsigned i = 0; i < ALGORITHMS; i++) {
		OWNED(route_table) *table = tables(topology, algorithms[i], NULL);
		OWNED(route_report) report;

		table->vc_rule->classes--;
		report = bench_verified(topology, table);
		if (report.deadlock_free || report.cycle_length == 0)
			fail_msg("%s", algorithms[i]->name);
	}
}

UNIT_TEST(a_minimal_path_has_one_link_between_groups)
{
	OWNED(topology) *topology = dragonfly(4, 2, 2);
	OWNED(route_table) *table = tables(topology, &route_df_min, NULL);

	assert_null(table->alternatives);
	for (uint32_t source = 0; source < topology->hosts; source++)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			uint32_t at = source / 2;
			unsigned local = 0, global = 0;

			while (at != to / 2) {
				struct topology_port port = {
					DEVICE_SWITCH, at, route_table_row(table, at)[to]};

				(port.port < 3 ? &local : &global)[0]++;
				assert_true(topology_peer(topology, port, &port));
				at = port.device;
			}
			assert_true(local <= 2);
			assert_int_equal(global, source / 8 == to / 8 ? 0 : 1);
		}
}

/* Each link once. Paths around it are detours, which df-min does not have. */
UNIT_TEST(the_failure_of_any_link_leaves_paths_where_the_ladder_allows)
{
	OWNED(topology) *whole = dragonfly(4, 1, 2);

	for (uint32_t link = 0; link < whole->links; link++) {
		OWNED(topology) *topology = NULL;
		struct error error = {""};

		if (!failure_possible(whole, link))
			continue;
		topology = dragonfly(4, 1, 2);
		fail_link(topology, link);
		for (unsigned i = 1; i < ALGORITHMS; i++)
			expect_good(topology, algorithms[i]);
		assert_null(tables(topology, &route_df_min, &error));
		assert_non_null(strstr(error.text, "no path from s"));
	}
}

/* Damage that leaves paths for all hosts, or a refusal that names two switches. */
UNIT_TEST(a_damaged_network_is_verified_or_refused)
{
	unsigned served = 0;

	for (uint64_t seed = 0; seed < 40; seed++) {
		OWNED(topology) *topology = dragonfly(4, 1, 2);
		struct rng rng;

		rng_init(&rng, seed, 0, 0);
		fail_links(topology, &rng, 2 + (unsigned)(seed % 12));
		for (unsigned i = 0; i < ALGORITHMS; i++) {
			struct error error = {""};
			struct route_table *table = tables(topology, algorithms[i], &error);

			if (table == NULL) {
				assert_non_null(strstr(error.text, "no path from s"));
				continue;
			}
			route_table_destroy(table);
			expect_good(topology, algorithms[i]);
			served++;
		}
	}
	assert_true(served > 40);
}

/* In other groups, every global link can begin a detour; in the destination's group, none can. */
UNIT_TEST(detours_begin_at_every_global_link_of_a_group)
{
	OWNED(topology) *topology = dragonfly(4, 2, 2);
	OWNED(route_table) *table = tables(topology, &route_df_ugal_l, NULL);

	for (uint32_t at = 0; at < topology->switches; at++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			assert_int_equal(route_table_alternatives(table, at)[to],
				at / 4 == to / 8 ? 0 : 0x1F);
}
