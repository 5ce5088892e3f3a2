/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares destination tables of up/down with the two rules, computed separately by recursion. */

#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

#include "networks.h"

#define NETWORKS 300
#define NO_WAY   1000u

static struct route_table *compute(const struct topology *topology, uint32_t root)
{
	struct route_options options = {.root = root};
	struct error error = {""};
	struct route_table *table =
		route_compute_table(topology, &route_up_down, &options, NULL, &error);

	if (table == NULL)
		fail_msg("%s", error.text);
	return table;
}

/* Distances between switches without any rule, by Floyd and Warshall. */
static void find_distances(const struct topology *topology, unsigned distance[9][9])
{
	for (unsigned a = 0; a < 9; a++)
		for (unsigned b = 0; b < 9; b++)
			distance[a][b] = a == b ? 0 : NO_WAY;
	for (uint32_t i = 0; i < topology->links; i++) {
		struct topology_port a = topology->link_at[i].a, b = topology->link_at[i].b;

		if (a.kind == DEVICE_SWITCH && b.kind == DEVICE_SWITCH)
			distance[a.device][b.device] = distance[b.device][a.device] = 1;
	}
	for (unsigned via = 0; via < 9; via++)
		for (unsigned a = 0; a < 9; a++)
			for (unsigned b = 0; b < 9; b++)
				if (distance[a][via] + distance[via][b] < distance[a][b])
					distance[a][b] = distance[a][via] + distance[via][b];
}

struct rules {
	const struct topology *topology;
	unsigned distance[9][9];
	uint32_t root;
};

static unsigned level(const struct rules *rules, uint32_t at)
{
	if (rules->distance[rules->root][at] != NO_WAY)
		return rules->distance[rules->root][at];
	for (uint32_t piece = 0;; piece++) /* the first switch of the piece is its root */
		if (rules->distance[piece][at] != NO_WAY)
			return rules->distance[piece][at];
}

static bool is_up(const struct rules *rules, uint32_t from, uint32_t to)
{
	unsigned here = level(rules, from), there = level(rules, to);

	return there < here || (there == here && to < from);
}

/* The minimum of 'next' over the arcs of 'at' in one direction, plus one. */
static unsigned best(const struct rules *rules, uint32_t at, uint32_t to, bool up,
	unsigned (*next)(const struct rules *, uint32_t, uint32_t))
{
	unsigned min = NO_WAY;

	for (uint32_t other = 0; other < rules->topology->switches; other++) {
		unsigned cost;

		if (rules->distance[at][other] != 1 || is_up(rules, at, other) != up)
			continue;
		cost = next(rules, other, to);
		if (cost < min)
			min = cost;
	}
	return min == NO_WAY ? NO_WAY : min + 1;
}

static unsigned cost_down(const struct rules *rules, uint32_t at, uint32_t to)
{
	return at == to ? 0 : best(rules, at, to, false, cost_down);
}

static unsigned cost(const struct rules *rules, uint32_t at, uint32_t to)
{
	unsigned down = cost_down(rules, at, to);

	return down != NO_WAY ? down : best(rules, at, to, true, cost);
}

/* Walks from a switch. Fails if an up follows a down. Returns the number of links, or NO_WAY. */
static unsigned walk(
	const struct rules *rules, const struct route_table *table, uint32_t at, uint32_t host)
{
	struct topology_port here = network_port(DEVICE_SWITCH, at, 0), next;
	bool down = false;

	for (unsigned links = 0; links < NO_WAY; links++) {
		here.port = route_table_row(table, here.device)[host];
		if (here.port == ROUTE_TABLE_NONE)
			return NO_WAY;
		assert_true(topology_peer(rules->topology, here, &next));
		if (next.kind == DEVICE_HOST) {
			assert_int_equal(next.device, host);
			return links;
		}
		assert_false(down && is_up(rules, here.device, next.device));
		down = !is_up(rules, here.device, next.device);
		here = next;
	}
	fail_msg("a circle");
	return NO_WAY;
}

UNIT_TEST(every_way_follows_the_two_rules_and_never_goes_up_after_down)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(topology) *topology = network_random(seed, seed % 4 != 0);
		struct rules rules = {.topology = topology};
		OWNED(route_table) *table;

		rules.root = (uint32_t)(seed % topology->switches);
		find_distances(topology, rules.distance);
		table = compute(topology, rules.root);
		for (uint32_t host = 0; host < topology->hosts; host++) {
			struct topology_port to;

			assert_true(
				topology_peer(topology, network_port(DEVICE_HOST, host, 0), &to));
			for (uint32_t at = 0; at < topology->switches; at++)
				assert_int_equal(
					walk(&rules, table, at, host), cost(&rules, at, to.device));
		}
	}
}

