/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The judge, given good routes, and routes that are bad in every possible way. */

#include "route/verify/route_verify.h"

#include "route/route_algorithm.h"

#include "networks.h"

#define TO_NEXT   (ROUTE_PORT_BIT | 0) /* ports of network_ring() */
#define TO_BEFORE (ROUTE_PORT_BIT | 1)
#define TO_HOST   (ROUTE_PORT_BIT | 2)

struct fixture {
	struct topology *topology;
	struct route_set *set;
	struct route_report report;
};

/* A ring of six with routes of up/down rooted at s0. The one forbidden turn is at s3. */
static int set_up(void **state)
{
	static struct fixture fixture;
	struct route_options options = {.seed = 1, .alternatives = 10};

	fixture = (struct fixture){.topology = network_ring(6)};
	fixture.set = route_compute(fixture.topology, &route_up_down, &options, NULL, NULL);
	*state = &fixture;
	return fixture.set == NULL;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	route_report_free(&fixture->report);
	route_set_destroy(fixture->set);
	topology_destroy(fixture->topology);
	return 0;
}

static void add(struct fixture *fixture, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length)
{
	assert_int_equal(0, route_set_add(fixture->set, source, destination, route, length));
}

static const struct route_report *judge(struct fixture *fixture)
{
	struct error error;

	if (route_verify_set(fixture->topology, fixture->set, &fixture->report, &error) != 0)
		fail_msg("%s", error.text);
	return &fixture->report;
}

/* All routes clockwise, instead of the routes of up/down. */
static void all_clockwise(struct fixture *fixture, uint8_t last, unsigned itb_at)
{
	uint8_t route[16];

	route_set_destroy(fixture->set);
	fixture->set = route_set_create(6);
	assert_non_null(fixture->set);
	for (uint32_t source = 0; source < 6; source++)
		for (uint32_t links = 1; links < 6; links++) {
			unsigned length = 0;

			for (uint32_t i = 0; i < links; i++) {
				if (i > 0 && (source + i) % 6 == itb_at) {
					route[length++] = TO_HOST;
					route[length++] = ROUTE_TYPE_ITB;
				}
				route[length++] = TO_NEXT;
			}
			route[length++] = TO_HOST;
			route[length++] = last;
			add(fixture, source, (source + links) % 6, route, length);
		}
}

#define TEST(name) UNIT_BED(name, set_up, tear_down, struct fixture *fixture)

TEST(the_routes_of_up_down_on_a_ring_are_good)
{
	const struct route_report *report = judge(fixture);

	assert_true(route_report_good(report));
	assert_int_equal(report->pairs, 30);
	assert_int_equal(report->unconnected, 0);
	assert_int_equal(report->cycle_length, 0);
	assert_string_equal(report->evidence, "");
}

/* Each channel of the evidence ends at the switch where the next one starts. */
static void assert_closed(const struct topology *topology, const struct route_report *report)
{
	assert_true(report->cycle_length > 0);
	for (uint32_t i = 0; i < report->cycle_length; i++) {
		const struct topology_port *next =
			&report->cycle[(i + 1) % report->cycle_length].from;
		struct topology_port end;

		assert_true(topology_peer(topology, report->cycle[i].from, &end));
		assert_int_equal(end.kind, next->kind);
		assert_int_equal(end.device, next->device);
	}
}

TEST(one_illegal_turn_is_caught_with_the_cycle_that_it_closes)
{
	const uint8_t illegal[] = {TO_NEXT, TO_NEXT, TO_HOST, ROUTE_TYPE_HOST}; /* s2 s3 s4 */
	const struct route_report *report;

	add(fixture, 2, 4, illegal, sizeof(illegal));
	report = judge(fixture);
	assert_false(report->deadlock_free);
	assert_true(report->connected);
	assert_int_equal(report->invalid, 0);
	assert_int_equal(report->cycle_length, 6);
	assert_closed(fixture->topology, report);
	assert_non_null(strstr(report->evidence, "a cycle of 6 channel dependencies"));
}

