/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Routes that can be used while packets with former routes are in flight, and ITBs chosen by
 * load. */

#include "route/search/itb_routes.h"

#include "itb_networks.h"
#include "route/verify/route_verify.h"

#define NETWORKS 30

struct change {
	struct topology *topology;
	struct route_set *former, *next, *bridge;
	uint64_t added;
};

/* Routes of ud, and of ud with a different root. */
static struct change change(uint64_t seed)
{
	struct change change = {.topology = itb_network(seed, true)};
	struct route_options options = {.seed = seed, .alternatives = 2};

	change.former = bench_compute(change.topology, "ud", &options);
	options.root = change.topology->switches - 1;
	change.next = bench_compute(change.topology, "ud", &options);
	assert_int_equal(itb_bridge_make(change.topology, change.former, change.next,
				 &change.bridge, &change.added, NULL),
		0);
	return change;
}

static void drop(struct change *change)
{
	route_set_destroy(change->former);
	route_set_destroy(change->next);
	route_set_destroy(change->bridge);
	topology_destroy(change->topology);
}

static bool may_coexist(
	const struct topology *topology, const struct route_set *a, const struct route_set *b)
{
	const struct route_subject both[] = {{.set = a}, {.set = b}};
	struct route_report report;
	bool good;

	assert_int_equal(route_verify(topology, both, 2, &report, NULL), 0);
	assert_true(report.connected);
	assert_int_equal(report.invalid, 0);
	good = report.deadlock_free;
	route_report_free(&report);
	return good;
}

UNIT_TEST(a_bridge_is_free_of_deadlock_with_the_former_routes_and_with_the_new_ones)
{
	unsigned needed = 0;

	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		struct change it = change(seed);
		bool live = may_coexist(it.topology, it.former, it.next);

		needed += !live;
		assert_true(live || it.added > 0);
		assert_true(may_coexist(it.topology, it.former, it.bridge));
		assert_true(may_coexist(it.topology, it.bridge, it.next));
		drop(&it);
	}
	assert_true(needed > NETWORKS / 2);
}

UNIT_TEST(a_bridge_between_equal_routes_has_no_more_itbs)
{
	struct change it = change(1);
	struct route_set *same;

	assert_int_equal(itb_bridge_make(it.topology, it.next, it.next, &same, &it.added, NULL), 0);
	assert_int_equal(it.added, 0);
	route_set_destroy(same);
	drop(&it);
}

/* The maximum number of routes for which a host absorbs. */
static uint32_t absorbed_max(const struct topology *topology, const struct route_set *set)
{
	uint32_t *load = calloc(topology->hosts, sizeof(*load)), max = 0;

	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			unsigned length;
			const uint8_t *route = route_set_get(set, from, to, 0, &length);
			struct topology_port at = {DEVICE_HOST, from, 0};

			for (unsigned i = 0; route != NULL && i < length; i++) {
				bool port = (route[i] & ROUTE_PORT_BIT) != 0;

				topology_peer(topology, at, &at);
				at.port = port ? route[i] & ROUTE_PORT_MASK : 0;
				load[at.device] += !port && route[i] == ROUTE_TYPE_ITB;
			}
		}
	for (uint32_t i = 0; i < topology->hosts; i++)
		max = load[i] > max ? load[i] : max;
	free(load);
	return max;
}

/* Chooses the ITB hosts of routes again, without adding any. */
static struct route_set *place(const struct topology *topology, const struct route_set *given)
{
	struct route_set *placed;
	uint64_t added;

	assert_int_equal(itb_bridge_make(topology, NULL, given, &placed, &added, NULL), 0);
	assert_int_equal(added, 0);
	return placed;
}

UNIT_TEST(itbs_by_load_spread_over_the_hosts_of_each_switch)
{
	OWNED(topology) *topology =
		topology_open("irregular:switches=16,degree=4,hosts=4,ports=8,seed=1", NULL);
	struct route_options options = {.seed = 1, .alternatives = 1};
	OWNED(route_set) *drawn = bench_compute(topology, "ud-itb", &options);
	OWNED(route_set) *placed = place(topology, drawn);

	assert_true(may_coexist(topology, drawn, placed));
	assert_true(absorbed_max(topology, placed) < absorbed_max(topology, drawn));
}

static void assert_equal_routes(
	const struct topology *topology, const struct route_set *a, const struct route_set *b)
{
	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			for (unsigned i = 0, end = 0; !end; i++) {
				unsigned length, other;
				const uint8_t *route = route_set_get(a, from, to, i, &length);
				const uint8_t *same = route_set_get(b, from, to, i, &other);

				end = route == NULL;
				assert_int_equal(end, same == NULL);
				if (!end)
					assert_int_equal(length, other);
				if (!end)
					assert_memory_equal(route, same, length);
			}
}

/* Steps, and prefixes of ports above 63. */
UNIT_TEST(routes_without_itbs_stay_as_they_are)
{
	static const char *const network[][2] = {
		{"rlft:ports=4,stages=2", "msp"}, {"full:switches=3,hosts=70", "ud"}};

	for (unsigned i = 0; i < sizeof(network) / sizeof(network[0]); i++) {
		OWNED(topology) *topology = topology_open(network[i][0], NULL);
		struct route_options options = {.seed = 1, .alternatives = 4};
		OWNED(route_set) *given = bench_compute(topology, network[i][1], &options);
		OWNED(route_set) *same = place(topology, given);

		assert_equal_routes(topology, given, same);
	}
}

/* Here, the port of a host that absorbs has a prefix. */
UNIT_TEST(itbs_at_ports_above_63_are_placed)
{
	OWNED(topology) *topology =
		topology_open("irregular:switches=8,degree=3,hosts=70,ports=80,seed=1", NULL);
	struct route_options options = {.seed = 1, .alternatives = 1};
	OWNED(route_set) *drawn = bench_compute(topology, "ud-itb", &options);
	OWNED(route_set) *placed = place(topology, drawn);

	assert_true(may_coexist(topology, drawn, placed));
}
