/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Disjoint paths for DRB: what two routes of a pair may share, and the rules for all routes. */

#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

#include "failures.h"
#include "networks.h"
#include "route_bench.h"

#define NETWORKS 300

static struct route_set *disjoint(
	const struct topology *topology, uint64_t seed, unsigned alternatives)
{
	struct route_options options = {
		.seed = seed,
		.root = (uint32_t)(seed % topology->switches),
		.alternatives = alternatives,
	};

	return bench_compute(topology, "disjoint", &options);
}

/* The links and ITBs of a route. 'uses' counts it at each link between switches. */
struct trip {
	unsigned links, itbs;
};

static struct trip travel(const struct topology *topology, const struct route_set *set,
	uint32_t from, uint32_t to, unsigned number, unsigned *uses)
{
	unsigned length;
	const uint8_t *route = route_set_get(set, from, to, number, &length);
	struct topology_port at;
	struct trip trip = {0, 0};

	assert_true(topology_peer(topology, network_port(DEVICE_HOST, from, 0), &at));
	for (unsigned i = 0; i < length; i++) {
		struct topology_port port = at;

		trip.itbs += route[i] == ROUTE_TYPE_ITB;
		if (at.kind == DEVICE_SWITCH)
			port.port = route[i] & ROUTE_PORT_MASK;
		if (i + 1 < length)
			assert_true(topology_peer(topology, port, &at));
		if (port.kind == DEVICE_SWITCH && at.kind == DEVICE_SWITCH) {
			trip.links++;
			if (uses != NULL)
				uses[topology_link_at(topology, port) - topology->link_at]++;
		}
	}
	return trip;
}

typedef void pair_fn(const struct topology *topology, const struct route_set *set, uint32_t from,
	uint32_t to, unsigned count);

/* All pairs of many random networks, connected or in pieces, with switches without hosts. */
static void on_random_networks(pair_fn *check)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = network_random(seed, seed % 4 != 0);
		OWNED(route_set) *set = disjoint(topology, seed, 10);

		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++)
				if (from != to)
					check(topology, set, from, to,
						route_set_count(set, from, to));
	}
}

static void check_disjoint(const struct topology *topology, const struct route_set *set,
	uint32_t from, uint32_t to, unsigned count)
{
	unsigned *uses = calloc(topology->links, sizeof(*uses));

	for (unsigned i = 0; i < count; i++)
		travel(topology, set, from, to, i, uses);
	for (uint32_t link = 0; link < topology->links; link++)
		assert_true(uses[link] <= 1);
	free(uses);
}

UNIT_TEST(no_link_is_used_twice_by_the_routes_of_a_pair)
{
	on_random_networks(check_disjoint);
}

static void check_lengths(const struct topology *topology, const struct route_set *set,
	uint32_t from, uint32_t to, unsigned count)
{
	for (unsigned i = 2; i < count; i++)
		assert_true(travel(topology, set, from, to, i, NULL).links >=
			    travel(topology, set, from, to, i - 1, NULL).links);
}

UNIT_TEST(after_the_first_the_shorter_come_first)
{
	on_random_networks(check_lengths);
}

UNIT_TEST(the_first_route_is_that_of_up_down)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = network_random(seed, seed % 4 != 0);
		struct route_options options = {.seed = seed,
			.root = (uint32_t)(seed % topology->switches),
			.granularity = seed % 2 == 0 ? ROUTE_PER_HOST_PAIR : ROUTE_PER_SWITCH_PAIR};
		OWNED(route_set) *set = bench_compute(topology, "disjoint", &options);
		OWNED(route_set) *plain = bench_compute(topology, "ud", &options);

		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++) {
				unsigned a = 0, b = 0;
				const uint8_t *left = route_set_get(set, from, to, 0, &a);
				const uint8_t *right = route_set_get(plain, from, to, 0, &b);

				assert_int_equal(a, b);
				if (a > 0)
					assert_memory_equal(left, right, a);
			}
	}
}

/* Every pair of different switches has as many routes as the minimum cut between them. */
static void expect_count(const char *spec, unsigned alternatives, unsigned count)
{
	OWNED(topology) *topology = bench_generate(spec);
	OWNED(route_set) *set = disjoint(topology, 1, alternatives);

	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			if (from != to)
				assert_int_equal(route_set_count(set, from, to), count);
}

UNIT_TEST(regular_networks_give_as_many_as_their_min_cut)
{
	expect_count("torus:dims=8x8,hosts=1", 10, 4);
	expect_count("ring:switches=8,hosts=1", 10, 2);
	expect_count("hypercube:dims=4,hosts=1", 10, 4);
	expect_count("full:switches=6,hosts=1", 10, 5);
}

UNIT_TEST(the_number_is_four_unless_asked_otherwise)
{
	expect_count("full:switches=8,hosts=1", 0, 4);
	expect_count("full:switches=8,hosts=1", 3, 3);
	expect_count("full:switches=8,hosts=1", 1, 1);
}

