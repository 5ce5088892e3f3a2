/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The judge on sets of routes that can be in a network together: several sets, tables with
 * alternative ports, VC classes. */

#include "networks.h"
#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"
#include "wire/frame.h"

#define TO_NEXT   (ROUTE_PORT_BIT | 0) /* ports of network_ring() */
#define TO_BEFORE (ROUTE_PORT_BIT | 1)
#define TO_HOST   (ROUTE_PORT_BIT | 2)

static struct route_report judge(
	const struct topology *topology, const struct route_subject *subjects, unsigned count)
{
	struct route_report report;
	struct error error;

	if (route_verify(topology, subjects, count, &report, &error) != 0)
		fail_msg("%s", error.text);
	return report;
}

/* Routes on a ring: 1 to 'links' links clockwise from the given sources. */
static void add_clockwise(
	struct route_set *set, uint32_t switches, uint32_t first, uint32_t last, uint32_t links)
{
	for (uint32_t source = first; source <= last; source++)
		for (uint32_t length = 1; length <= links; length++) {
			uint8_t route[16];

			memset(route, TO_NEXT, length);
			route[length] = TO_HOST;
			route[length + 1] = ROUTE_TYPE_HOST;
			assert_int_equal(0, route_set_add(set, source, (source + length) % switches,
						    route, length + 2));
		}
}

static struct vc_rule *ring_rule(uint32_t switches)
{
	struct vc_rule *rule = vc_rule_create(switches, 2);

	assert_non_null(rule);
	for (uint32_t at = 0; at < switches; at++)
		rule->ring[at * VC_RULE_PORTS] = rule->ring[at * VC_RULE_PORTS + 1] = 0;
	rule->dateline[switches - 1] = 1; /* port 0 of the last switch leads to the first */
	rule->dateline[0] = 2;
	return rule;
}

UNIT_TEST(two_good_sets_with_a_cycle_between_them_are_caught)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(route_set) *a = route_set_create(6), *b = route_set_create(6);
	struct route_subject both[2] = {{.set = a}, {.set = b}};
	struct route_report report;

	add_clockwise(a, 6, 0, 2, 2);
	add_clockwise(b, 6, 3, 5, 2);
	for (unsigned i = 0; i < 2; i++) {
		report = judge(topology, &both[i], 1);
		assert_true(report.deadlock_free);
		route_report_free(&report);
	}
	report = judge(topology, both, 2);
	assert_false(report.deadlock_free);
	assert_int_equal(report.cycle_length, 6);
	assert_int_equal(report.pairs, 30);
	assert_int_equal(report.routes, 12);
	assert_int_equal(report.unconnected, 18);
	route_report_free(&report);
}

UNIT_TEST(a_dateline_opens_the_ring)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(route_set) *set = route_set_create(6);
	OWNED(route_report) report;

	add_clockwise(set, 6, 0, 5, 5);
	route_set_use_vc_rule(set, ring_rule(6));
	report = judge(topology, &(struct route_subject){.set = set}, 1);
	assert_true(report.deadlock_free);
	assert_true(report.connected);
	assert_int_equal(report.vc_classes, 2);
}

UNIT_TEST(classes_without_a_dateline_leave_the_cycle_and_are_named_in_it)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(route_set) *set = route_set_create(6);
	struct vc_rule *rule = ring_rule(6);
	OWNED(route_report) report;
	char name[64];

	add_clockwise(set, 6, 0, 5, 5);
	rule->dateline[5] = 0;
	route_set_use_vc_rule(set, rule);
	report = judge(topology, &(struct route_subject){.set = set}, 1);
	assert_false(report.deadlock_free);
	assert_int_equal(report.cycle_length, 6);
	route_report_channel_name(topology, &report, 0, name, sizeof(name));
	assert_non_null(strstr(name, ":0/0"));
}

UNIT_TEST(another_rule_for_the_same_switches_is_refused)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(route_set) *a = route_set_create(6), *b = route_set_create(6);
	struct route_subject both[2] = {{.set = a}, {.set = b}};
	struct vc_rule *rule = ring_rule(6);
	struct route_report report;
	struct error error;

	rule->dateline[3] = 1;
	route_set_use_vc_rule(a, ring_rule(6));
	route_set_use_vc_rule(b, rule);
	assert_int_equal(-EINVAL, route_verify(topology, both, 2, &report, &error));
	assert_string_equal(error.text, "ring: all routes must have the same VC classes");
}

/* Tables. */

static struct route_table *clockwise_to_the_middle(void)
{
	struct route_table *table = route_table_create(6, 6);

	assert_non_null(table);
	/* Shortest paths on the ring of six without passing from s5 to s0 or back, so there is no
	 * cycle. */
	for (uint32_t at = 0; at < 6; at++)
		for (uint32_t host = 0; host < 6; host++)
			route_table_row(table, at)[host] = at == host ? 2 : host > at ? 0 : 1;
	return table;
}