/* At level l, the up port is floor(D / K^l) mod K. */
UNIT_TEST(in_a_fat_tree_the_tables_are_d_mod_k)
{
	const uint32_t k = 3, stages = 3;
	OWNED(topology) *topology = network_fat_tree(k, stages);
	OWNED(route_table) *table = compute(topology, 0);

	for (uint32_t at = 0; at < topology->switches; at++)
		for (uint32_t host = 0; host < topology->hosts; host++) {
			uint8_t port = route_table_row(table, at)[host];
			uint32_t digit = host;

			for (unsigned stage = 1; stage < topology->switch_at[at].stage; stage++)
				digit /= k;
			if (topology->switch_at[at].stage < stages && port >= k)
				assert_int_equal(port, k + digit % k);
		}
}

UNIT_TEST(in_a_fat_tree_every_way_is_minimal)
{
	OWNED(topology) *topology = network_fat_tree(3, 3);
	OWNED(route_table) *table = compute(topology, 0);
	OWNED(route_report) report;

	assert_int_equal(0,
		route_verify(topology, &(struct route_subject){.table = table}, 1, &report, NULL));
	assert_true(route_report_good(&report));
	assert_true(report.minimal_fraction == 1);
	assert_int_equal(report.max_switch_links, 4);
}

/* D-mod-K sends equally many pairs over each link of a stage. */
UNIT_TEST(in_a_fat_tree_the_load_is_even)
{
	OWNED(topology) *topology = network_fat_tree(4, 2);
	OWNED(route_table) *table = compute(topology, 0);
	OWNED(route_report) report;

	assert_int_equal(0,
		route_verify(topology, &(struct route_subject){.table = table}, 1, &report, NULL));
	assert_int_equal(report.link_load.min, report.link_load.max);
}

UNIT_TEST(parallel_links_share_the_load)
{
	struct network network;
	OWNED(topology) *topology;
	OWNED(route_table) *table;
	OWNED(route_report) report;

	network_begin(&network, 2, 12);
	for (unsigned i = 0; i < 3; i++)
		network_link(&network, 0, 1);
	for (uint32_t i = 0; i < 12; i++)
		network_host(&network, i, i % 2);
	topology = network_end(&network);
	table = compute(topology, 0);
	assert_int_equal(0,
		route_verify(topology, &(struct route_subject){.table = table}, 1, &report, NULL));
	assert_int_equal(report.link_load.min, 12);
	assert_int_equal(report.link_load.max, 12);
}

UNIT_TEST(on_a_torus_the_load_is_no_more_uneven_than_the_tree_makes_it)
{
	OWNED(topology) *topology = network_torus(8, 1);
	OWNED(route_table) *table = compute(topology, 0);
	OWNED(route_report) report;

	assert_int_equal(0,
		route_verify(topology, &(struct route_subject){.table = table}, 1, &report, NULL));
	assert_true(route_report_good(&report));
	assert_true(report.link_load.stddev < report.link_load.mean);
}

UNIT_TEST(the_same_topology_gives_the_same_tables)
{
	OWNED(topology) *topology = network_torus(5, 2);
	OWNED(route_table) *a = compute(topology, 3), *b = compute(topology, 3);

	assert_memory_equal(a->primary, b->primary, (size_t)a->switches * a->hosts);
}

UNIT_TEST(a_host_that_nothing_connects_is_named)
{
	struct network network;
	OWNED(topology) *topology;
	OWNED(route_table) *table;
	struct error error;

	network_begin(&network, 3, 3);
	network_link(&network, 0, 1);
	for (uint32_t i = 0; i < 3; i++)
		network_host(&network, i, i);
	topology = network_end(&network);
	table = compute(topology, 0);
	assert_int_equal(route_table_row(table, 0)[2], ROUTE_TABLE_NONE);
	assert_int_equal(route_table_check_connected(table, topology, &error), -EINVAL);
	assert_string_equal(error.text,
		"net: there is no path from h0 to h2 (4 pairs of hosts have no path); use a connected topology");
}