UNIT_TEST(parallel_links_are_different_links)
{
	struct network network;
	OWNED(topology) *topology;
	OWNED(route_set) *set;

	network_begin(&network, 2, 2);
	for (unsigned i = 0; i < 3; i++)
		network_link(&network, 0, 1);
	network_host(&network, 0, 0);
	network_host(&network, 1, 1);
	topology = network_end(&network);
	set = disjoint(topology, 0, 10);
	assert_int_equal(route_set_count(set, 0, 1), 3);
}

/* A ring of four. From s1 to s3, up/down uses the root s0. Through s2, the path would go up after
 * down. */
static struct topology *ring_of_four(bool host_below)
{
	struct network network;

	network_begin(&network, 4, host_below ? 3 : 2);
	for (uint32_t i = 0; i < 4; i++)
		network_link(&network, i, (i + 1) % 4);
	network_host(&network, 0, 1);
	network_host(&network, 1, 3);
	if (host_below)
		network_host(&network, 2, 2);
	return network_end(&network);
}

UNIT_TEST(a_forbidden_turn_is_taken_through_a_host)
{
	OWNED(topology) *topology = ring_of_four(true);
	OWNED(route_set) *set = disjoint(topology, 0, 4);

	assert_int_equal(route_set_count(set, 0, 1), 2);
	assert_int_equal(travel(topology, set, 0, 1, 0, NULL).itbs, 0);
	assert_int_equal(travel(topology, set, 0, 1, 1, NULL).itbs, 1);
	assert_int_equal(travel(topology, set, 0, 1, 1, NULL).links, 2);
}

UNIT_TEST(no_path_turns_at_a_switch_without_hosts)
{
	OWNED(topology) *topology = ring_of_four(false);
	OWNED(route_set) *set = disjoint(topology, 0, 4);

	assert_int_equal(route_set_count(set, 0, 1), 1);
}

/* The root s0 above s1 and s2, which have the hosts. Both are above s3, which has none. */
static void begin_hostless(struct network *network, uint32_t switches)
{
	static const uint32_t links[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};

	network_begin(network, switches, 3);
	for (unsigned i = 0; i < 4; i++)
		network_link(network, links[i][0], links[i][1]);
	network_host(network, 0, 1);
	network_host(network, 1, 2);
}

/* Below s3 is s4, whose host could turn messages, with one link or two. */
UNIT_TEST(a_path_comes_back_by_another_link_or_not_at_all)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct route_options options = {.seed = seed};
		struct network network;
		OWNED(topology) *topology;
		OWNED(route_set) *set;

		begin_hostless(&network, 5);
		for (unsigned i = 0; i <= seed % 2; i++)
			network_link(&network, 3, 4);
		network_host(&network, 2, 4);
		topology = network_end(&network);
		set = bench_compute(topology, "disjoint", &options);
		assert_int_equal(route_set_count(set, 0, 1), 1 + seed % 2);
		if (seed % 2 == 1)
			assert_int_equal(travel(topology, set, 0, 1, 1, NULL).links, 4);
	}
}

/* Below s3 is s4, and below that a triangle whose last corner has the host. It leads back to s4
 * over other links, but from there to s3 only over the link that was used. */
UNIT_TEST(no_path_uses_a_link_twice_itself)
{
	struct route_options options = {0};
	struct network network;
	OWNED(topology) *topology;
	OWNED(route_set) *set;

	begin_hostless(&network, 7);
	network_link(&network, 3, 4);
	network_link(&network, 4, 5);
	network_link(&network, 5, 6);
	network_link(&network, 6, 4);
	network_host(&network, 2, 6);
	topology = network_end(&network);
	set = bench_compute(topology, "disjoint", &options);
	assert_int_equal(route_set_count(set, 0, 1), 1);
}

#define NO_WAY   1000000u
#define LINK     1000u /* costs 1000, an ITB costs 1 */
#define SWITCHES 12

/* Levels from switch 0, and the minimum costs of reaching (switch, gone down already), by
 * relaxation until nothing changes, over links that have not been used. */
struct oracle {
	const struct topology *topology;
	unsigned level[SWITCHES], cost[SWITCHES][2];
	unsigned *used;
};

static bool relax(unsigned *value, unsigned offer)
{
	if (offer >= *value)
		return false;
	*value = offer;
	return true;
}

static void find_levels(struct oracle *oracle)
{
	bool changed = true;

	for (unsigned at = 0; at < SWITCHES; at++)
		oracle->level[at] = at == 0 ? 0 : NO_WAY;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < oracle->topology->links; i++) {
			struct topology_port a = oracle->topology->link_at[i].a;
			struct topology_port b = oracle->topology->link_at[i].b;

			if (a.kind != DEVICE_SWITCH || b.kind != DEVICE_SWITCH)
				continue;
			changed |= relax(&oracle->level[a.device], oracle->level[b.device] + 1);
			changed |= relax(&oracle->level[b.device], oracle->level[a.device] + 1);
		}
	}
}

