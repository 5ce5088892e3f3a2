/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares D-mod-K with its formula in whole fat trees, and with its rules in damaged ones. */

#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

#include "failures.h"
#include "networks.h"

struct shape {
	uint32_t ports, stages;
};

static const struct shape shapes[] = {{2, 2}, {4, 1}, {4, 2}, {4, 4}, {6, 3}, {8, 2}, {10, 2}};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static struct topology *generate(const char *format, uint32_t a, uint32_t b)
{
	char spec[64];
	struct error error;
	struct topology *topology;

	snprintf(spec, sizeof(spec), format, a, b);
	topology = topology_generate(spec, &error);
	if (topology == NULL)
		fail_msg("%s", error.text);
	return topology;
}

static struct topology *fat_tree(struct shape shape)
{
	return generate("rlft:ports=%u,stages=%u", shape.ports, shape.stages);
}

static struct route_table *tables(const struct topology *topology, unsigned jobs)
{
	struct route_options options = {.jobs = jobs};
	struct error error = {""};
	struct route_table *table =
		route_compute_table(topology, &route_dmodk, &options, NULL, &error);

	if (table == NULL)
		fail_msg("%s", error.text);
	assert_non_null(table->alternatives);
	return table;
}

static struct route_set *routes(const struct topology *topology, unsigned alternatives)
{
	struct route_options options = {.alternatives = alternatives};
	struct error error = {""};
	struct route_set *set = route_compute(topology, &route_dmodk, &options, NULL, &error);

	if (set == NULL)
		fail_msg("%s", error.text);
	return set;
}

static uint32_t power(uint32_t base, unsigned exponent)
{
	uint32_t result = 1;

	while (exponent-- > 0)
		result *= base;
	return result;
}

/* The position of a switch of a whole tree, from its number (lib/topo/generators/rlft.c). */
struct place {
	unsigned level;
	bool top;
	uint32_t subtree;
};

static struct place place_of(struct shape shape, uint32_t at)
{
	uint32_t k = shape.ports / 2, wide = 2 * power(k, shape.stages - 1);
	struct place place = {.level = at / wide, .top = at / wide + 1 == shape.stages};

	place.subtree = place.top ? 0 : at % wide / power(k, place.level);
	return place;
}

/* The port according to the formula. 'up' tells whether the path leads up. */
static uint8_t formula(struct shape shape, uint32_t at, uint32_t host, bool *up)
{
	struct place place = place_of(shape, at);
	uint32_t k = shape.ports / 2, digits = host / power(k, place.level);

	*up = !place.top && digits / k != place.subtree;
	return (uint8_t)(*up ? k + digits % k : place.top ? digits : digits % k);
}

UNIT_TEST(at_each_level_the_up_port_is_the_digit_of_the_destination)
{
	for (unsigned i = 0; i < SHAPES; i++) {
		OWNED(topology) *topology = fat_tree(shapes[i]);
		OWNED(route_table) *table = tables(topology, 1);
		bool up;

		for (uint32_t at = 0; at < topology->switches; at++)
			for (uint32_t host = 0; host < topology->hosts; host++)
				assert_int_equal(route_table_row(table, at)[host],
					formula(shapes[i], at, host, &up));
	}
}

UNIT_TEST(while_a_packet_goes_up_every_up_port_is_an_alternative)
{
	for (unsigned i = 0; i < SHAPES; i++) {
		uint32_t k = shapes[i].ports / 2;
		OWNED(topology) *topology = fat_tree(shapes[i]);
		OWNED(route_table) *table = tables(topology, 1);
		bool up;

		for (uint32_t at = 0; at < topology->switches; at++)
			for (uint32_t host = 0; host < topology->hosts; host++) {
				uint8_t port = formula(shapes[i], at, host, &up);
				uint64_t ups = (((uint64_t)1 << k) - 1) << k;

				assert_int_equal(route_table_alternatives(table, at)[host],
					up ? ups : (uint64_t)1 << port);
			}
	}
}

/* Follows the primary ports and counts the paths on each link between switches. */
static void walk_primary(const struct topology *topology, const struct route_table *table,
	uint32_t from, uint32_t to, unsigned *load)
{
	struct topology_port at;

	assert_true(topology_peer(topology, network_port(DEVICE_HOST, from, 0), &at));
	while (at.kind == DEVICE_SWITCH) {
		uint8_t port = route_table_row(table, at.device)[to];

		load[at.device * TOPOLOGY_PORTS_MAX + port]++;
		assert_true(
			topology_peer(topology, network_port(DEVICE_SWITCH, at.device, port), &at));
	}
	assert_int_equal(at.device, to);
}