TEST(routes_round_a_ring_deadlock)
{
	const struct route_report *report;

	all_clockwise(fixture, ROUTE_TYPE_HOST, UINT32_MAX);
	report = judge(fixture);
	assert_false(report->deadlock_free);
	assert_int_equal(report->cycle_length, 6);
	assert_closed(fixture->topology, report);
	assert_int_equal(report->max_switch_links, 5);
}

TEST(an_in_transit_buffer_ends_the_dependency)
{
	const struct route_report *report;

	all_clockwise(fixture, ROUTE_TYPE_HOST, 3);
	report = judge(fixture);
	assert_true(report->deadlock_free);
	assert_true(report->connected);
	assert_int_equal(report->itbs_max, 1);
	/* s3 is passed by the routes from 2, 1, 0, 5 and 4 that continue: 4 + 3 + 2 + 1 of 30. */
	assert_in_range((unsigned)(report->itbs_mean * 300 + 0.5), 100, 100);
}

TEST(links_and_loads_are_counted)
{
	const struct route_report *report;

	all_clockwise(fixture, ROUTE_TYPE_HOST, UINT32_MAX);
	report = judge(fixture);
	assert_int_equal(report->routes, 30);
	assert_true(report->mean_switch_links == 3); /* (1 + 2 + 3 + 4 + 5) / 5 */
	assert_true(report->minimal_fraction == 0.6);
	/* Clockwise, each channel has 6 * 15 / 6 routes. In the other direction, it has none. */
	assert_int_equal(report->link_load.max, 15);
	assert_int_equal(report->link_load.min, 0);
	assert_true(report->link_load.mean == 7.5);
	assert_true(report->link_load.stddev == 7.5);
}

TEST(a_pair_without_a_route_is_found)
{
	const uint8_t route[] = {TO_NEXT, TO_HOST, ROUTE_TYPE_HOST};
	const struct route_report *report;

	route_set_destroy(fixture->set);
	fixture->set = route_set_create(6);
	add(fixture, 0, 1, route, sizeof(route));
	report = judge(fixture);
	assert_false(report->connected);
	assert_int_equal(report->unconnected, 29);
	assert_int_equal(report->routes, 1);
	assert_string_equal(report->evidence, "h1 to h0: no route");
}

static void expect_invalid(
	struct fixture *fixture, const uint8_t *route, unsigned length, const char *evidence)
{
	const struct route_report *report;

	add(fixture, 0, 2, route, length);
	report = judge(fixture);
	assert_int_equal(report->invalid, 1);
	assert_false(route_report_good(report));
	assert_string_equal(report->evidence, evidence);
}

TEST(a_route_to_the_wrong_host_is_found)
{
	const uint8_t route[] = {TO_NEXT, TO_HOST, ROUTE_TYPE_HOST};

	expect_invalid(fixture, route, sizeof(route), "h0 to h2: it ends at h1:0");
}

TEST(a_route_by_a_port_without_a_link_is_found)
{
	const uint8_t route[] = {TO_NEXT, ROUTE_PORT_BIT | 63, TO_HOST, ROUTE_TYPE_HOST};

	expect_invalid(fixture, route, sizeof(route),
		"h0 to h2: it leaves through a port without a link at s1:1");
}

/* A different path from the judged one. */
TEST(a_hop_that_a_switch_may_replace_is_found)
{
	const uint8_t route[] = {TO_NEXT, TO_NEXT | ROUTE_ADAPTIVE, TO_HOST, ROUTE_TYPE_HOST};

	expect_invalid(fixture, route, sizeof(route),
		"h0 to h2: it lets a switch replace a hop, which cannot be verified, at s1:1");
}

TEST(a_route_without_an_end_is_found)
{
	const uint8_t route[] = {TO_NEXT, TO_NEXT, TO_HOST};

	expect_invalid(fixture, route, sizeof(route), "h0 to h2: it has no end at h2:0");
}

TEST(a_route_that_ends_in_a_switch_is_found)
{
	const uint8_t route[] = {TO_NEXT, ROUTE_TYPE_HOST};

	expect_invalid(
		fixture, route, sizeof(route), "h0 to h2: it has an interface element at s1:1");
}