UNIT_TEST(an_alternative_port_counts_like_the_primary)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(route_table) *table = clockwise_to_the_middle();
	struct route_subject subject = {.table = table};
	struct route_report report = judge(topology, &subject, 1);

	assert_true(route_report_good(&report));
	route_report_free(&report);
	table->alternatives = calloc(36, sizeof(*table->alternatives));
	assert_non_null(table->alternatives);
	for (uint32_t host = 0; host < 6; host++) /* s0 and s5 may use the other direction */
		route_table_alternatives(table, 0)[host] = host >= 4 ? 2 : 0,
						route_table_alternatives(table, 5)[host] =
							host <= 1 ? 1 : 0;
	route_table_alternatives(table, 1)[5] = 2;
	route_table_alternatives(table, 4)[0] = 1;
	route_table_alternatives(table, 2)[5] = 2;
	route_table_alternatives(table, 3)[0] = 1;
	report = judge(topology, &subject, 1);
	assert_true(report.connected);
	assert_false(report.deadlock_free);
	route_report_free(&report);
}

UNIT_TEST(an_alternative_port_without_a_link_is_found)
{
	OWNED(topology) *topology = network_ring(6);
	OWNED(route_table) *table = clockwise_to_the_middle();
	OWNED(route_report) report;

	table->alternatives = calloc(36, sizeof(*table->alternatives));
	assert_non_null(table->alternatives);
	route_table_alternatives(table, 2)[4] = 1 << 9;
	report = judge(topology, &(struct route_subject){.table = table}, 1);
	assert_true(report.connected);
	assert_int_equal(report.invalid, 1);
	assert_false(route_report_good(&report));
	assert_string_equal(report.evidence, "anybody to h4: an alternative ends at s2:0");
}

UNIT_TEST(what_the_topology_cannot_connect_is_told_apart)
{
	OWNED(topology) *topology;
	struct route_options options = {0};
	OWNED(route_report) report;
	OWNED(route_table) *table;
	struct network network;

	network_begin(&network, 3, 3);
	network_link(&network, 0, 1);
	for (uint32_t i = 0; i < 3; i++)
		network_host(&network, i, i);
	topology = network_end(&network);
	table = route_compute_table(topology, &route_up_down, &options, NULL, NULL);
	assert_non_null(table);
	route_table_row(table, 0)[1] = ROUTE_TABLE_NONE;
	report = judge(topology, &(struct route_subject){.table = table}, 1);
	assert_int_equal(report.unconnected, 5);
	assert_int_equal(report.unreachable, 4);
}

/* The source route that a packet takes according to the tables; 0 if it does not arrive. */
static unsigned walk(const struct topology *topology, const struct route_table *table,
	uint32_t source, uint32_t destination, uint8_t *route)
{
	struct topology_port at = network_port(DEVICE_HOST, source, 0);
	unsigned length = 0;

	if (!topology_peer(topology, at, &at))
		return 0;
	while (at.kind == DEVICE_SWITCH) {
		uint8_t port = route_table_row(table, at.device)[destination];

		at.port = port;
		if (port == ROUTE_TABLE_NONE || length + 2 > ROUTE_ELEMENTS_MAX ||
			!topology_peer(topology, at, &at))
			return 0;
		route[length++] = ROUTE_PORT_BIT | port;
	}
	route[length++] = ROUTE_TYPE_HOST;
	return at.device == destination ? length : 0;
}

static struct route_set *walk_all(const struct topology *topology, const struct route_table *table)
{
	struct route_set *set = route_set_create(topology->hosts);
	uint8_t route[ROUTE_ELEMENTS_MAX];

	assert_non_null(set);
	for (uint32_t source = 0; source < topology->hosts; source++)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			unsigned length =
				source == to ? 0 : walk(topology, table, source, to, route);

			if (length > 0)
				assert_int_equal(0, route_set_add(set, source, to, route, length));
		}
	return set;
}

/* Ports that were changed at random: missing entries, circles, wrong hosts. */
static void spoil(struct route_table *table, uint64_t seed)
{
	struct rng rng;

	rng_init(&rng, seed, 1, 1);
	for (unsigned i = (unsigned)rng_below(&rng, 5); i > 0; i--)
		route_table_row(table,
			(uint32_t)rng_below(&rng, table->switches))[rng_below(&rng, table->hosts)] =
			(uint8_t)rng_below(&rng, 6);
}

UNIT_TEST(tables_are_judged_as_each_packet_alone_would_be)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		OWNED(topology) *topology = network_random(seed, true);
		struct route_options options = {.seed = seed};
		struct route_table *table =
			route_compute_table(topology, &route_up_down, &options, NULL, NULL);
		struct route_report together, alone;
		struct route_set *set;

		assert_non_null(table);
		spoil(table, seed);
		set = walk_all(topology, table);
		together = judge(topology, &(struct route_subject){.table = table}, 1);
		alone = judge(topology, &(struct route_subject){.set = set}, 1);
		assert_int_equal(together.routes, alone.routes);
		assert_int_equal(together.unconnected, alone.unconnected);
		assert_int_equal(together.far_routes, alone.far_routes);
		assert_true(together.minimal_fraction == alone.minimal_fraction);
		assert_true(together.mean_switch_links == alone.mean_switch_links);
		assert_int_equal(together.max_switch_links, alone.max_switch_links);
		assert_int_equal(together.link_load.max, alone.link_load.max);
		assert_true(together.link_load.stddev == alone.link_load.stddev);
		assert_int_equal(together.deadlock_free, alone.deadlock_free);
		route_report_free(&together);
		route_report_free(&alone);
		route_set_destroy(set);
		route_table_destroy(table);
	}
}
