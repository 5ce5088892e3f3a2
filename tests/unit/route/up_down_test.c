/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares the routes of up/down with its definition, computed separately by trying all paths. */

#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

#include "networks.h"
#include "route_bench.h"

#define NETWORKS 200
#define NO_WAY   UINT32_MAX

/* Levels by definition: the distance from the root, or from the first switch of a piece. */
static void find_levels(const struct topology *topology, uint32_t root, uint32_t *level)
{
	for (uint32_t i = 0; i < topology->switches; i++)
		level[i] = NO_WAY;
	for (uint32_t piece = 0; piece <= topology->switches; piece++) {
		uint32_t start = piece == 0 ? root : piece - 1;

		if (level[start] != NO_WAY)
			continue;
		level[start] = 0;
		for (uint32_t round = 0; round < topology->switches; round++)
			for (uint32_t i = 0; i < topology->links; i++) {
				struct topology_port a = topology->link_at[i].a;
				struct topology_port b = topology->link_at[i].b;

				if (a.kind != DEVICE_SWITCH || b.kind != DEVICE_SWITCH)
					continue;
				if (level[a.device] == round && level[b.device] > round + 1)
					level[b.device] = round + 1;
				if (level[b.device] == round && level[a.device] > round + 1)
					level[a.device] = round + 1;
			}
	}
}

static bool is_up(const uint32_t *level, uint32_t from, uint32_t to)
{
	return level[to] < level[from] || (level[to] == level[from] && to < from);
}

/* Returns the number of legal routes of exactly 'links' links, by trying every port. */
static unsigned count_routes(const struct topology *topology, const uint32_t *level, uint32_t at,
	uint32_t to, bool down, unsigned links)
{
	unsigned routes = 0;

	if (links == 0)
		return at == to;
	for (unsigned port = 0; port < topology->switch_at[at].ports; port++) {
		struct topology_port peer;

		if (!topology_peer(
			    topology, network_port(DEVICE_SWITCH, at, (uint8_t)port), &peer) ||
			peer.kind != DEVICE_SWITCH)
			continue;
		if (is_up(level, at, peer.device) && down)
			continue;
		routes += count_routes(topology, level, peer.device, to,
			!is_up(level, at, peer.device), links - 1);
	}
	return routes;
}

/* Returns the length of the shortest legal routes, or NO_WAY, and their number. */
static unsigned shortest(const struct topology *topology, const uint32_t *level, uint32_t from,
	uint32_t to, unsigned *routes)
{
	for (unsigned links = 0; links < topology->switches; links++) {
		*routes = count_routes(topology, level, from, to, false, links);
		if (*routes > 0)
			return links;
	}
	*routes = 0;
	return NO_WAY;
}

static uint32_t switch_of(const struct topology *topology, uint32_t host)
{
	struct topology_port peer;

	assert_true(topology_peer(topology, network_port(DEVICE_HOST, host, 0), &peer));
	return peer.device;
}

/* Follows the route. Fails if it is not legal or does not arrive. */
static unsigned replay(const struct topology *topology, const uint32_t *level, uint32_t source,
	uint32_t destination, const uint8_t *route, unsigned length)
{
	struct topology_port at = {DEVICE_SWITCH, switch_of(topology, source), 0}, next;
	bool down = false;
	unsigned links = 0;

	for (unsigned i = 0; i + 1 < length; i++) {
		assert_int_equal(at.kind, DEVICE_SWITCH);
		assert_int_equal(route[i] & (ROUTE_PORT_BIT | ROUTE_ADAPTIVE), ROUTE_PORT_BIT);
		at.port = route[i] & ROUTE_PORT_MASK;
		assert_true(topology_peer(topology, at, &next));
		if (next.kind == DEVICE_SWITCH) {
			assert_false(down && is_up(level, at.device, next.device));
			down = !is_up(level, at.device, next.device);
			links++;
		}
		at = next;
	}
	assert_int_equal(route[length - 1], ROUTE_TYPE_HOST);
	assert_int_equal(at.kind, DEVICE_HOST);
	assert_int_equal(at.device, destination);
	return links;
}

typedef void pair_fn(const struct topology *topology, const struct route_set *set,
	const uint32_t *level, uint32_t source, uint32_t destination, unsigned alternatives);

/* Runs a check over all pairs of many random networks with all kinds of options. */
static void on_random_networks(pair_fn *check)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = network_random(seed, seed % 4 != 0);
		struct route_options options = {.seed = seed,
			.root = (uint32_t)(seed % topology->switches),
			.alternatives = 1 + (unsigned)seed % ROUTE_ALTERNATIVES_MAX};
		OWNED(route_set) *set = bench_compute(topology, "ud", &options);
		uint32_t *level = calloc(topology->switches, sizeof(*level));

		assert_non_null(level);
		find_levels(topology, options.root, level);
		for (uint32_t source = 0; source < topology->hosts; source++)
			for (uint32_t to = 0; to < topology->hosts; to++)
				if (source != to)
					check(topology, set, level, source, to,
						options.alternatives);
		free(level);
	}
}

static void check_legal_and_shortest(const struct topology *topology, const struct route_set *set,
	const uint32_t *level, uint32_t source, uint32_t destination, unsigned alternatives)
{
	unsigned routes, length;
	unsigned links = shortest(topology, level, switch_of(topology, source),
		switch_of(topology, destination), &routes);

	for (unsigned i = 0; i < route_set_count(set, source, destination); i++) {
		const uint8_t *route = route_set_get(set, source, destination, i, &length);

		assert_int_equal(
			replay(topology, level, source, destination, route, length), links);
	}
}

