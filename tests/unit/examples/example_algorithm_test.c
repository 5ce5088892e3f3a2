/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The example of docs/developer/extending.md, example_algorithm.c, works as the page claims. */

#include "random_network.h"
#include "route_expect.h"
#include "topo/topology.h"
#include "unit.h"

extern const struct route_algorithm route_waypoint;

static struct route_case example_case(const struct topology *topology, uint64_t seed)
{
	return (struct route_case){
		.topology = topology,
		.algorithm = &route_waypoint,
		.options = route_expect_options(topology, seed),
		.network = "a random network",
		.seed = seed,
	};
}

UNIT_TEST(it_is_good_on_random_networks)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		OWNED(topology) *topology = random_network(seed, RANDOM_NETWORK_MAX);
		struct route_case the_case = example_case(topology, seed);

		route_expect_good(&the_case, true);
	}
}

UNIT_TEST(it_is_good_on_what_failures_leave)
{
	static const char *const failed[] = {"s1", "h0"};

	for (uint64_t seed = 0; seed < 60; seed++) {
		OWNED(topology) *topology = random_network(seed, RANDOM_NETWORK_MAX);
		struct topology *damaged;
		struct route_case the_case;

		damaged = topology_without(topology, failed, 2, NULL);
		assert_non_null(damaged);
		the_case = example_case(damaged, seed);
		route_expect_good(&the_case, true);
		topology_destroy(damaged);
	}
}

static struct route_set *compute(const struct topology *topology)
{
	struct route_options options = {.seed = 1};
	struct route_set *set = route_compute(topology, &route_waypoint, &options, NULL, NULL);

	assert_non_null(set);
	return set;
}

/* Two of the 16 switches cannot be used, so about 7 of 8 pairs on different switches use a
 * third. */
UNIT_TEST(most_pairs_go_by_way_of_a_third_switch)
{
	OWNED(topology) *topology = network_torus(4, 2);
	OWNED(route_set) *set = compute(topology);
	OWNED(route_report) report;

	assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
	assert_int_equal(report.itbs_max, 1);
	assert_true(report.itbs_mean > 0.8 && report.itbs_mean < 0.95);
	assert_true(report.mean_switch_links > 3.5);
}

/* All routes without their ITBs. */
static struct route_set *without_itbs(const struct route_set *set)
{
	struct route_set *bare = route_set_create(route_set_hosts(set));

	assert_non_null(bare);
	for (uint32_t from = 0; from < route_set_hosts(set); from++)
		for (uint32_t to = 0; to < route_set_hosts(set); to++) {
			uint8_t route[ROUTE_ELEMENTS_MAX];
			unsigned length, kept = 0;
			const uint8_t *old = route_set_get(set, from, to, 0, &length);

			for (unsigned i = 0; old != NULL && i < length; i++)
				if (old[i] == ROUTE_TYPE_ITB)
					kept--; /* the port to its host */
				else
					route[kept++] = old[i];
			if (old != NULL)
				assert_int_equal(0, route_set_add(bare, from, to, route, kept));
		}
	return bare;
}

UNIT_TEST(without_the_itb_it_would_deadlock)
{
	OWNED(topology) *topology = network_torus(4, 2);
	OWNED(route_set) *set = compute(topology);
	OWNED(route_set) *bare = without_itbs(set);
	OWNED(route_report) report;

	assert_int_equal(0, route_verify_set(topology, bare, &report, NULL));
	assert_int_equal(report.invalid, 0);
	assert_false(report.deadlock_free);
}