/* The theorem of the paper: host i sends to host i + shift. */
UNIT_TEST(shift_permutations_load_no_link_twice)
{
	for (unsigned i = 0; i < SHAPES; i++) {
		OWNED(topology) *topology = fat_tree(shapes[i]);
		OWNED(route_table) *table = tables(topology, 1);
		size_t ports = (size_t)topology->switches * TOPOLOGY_PORTS_MAX;
		unsigned *load = calloc(ports, sizeof(*load));

		assert_non_null(load);
		for (uint32_t shift = 1; shift < topology->hosts; shift++) {
			memset(load, 0, ports * sizeof(*load));
			for (uint32_t host = 0; host < topology->hosts; host++)
				walk_primary(topology, table, host,
					(host + shift) % topology->hosts, load);
			for (size_t port = 0; port < ports; port++)
				assert_true(load[port] <= 1);
		}
		free(load);
	}
}

static bool leads_up(const struct topology *topology, uint32_t at, uint8_t port)
{
	struct topology_port peer;

	assert_true(topology_peer(topology, network_port(DEVICE_SWITCH, at, port), &peer));
	return topology->switch_at[peer.device].stage > topology->switch_at[at].stage;
}

/* Checks that all links of one direction from one stage carry the same. */
static void check_stages(const struct topology *topology, const unsigned *load)
{
	int first[16][2] = {{0}};

	for (uint32_t i = 0; i < topology->links; i++) {
		struct topology_port ends[] = {topology->link_at[i].a, topology->link_at[i].b};

		for (unsigned e = 0; e < 2 && failure_possible(topology, i); e++) {
			unsigned stage = topology->switch_at[ends[e].device].stage;
			bool up = leads_up(topology, ends[e].device, ends[e].port);
			int carried = (int)load[ends[e].device * TOPOLOGY_PORTS_MAX + ends[e].port];

			if (first[stage][up] == 0)
				first[stage][up] = carried;
			assert_true(carried > 0);
			assert_int_equal(carried, first[stage][up]);
		}
	}
}

/* As the ARN+AFI paper describes it where it introduces deterministic routing. */
UNIT_TEST(all_links_between_two_stages_carry_as_many_pairs)
{
	for (unsigned i = 0; i < SHAPES; i++) {
		OWNED(topology) *topology = fat_tree(shapes[i]);
		OWNED(route_table) *table = tables(topology, 1);
		unsigned *load =
			calloc((size_t)topology->switches * TOPOLOGY_PORTS_MAX, sizeof(*load));

		assert_non_null(load);
		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++)
				if (from != to)
					walk_primary(topology, table, from, to, load);
		check_stages(topology, load);
		free(load);
	}
}

static unsigned stage_of(const struct topology *topology, uint32_t at)
{
	return topology->switch_at[at].stage;
}

/* Returns whether a switch leads to a host by going up and then down (only down: 'down'), by
 * recursion. */
static bool leads(const struct topology *topology, uint32_t at, uint32_t host, bool down)
{
	struct topology_port port = {DEVICE_SWITCH, at, 0}, peer;

	for (port.port = 0; port.port < topology->switch_at[at].ports; port.port++) {
		bool up;

		if (!topology_peer(topology, port, &peer))
			continue;
		if (peer.kind == DEVICE_HOST && peer.device == host)
			return true;
		if (peer.kind == DEVICE_HOST)
			continue;
		up = stage_of(topology, peer.device) > stage_of(topology, at);
		if ((!up || !down) && leads(topology, peer.device, host, !up))
			return true;
	}
	return false;
}

/* Every port of every set leads to the host: down if the switch leads there by going only down,
 * otherwise up to a switch that leads there. No other port does. */
static void check_set(const struct topology *topology, uint32_t at, uint32_t host, uint64_t set)
{
	bool down = leads(topology, at, host, true);
	struct topology_port port = {DEVICE_SWITCH, at, 0}, peer;
	uint64_t expected = 0;

	for (port.port = 0; port.port < topology->switch_at[at].ports; port.port++) {
		bool good;

		if (!topology_peer(topology, port, &peer))
			continue;
		if (peer.kind == DEVICE_HOST)
			good = peer.device == host;
		else
			good = (stage_of(topology, peer.device) < stage_of(topology, at)) == down &&
			       leads(topology, peer.device, host, down);
		expected |= (uint64_t)good << port.port;
	}
	assert_int_equal(set, expected);
}