TEST(a_route_through_a_host_is_found)
{
	const uint8_t route[] = {TO_HOST, TO_NEXT, TO_NEXT, TO_HOST, ROUTE_TYPE_HOST};

	expect_invalid(fixture, route, sizeof(route), "h0 to h2: it has a port element at h0:0");
}

TEST(a_route_that_goes_on_after_its_end_is_found)
{
	const uint8_t route[] = {TO_NEXT, TO_NEXT, TO_HOST, ROUTE_TYPE_HOST, ROUTE_TYPE_HOST};

	expect_invalid(
		fixture, route, sizeof(route), "h0 to h2: it continues after its end at h2:0");
}

TEST(an_element_of_no_known_type_is_found)
{
	const uint8_t route[] = {TO_NEXT, TO_NEXT, TO_HOST, 0x33};

	expect_invalid(fixture, route, sizeof(route),
		"h0 to h2: it has an element of an unknown type at h2:0");
}

TEST(a_step_that_is_not_between_two_ports_is_found)
{
	const uint8_t route[] = {ROUTE_TYPE_STEP, TO_NEXT, TO_NEXT, TO_HOST, ROUTE_TYPE_HOST};

	expect_invalid(fixture, route, sizeof(route),
		"h0 to h2: it has too many 'next step', or one that is not between two ports, at "
		"s0:2");
}

TEST(more_than_two_steps_are_found)
{
	const uint8_t route[] = {TO_NEXT, ROUTE_TYPE_STEP, TO_NEXT, ROUTE_TYPE_STEP, TO_NEXT,
		ROUTE_TYPE_STEP, TO_NEXT, TO_HOST, ROUTE_TYPE_HOST};

	expect_invalid(fixture, route, sizeof(route),
		"h0 to h2: it has too many 'next step', or one that is not between two ports, at "
		"s0:2");
}

TEST(a_set_for_another_number_of_hosts_is_refused)
{
	OWNED(route_set) *other = route_set_create(7);
	struct error error;

	assert_int_equal(
		-EINVAL, route_verify_set(fixture->topology, other, &fixture->report, &error));
}

static struct route_table *some_table(const struct fixture *fixture)
{
	struct route_options options = {0};
	struct route_table *table =
		route_compute_table(fixture->topology, &route_up_down, &options, NULL, NULL);

	assert_non_null(table);
	return table;
}

TEST(tables_that_send_round_in_a_circle_are_found)
{
	OWNED(route_table) *table = some_table(fixture);

	for (uint32_t at = 0; at < 6; at++)
		route_table_row(table, at)[4] = 0;
	assert_int_equal(0, route_verify(fixture->topology, &(struct route_subject){.table = table},
				    1, &fixture->report, NULL));
	assert_false(fixture->report.connected);
	assert_int_equal(fixture->report.invalid, 5);
	assert_non_null(strstr(fixture->report.evidence, "the tables send it around a loop"));
}

TEST(a_table_with_a_hole_is_found)
{
	OWNED(route_table) *table = some_table(fixture);

	route_table_row(table, 2)[0] = ROUTE_TABLE_NONE;
	assert_int_equal(0, route_verify(fixture->topology, &(struct route_subject){.table = table},
				    1, &fixture->report, NULL));
	assert_false(fixture->report.connected);
}

TEST(tables_that_turn_against_the_rule_are_found)
{
	OWNED(route_table) *table = some_table(fixture);

	for (uint32_t at = 0; at < 6; at++) /* clockwise to all others */
		for (uint32_t host = 0; host < 6; host++)
			if (host != at)
				route_table_row(table, at)[host] = 0;
	assert_int_equal(0, route_verify(fixture->topology, &(struct route_subject){.table = table},
				    1, &fixture->report, NULL));
	assert_true(fixture->report.connected);
	assert_false(fixture->report.deadlock_free);
	assert_closed(fixture->topology, &fixture->report);
}