UNIT_TEST(every_route_is_legal_and_as_short_as_legal_routes_can_be)
{
	on_random_networks(check_legal_and_shortest);
}

static void check_as_many_as_there_are(const struct topology *topology, const struct route_set *set,
	const uint32_t *level, uint32_t source, uint32_t destination, unsigned alternatives)
{
	unsigned routes;

	shortest(topology, level, switch_of(topology, source), switch_of(topology, destination),
		&routes);
	assert_int_equal(route_set_count(set, source, destination),
		routes < alternatives ? routes : alternatives);
}

UNIT_TEST(a_pair_has_as_many_routes_as_asked_for_or_as_there_are)
{
	on_random_networks(check_as_many_as_there_are);
}

/* Two switches joined by four links: four shortest routes. */
UNIT_TEST(each_shortest_route_is_as_likely_as_the_others)
{
	unsigned chosen[4] = {0}, length;
	struct network network;
	OWNED(topology) *topology;

	network_begin(&network, 2, 2);
	for (unsigned i = 0; i < 4; i++)
		network_link(&network, 0, 1);
	network_host(&network, 0, 0);
	network_host(&network, 1, 1);
	topology = network_end(&network);
	for (uint64_t seed = 0; seed < 4000; seed++) {
		struct route_options options = {.seed = seed};
		OWNED(route_set) *set = bench_compute(topology, "ud", &options);

		chosen[route_set_get(set, 0, 1, 0, &length)[0] & ROUTE_PORT_MASK]++;
	}
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(chosen[i], 1000 - 140, 1000 + 140);
}

static bool options_agree(const struct route_options *a, const struct route_options *b)
{
	OWNED(topology) *topology = network_torus(4, 2);
	bool same = bench_options_agree(topology, "ud", a, b);

	return same;
}

UNIT_TEST(another_seed_gives_other_routes)
{
	assert_false(options_agree(
		&(struct route_options){.seed = 5}, &(struct route_options){.seed = 6}));
}

UNIT_TEST(another_root_gives_other_routes)
{
	assert_false(options_agree(
		&(struct route_options){.root = 0}, &(struct route_options){.root = 5}));
}

UNIT_TEST(a_pair_that_nothing_connects_is_named)
{
	struct network network;
	OWNED(topology) *topology;
	struct route_options options = {0};
	OWNED(route_set) *set;
	struct error error;

	network_begin(&network, 3, 3);
	network_link(&network, 0, 1);
	for (uint32_t i = 0; i < 3; i++)
		network_host(&network, i, i);
	topology = network_end(&network);
	set = bench_compute(topology, "ud", &options);
	assert_int_equal(route_set_count(set, 0, 1), 1);
	assert_int_equal(route_set_check_connected(set, topology, &error), -EINVAL);
	assert_string_equal(error.text,
		"net: there is no route from h0 to h2 (4 pairs of hosts have no route); use a connected topology");
}

UNIT_TEST(a_way_that_does_not_fit_into_a_frame_is_refused)
{
	OWNED(topology) *topology = network_ring(160);

	bench_expect_refused(topology, "ud", "route elements; at most 64 are allowed");
}

UNIT_TEST(a_root_that_does_not_exist_is_refused)
{
	OWNED(topology) *topology = network_ring(4);
	struct route_options options = {.root = 4};
	struct error error;
	int result;

	assert_null(route_compute(topology, &route_up_down, &options, &result, &error));
	assert_int_equal(result, -EINVAL);
}

/* docs/explanation/routing-and-itbs.md and the thesis, table of the 8 x 8 torus: 80 % minimal
 * (0.8185), 4.5714 links. */
UNIT_TEST(on_the_8_by_8_torus_the_figures_are_the_known_ones)
{
	OWNED(topology) *topology = network_torus(8, 8);
	struct route_options options = {.seed = 1};
	OWNED(route_set) *set = bench_compute(topology, "ud", &options);
	OWNED(route_report) report;

	assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
	assert_in_range((unsigned)(report.minimal_fraction * 1e4 + 0.5), 8185, 8185);
	assert_in_range((unsigned)(report.mean_switch_links * 1e4 + 0.5), 45714, 45714);
}

/* RSUD, RRSUD and DET differ in how the interface uses them. */
UNIT_TEST(the_variants_have_all_shortest_routes_up_to_ten)
{
	static const char *const names[] = {"ud-random", "ud-rr", "ud-det"};
	OWNED(topology) *topology = network_torus(4, 1);
	struct route_options own = {.seed = 3}, ten = {.seed = 3, .alternatives = 10};
	OWNED(route_set) *all = bench_compute(topology, "ud", &ten);
	unsigned max = 0;

	for (unsigned i = 0; i < 3; i++) {
		OWNED(route_set) *set = bench_compute(topology, names[i], &own);

		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++) {
				unsigned count = route_set_count(set, from, to), a, b;

				max = count > max ? count : max;
				assert_int_equal(count, route_set_count(all, from, to));
				for (unsigned k = 0; k < count; k++) {
					const uint8_t *route = route_set_get(set, from, to, k, &a);

					assert_memory_equal(
						route, route_set_get(all, from, to, k, &b), a);
					assert_int_equal(a, b);
				}
			}
	}
	assert_in_range(max, 3, 10);
}

UNIT_TEST(algorithms_are_found_by_name)
{
	for (unsigned i = 0; route_algorithm_at(i) != NULL; i++)
		assert_ptr_equal(
			route_algorithm_find(route_algorithm_at(i)->name), route_algorithm_at(i));
	assert_ptr_equal(route_algorithm_find("ud"), &route_up_down);
	assert_null(route_algorithm_find("up"));
}