/* A tree in which up to six links are missing. */
static struct topology *damaged_tree(uint64_t seed)
{
	static const struct shape some[] = {{4, 2}, {4, 3}, {6, 2}};
	struct topology *topology = fat_tree(some[seed % 3]);
	struct rng rng;

	rng_init(&rng, seed, 0, 1);
	fail_links(topology, &rng, (unsigned)rng_below(&rng, 7));
	return topology;
}

UNIT_TEST(in_damaged_trees_the_sets_are_what_leads_there_by_ups_and_then_downs)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		OWNED(topology) *topology = damaged_tree(seed);
		OWNED(route_table) *table = tables(topology, 1);

		for (uint32_t at = 0; at < topology->switches; at++)
			for (uint32_t host = 0; host < topology->hosts; host++)
				check_set(topology, at, host,
					route_table_alternatives(table, at)[host]);
	}
}

UNIT_TEST(the_primary_port_is_among_the_alternatives)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		OWNED(topology) *topology = damaged_tree(seed);
		OWNED(route_table) *table = tables(topology, 1);

		for (size_t i = 0; i < (size_t)table->switches * table->hosts; i++)
			if (table->alternatives[i] == 0)
				assert_int_equal(table->primary[i], ROUTE_TABLE_NONE);
			else
				assert_true(table->alternatives[i] >> table->primary[i] & 1);
	}
}

/* K = 3: leaf s0 has the hosts 0 to 2 and the up ports 3 to 5. */
UNIT_TEST(after_a_failure_the_formula_counts_the_ports_that_are_left)
{
	OWNED(topology) *topology = fat_tree((struct shape){6, 2});
	OWNED(route_table) *table;

	fail_port(topology, 0, 4);
	table = tables(topology, 1);
	for (uint32_t host = 3; host < topology->hosts; host++)
		assert_int_equal(route_table_row(table, 0)[host], host % 2 == 0 ? 3 : 5);
	/* The switch above port 4 no longer leads down to s0, which s1 must know. */
	for (uint32_t host = 0; host < 3; host++)
		assert_int_equal(route_table_row(table, 1)[host], host % 2 == 0 ? 3 : 5);
	for (uint32_t host = 6; host < topology->hosts; host++)
		assert_int_equal(route_table_row(table, 1)[host], 3 + host % 3);
}

UNIT_TEST(what_cannot_be_reached_has_no_entry)
{
	OWNED(topology) *topology = fat_tree((struct shape){4, 2});
	OWNED(route_table) *table;
	OWNED(route_set) *set;

	fail_port(topology, 0, 2);
	fail_port(topology, 0, 3);
	table = tables(topology, 1);
	assert_int_equal(route_table_row(table, 0)[1], 1);
	assert_int_equal(route_table_row(table, 0)[2], ROUTE_TABLE_NONE);
	assert_int_equal(route_table_row(table, 1)[0], ROUTE_TABLE_NONE);
	set = routes(topology, 1);
	assert_int_equal(route_set_count(set, 2, 0), 0);
	assert_int_equal(route_set_count(set, 2, 4), 1);
}

/* Leaves with four hosts and two links to each of two switches above, alternating by port. */
/* With scattered numbers, three of four hosts of a leaf have the same remainder. */
static struct topology *tree_with_parallel_links(bool scattered)
{
	struct network network;

	network_begin(&network, 5, 12);
	for (uint32_t leaf = 0; leaf < 3; leaf++) {
		network.topology->switch_at[leaf].stage = 1;
		for (uint32_t host = 4 * leaf; host < 4 * leaf + 4; host++)
			network_host(&network, scattered ? host * 4 % 12 + host / 3 : host, leaf);
		for (uint32_t i = 0; i < 4; i++)
			network_link(&network, leaf, 3 + i % 2);
	}
	network.topology->switch_at[3].stage = network.topology->switch_at[4].stage = 2;
	return network_end(&network);
}

UNIT_TEST(parallel_links_carry_the_same_down_as_up_however_hosts_are_numbered)
{
	for (unsigned scattered = 0; scattered < 2; scattered++) {
		OWNED(topology) *topology = tree_with_parallel_links(scattered);
		OWNED(route_table) *table = tables(topology, 1);
		OWNED(route_report) report;

		assert_int_equal(0, route_verify(topology, &(struct route_subject){.table = table},
					    1, &report, NULL));
		assert_true(route_report_good(&report));
		assert_int_equal(report.link_load.min, 8);
		assert_int_equal(report.link_load.max, 8);
	}
}