static bool relax_arc(struct oracle *oracle, uint32_t from, uint32_t to)
{
	bool up = oracle->level[to] < oracle->level[from] ||
		  (oracle->level[to] == oracle->level[from] && to < from);
	bool changed;

	if (up) {
		changed = relax(&oracle->cost[to][0], oracle->cost[from][0] + LINK);
		changed |= relax(&oracle->cost[to][0], oracle->cost[from][1] + LINK + 1);
	} else {
		changed = relax(&oracle->cost[to][1], oracle->cost[from][0] + LINK);
		changed |= relax(&oracle->cost[to][1], oracle->cost[from][1] + LINK);
	}
	return changed;
}

static unsigned min_cost(struct oracle *oracle, uint32_t from, uint32_t to)
{
	bool changed = true;

	for (unsigned at = 0; at < SWITCHES; at++)
		oracle->cost[at][0] = oracle->cost[at][1] = NO_WAY;
	oracle->cost[from][0] = 0;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < oracle->topology->links; i++) {
			struct topology_port a = oracle->topology->link_at[i].a;
			struct topology_port b = oracle->topology->link_at[i].b;

			if (a.kind != DEVICE_SWITCH || b.kind != DEVICE_SWITCH ||
				oracle->used[i] > 0)
				continue;
			changed |= relax_arc(oracle, a.device, b.device);
			changed |= relax_arc(oracle, b.device, a.device);
		}
	}
	return oracle->cost[to][0] < oracle->cost[to][1] ? oracle->cost[to][0]
							 : oracle->cost[to][1];
}

static void check_costs(
	struct oracle *oracle, const struct route_set *set, uint32_t from, uint32_t to)
{
	const struct topology *topology = oracle->topology;
	unsigned count = route_set_count(set, from, to);

	memset(oracle->used, 0, topology->links * sizeof(*oracle->used));
	travel(topology, set, from, to, 0, oracle->used);
	for (unsigned i = 1; i < count; i++) {
		unsigned cost = min_cost(oracle, from, to);
		struct trip trip = travel(topology, set, from, to, i, oracle->used);

		assert_int_equal(cost, trip.links * LINK + trip.itbs);
	}
	assert_true(min_cost(oracle, from, to) >= NO_WAY);
}

/* Host i is at switch i. */
UNIT_TEST(each_route_is_a_shortest_one_of_what_is_left_with_fewest_itbs)
{
	for (unsigned seed = 0; seed < 40; seed++) {
		struct route_options options = {.seed = seed, .alternatives = 10};
		struct oracle oracle;
		OWNED(topology) *topology;
		OWNED(route_set) *set;
		char spec[64];

		snprintf(spec, sizeof(spec), "irregular:switches=%u,degree=%u,hosts=1,seed=%u",
			SWITCHES, 3 + seed % 3, seed);
		topology = bench_generate(spec);
		set = bench_compute(topology, "disjoint", &options);
		oracle.topology = topology;
		oracle.used = calloc(topology->links, sizeof(*oracle.used));
		find_levels(&oracle);
		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++)
				if (from != to)
					check_costs(&oracle, set, from, to);
		free(oracle.used);
	}
}

/* From s1 to s4, paths of two links lead through s0 and s2 without an ITB, and through s5 with
 * one. */
UNIT_TEST(of_equally_long_paths_those_without_itbs_come_first)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		static const uint32_t links[][2] = {
			{0, 1}, {0, 4}, {0, 2}, {1, 5}, {1, 2}, {5, 4}, {2, 4}, {0, 3}};
		struct route_options options = {.seed = seed, .alternatives = 3};
		struct network network;
		OWNED(topology) *topology;
		OWNED(route_set) *set;

		network_begin(&network, 6, 3);
		for (unsigned i = 0; i < sizeof(links) / sizeof(links[0]); i++)
			network_link(&network, links[i][0], links[i][1]);
		network_host(&network, 0, 1);
		network_host(&network, 1, 4);
		network_host(&network, 2, 5);
		topology = network_end(&network);
		set = bench_compute(topology, "disjoint", &options);
		assert_int_equal(route_set_count(set, 0, 1), 3);
		for (unsigned i = 0; i < 3; i++) {
			struct trip trip = travel(topology, set, 0, 1, i, NULL);

			assert_int_equal(trip.links, 2);
			assert_int_equal(trip.itbs, i == 2);
		}
	}
}

UNIT_TEST(the_seed_decides_and_the_threads_do_not)
{
	OWNED(topology) *topology = bench_generate("torus:dims=5x5,hosts=2");
	struct route_options one = {.seed = 1, .jobs = 1}, three = {.seed = 1, .jobs = 3};
	struct route_options other = {.seed = 2, .jobs = 1};

	assert_true(bench_options_agree(topology, "disjoint", &one, &three));
	assert_false(bench_options_agree(topology, "disjoint", &one, &other));
}