UNIT_TEST(a_failed_cable_of_a_host_changes_no_port_towards_the_others)
{
	for (uint32_t cut = 0; cut < 2 * 12; cut++) {
		OWNED(topology) *whole = tree_with_parallel_links(cut % 2 == 1);
		const char *failed = whole->host_at[cut / 2].name;
		OWNED(topology) *rest = topology_without(whole, &failed, 1, NULL);
		OWNED(route_table) *before = tables(whole, 1), *after = tables(rest, 1);

		for (uint32_t at = 0; at < whole->switches; at++)
			for (uint32_t host = 0; host < whole->hosts; host++)
				if (host != cut / 2)
					assert_int_equal(route_table_row(after, at)[host],
						route_table_row(before, at)[host]);
	}
}

/* The first route of every pair is the path in the tables. */
static void check_first_routes(const struct topology *topology, const struct route_table *table,
	const struct route_set *set)
{
	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			unsigned length = 0;
			const uint8_t *route = route_set_get(set, from, to, 0, &length);
			struct topology_port at;

			assert_true(
				topology_peer(topology, network_port(DEVICE_HOST, from, 0), &at));
			for (unsigned i = 0; i + 1 < length; i++) {
				uint8_t port = route_table_row(table, at.device)[to];

				assert_int_equal(route[i], ROUTE_PORT_BIT | port);
				topology_peer(topology,
					network_port(DEVICE_SWITCH, at.device, port), &at);
			}
		}
}

UNIT_TEST(the_first_route_is_the_way_through_the_tables)
{
	for (uint64_t seed = 0; seed < 30; seed++) {
		OWNED(topology) *topology = damaged_tree(seed);
		OWNED(route_table) *table = tables(topology, 1);
		OWNED(route_set) *set = routes(topology, 1);

		check_first_routes(topology, table, set);
	}
}

UNIT_TEST(further_routes_are_other_minimal_ways)
{
	OWNED(topology) *topology = fat_tree((struct shape){6, 3});
	OWNED(route_set) *set = routes(topology, 10);
	struct route_report report;

	assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
	assert_true(route_report_good(&report));
	assert_true(report.minimal_fraction == 1);
	route_report_free(&report);
	/* K = 3: one path within a leaf, 3 within a subtree of three leaves, 9 across the top. */
	assert_int_equal(route_set_count(set, 0, 1), 1);
	assert_int_equal(route_set_count(set, 0, 3), 3);
	assert_int_equal(route_set_count(set, 0, 9), 9);
	for (unsigned i = 0; i < 9; i++)
		for (unsigned k = 0; k < i; k++) {
			unsigned a, b;
			const uint8_t *left = route_set_get(set, 0, 9, i, &a);
			const uint8_t *right = route_set_get(set, 0, 9, k, &b);

			assert_int_equal(a, b);
			assert_memory_not_equal(left, right, a);
		}
}

UNIT_TEST(the_number_of_jobs_changes_nothing)
{
	OWNED(topology) *topology = damaged_tree(5);
	OWNED(route_table) *one = tables(topology, 1), *three = tables(topology, 3);
	size_t entries = (size_t)one->switches * one->hosts;

	assert_memory_equal(one->primary, three->primary, entries);
	assert_memory_equal(
		one->alternatives, three->alternatives, entries * sizeof(*one->alternatives));
}

static void expect_refusal(const struct topology *topology, const char *reason)
{
	struct route_options options = {0};
	struct error error = {""};
	int result = 0;

	assert_null(route_compute_table(topology, &route_dmodk, &options, &result, &error));
	assert_int_equal(result, -EINVAL);
	assert_string_equal(error.text, reason);
	assert_null(route_compute(topology, &route_dmodk, &options, &result, &error));
	assert_int_equal(result, -EINVAL);
}

UNIT_TEST(a_topology_without_stages_is_refused)
{
	OWNED(topology) *topology = network_ring(3);

	expect_refusal(topology,
		"ring: switch s0 has no stage; in a fat tree, stages must start at 1 next to "
		"the hosts");
}

UNIT_TEST(a_link_within_a_stage_is_refused)
{
	OWNED(topology) *topology = network_ring(3);

	topology->switch_at[0].stage = 2;
	topology->switch_at[1].stage = topology->switch_at[2].stage = 1;
	expect_refusal(topology,
		"ring: switches s1 and s2 are linked within stage 1; in a fat tree, all links must be between stages");
}
