/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Dimension order on grids whose switch numbers contain their positions, with and without
 * damage. */

#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

#include "failures.h"
#include "networks.h"
#include "route_bench.h"

/* Sizes, with 0 after the last dimension. */
struct shape {
	const char *spec;
	uint32_t size[4];
	bool around;
};

static const struct shape shapes[] = {
	{"torus:dims=8x8,hosts=2", {8, 8}, true},
	{"torus:dims=5x3,hosts=2", {5, 3}, true},
	{"torus:dims=4x2x3,hosts=1", {4, 2, 3}, true},
	{"torus:dims=1x6,hosts=1", {1, 6}, true},
	{"ring:switches=7,hosts=1", {7}, true},
	{"ring:switches=2,hosts=3", {2}, true},
	{"mesh:dims=5x4,hosts=2", {5, 4}, false},
	{"mesh:dims=3x3x3,hosts=1", {3, 3, 3}, false},
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static struct route_set *routes(const struct topology *topology, uint64_t seed, unsigned jobs)
{
	struct route_options options = {.seed = seed, .jobs = jobs};

	return bench_compute(topology, "dor", &options);
}

static struct route_table *tables(const struct topology *topology, uint64_t seed)
{
	struct route_options options = {.seed = seed};
	struct error error = {""};
	struct route_table *table =
		route_compute_table(topology, &route_dor, &options, NULL, &error);

	if (table == NULL)
		fail_msg("%s", error.text);
	return table;
}

static unsigned place_of(const struct shape *shape, uint32_t at, unsigned dim)
{
	for (unsigned i = 0; i < dim; i++)
		at /= shape->size[i];
	return at % shape->size[dim];
}

/* Size 2 has one link, and is not a ring. */
static bool is_ring(const struct shape *shape, unsigned dim)
{
	return shape->around && shape->size[dim] > 2;
}

/* Returns the links of the shortest path in one dimension. */
static unsigned shortest(const struct shape *shape, uint32_t from, uint32_t to, unsigned dim)
{
	unsigned a = place_of(shape, from, dim), b = place_of(shape, to, dim);
	unsigned apart = a < b ? b - a : a - b;

	return is_ring(shape, dim) && shape->size[dim] - apart < apart ? shape->size[dim] - apart
								       : apart;
}

static uint32_t switch_of(const struct topology *topology, uint32_t host)
{
	struct topology_port at;

	assert_true(topology_peer(topology, network_port(DEVICE_HOST, host, 0), &at));
	return at.device;
}

/* The elements before the last port: dimension by dimension, each in one direction, with as many
 * links as needed. */
static void check_order(const struct shape *shape, const uint8_t *route, unsigned length,
	uint32_t from, uint32_t to)
{
	unsigned i = 0;

	for (unsigned dim = 0; shape->size[dim] != 0; dim++) {
		unsigned links = shortest(shape, from, to, dim);

		for (unsigned k = 0; k < links; k++) {
			assert_int_equal((route[i + k] & ROUTE_PORT_MASK) / 2, dim);
			assert_int_equal(route[i + k], route[i]);
		}
		i += links;
	}
	assert_int_equal(i + 2, length);
}

UNIT_TEST(dimension_after_dimension_the_shorter_way_around)
{
	for (unsigned i = 0; i < SHAPES; i++) {
		OWNED(topology) *topology = bench_generate(shapes[i].spec);
		OWNED(route_set) *set = routes(topology, i, 1);

		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++) {
				unsigned length;
				const uint8_t *route = route_set_get(set, from, to, 0, &length);

				assert_int_equal(route_set_count(set, from, to), from != to);
				if (from != to)
					check_order(&shapes[i], route, length,
						switch_of(topology, from), switch_of(topology, to));
			}
	}
}

static void judge(const struct topology *topology, const struct route_set *set,
	const struct route_table *table, struct route_report *report)
{
	struct route_subject subject = {set, table};
	struct error error = {""};

	if (route_verify(topology, &subject, 1, report, &error) != 0)
		fail_msg("%s", error.text);
}

static void expect_good(const struct topology *topology, const struct route_set *set,
	const struct route_table *table)
{
	OWNED(route_report) report;

	judge(topology, set, table, &report);
	assert_string_equal(report.evidence, "");
	assert_true(route_report_good(&report));
	assert_true(report.minimal_fraction == 1);
}

UNIT_TEST(without_the_classes_a_torus_has_a_cycle)
{
	OWNED(topology) *topology = bench_generate("torus:dims=8x8,hosts=2");
	OWNED(route_set) *set = routes(topology, 1, 1);
	OWNED(route_report) report;

	route_set_use_vc_rule(set, NULL);
	judge(topology, set, NULL, &report);
	assert_true(report.connected);
	assert_false(report.deadlock_free);
}

UNIT_TEST(only_rings_need_classes)
{
	for (unsigned i = 0; i < SHAPES; i++) {
		OWNED(topology) *topology = bench_generate(shapes[i].spec);
		OWNED(route_set) *set = routes(topology, 0, 1);
		bool rings = false;

		for (unsigned dim = 0; shapes[i].size[dim] != 0; dim++)
			rings |= is_ring(&shapes[i], dim);
		assert_int_equal(route_set_vc_rule(set) != NULL, rings);
	}
}

/* Returns whether the link from switch 'at' through 'port' is between the last position and
 * position 0. */
static bool wraps(const struct shape *shape, uint32_t at, unsigned port)
{
	unsigned place = place_of(shape, at, port / 2);

	return place == (port % 2 == 0 ? shape->size[port / 2] - 1 : 0);
}

static void check_classes(const struct shape *shape, const struct topology *topology,
	const struct vc_rule *rule, uint32_t at, const uint8_t *route, unsigned length)
{
	unsigned input = 2 * 2, class = 0, dim = 0, crossed = 0; /* from a host */

	for (unsigned i = 0; i + 2 < length; i++) {
		unsigned port = route[i] & ROUTE_PORT_MASK;
		struct topology_port next;

		crossed = port / 2 == dim ? crossed : 0;
		dim = port / 2;
		crossed += wraps(shape, at, port);
		class = vc_rule_next(rule, at, input, (uint8_t) class, port, VC_GO_ON);
		assert_int_equal(class, crossed);
		topology_peer(topology, network_port(DEVICE_SWITCH, at, (uint8_t)port), &next);
		at = next.device;
		input = next.port;
	}
}

UNIT_TEST(a_message_changes_class_where_it_crosses_a_dateline_and_nowhere_else)
{
	const struct shape *shape = &shapes[0];
	OWNED(topology) *topology = bench_generate(shape->spec);
	OWNED(route_set) *set = routes(topology, 1, 1);

	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			unsigned length = 0;
			const uint8_t *route = route_set_get(set, from, to, 0, &length);

			check_classes(shape, topology, route_set_vc_rule(set),
				switch_of(topology, from), route, length);
		}
}

UNIT_TEST(ties_load_both_directions_of_every_ring_alike)
{
	static const char *const specs[] = {"ring:switches=8,hosts=1", "ring:switches=6,hosts=2",
		"torus:dims=8x8,hosts=1", "torus:dims=4x4x4,hosts=2"};

	for (unsigned i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		OWNED(topology) *topology = bench_generate(specs[i]);
		OWNED(route_set) *set = routes(topology, i, 1);
		OWNED(route_report) report;

		judge(topology, set, NULL, &report);
		assert_int_equal(report.link_load.min, report.link_load.max);
	}
}

UNIT_TEST(the_seed_turns_ties_around)
{
	OWNED(topology) *topology = bench_generate("ring:switches=4,hosts=1");
	bool seen[2] = {false, false};

	for (uint64_t seed = 0; seed < 20; seed++) {
		OWNED(route_set) *set = routes(topology, seed, 1);
		unsigned length;

		seen[route_set_get(set, 0, 2, 0, &length)[0] & 1] = true;
	}
	assert_true(seen[0] && seen[1]);
}

/* Host 0 is at the origin. Both others are opposite to it in one dimension. */
UNIT_TEST(by_the_ports_no_seed_counts_and_dimensions_turn_in_turn)
{
	OWNED(topology) *topology = bench_generate("torus:dims=4x4,hosts=1");

	for (uint64_t seed = 0; seed < 20; seed++) {
		const struct route_options options = {.seed = seed, .ties = ROUTE_TIES_PORT};
		struct route_set *set = route_compute(topology, &route_dor, &options, NULL, NULL);
		struct route_table *table =
			route_compute_table(topology, &route_dor, &options, NULL, NULL);
		unsigned length;

		assert_int_equal(route_set_get(set, 0, 2, 0, &length)[0] & ROUTE_PORT_MASK, 1);
		assert_int_equal(route_set_get(set, 0, 8, 0, &length)[0] & ROUTE_PORT_MASK, 2);
		assert_int_equal(route_table_row(table, 0)[2], 1);
		assert_int_equal(route_table_row(table, 0)[8], 2);
		route_set_destroy(set);
		route_table_destroy(table);
	}
}

/* Returns whether this many consecutive links exist in one direction. */
static bool intact(const struct topology *topology, uint32_t at, unsigned port, unsigned links)
{
	for (unsigned i = 0; i < links; i++) {
		struct topology_port next;

		if (!topology_peer(topology, network_port(DEVICE_SWITCH, at, (uint8_t)port), &next))
			return false;
		at = next.device;
	}
	return true;
}

/* Checks by switch numbers that in each dimension, at least one direction is complete. */
static bool way_exists(
	const struct shape *shape, const struct topology *topology, uint32_t at, uint32_t to)
{
	uint32_t stride = 1;

	for (unsigned dim = 0; shape->size[dim] != 0; dim++) {
		unsigned size = shape->size[dim];
		unsigned a = place_of(shape, at, dim), b = place_of(shape, to, dim);

		if (!intact(topology, at, 2 * dim, (b + size - a) % size) &&
			!intact(topology, at, 2 * dim + 1, (a + size - b) % size))
			return false;
		at = at + b * stride - a * stride;
		stride *= size;
	}
	return true;
}

static struct topology *damaged(const struct shape *shape, uint64_t seed)
{
	struct topology *topology = bench_generate(shape->spec);
	struct rng rng;

	rng_init(&rng, seed, 0, 2);
	fail_links(topology, &rng, 1 + (unsigned)rng_below(&rng, 5));
	return topology;
}

UNIT_TEST(broken_rings_are_gone_around_the_other_way)
{
	static const struct shape some[] = {
		{"torus:dims=5x6,hosts=1", {5, 6}, true}, {"mesh:dims=4x4,hosts=1", {4, 4}, false}};

	for (uint64_t seed = 0; seed < 100; seed++) {
		const struct shape *shape = &some[seed % 2];
		OWNED(topology) *topology = damaged(shape, seed);
		OWNED(route_set) *set = routes(topology, seed, 1);
		OWNED(route_table) *table = tables(topology, seed);

		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++) {
				uint32_t at = switch_of(topology, from);
				bool way = way_exists(shape, topology, at, switch_of(topology, to));

				if (from == to)
					continue;
				assert_int_equal(route_set_count(set, from, to), way);
				assert_int_equal(
					route_table_row(table, at)[to] != ROUTE_TABLE_NONE, way);
			}
	}
}

/* Ports determine positions; numbers do not. */
UNIT_TEST(switches_may_be_numbered_in_any_order)
{
	OWNED(topology) *topology = bench_generate("torus:dims=4x5,hosts=2");
	OWNED(route_set) *set;

	for (uint32_t i = 0; i < topology->links; i++) {
		struct topology_port *ends[] = {&topology->link_at[i].a, &topology->link_at[i].b};

		for (unsigned e = 0; e < 2; e++)
			if (ends[e]->kind == DEVICE_SWITCH)
				ends[e]->device = (7 * ends[e]->device + 3) % topology->switches;
	}
	assert_int_equal(0, topology_finish(topology, "test", NULL));
	set = routes(topology, 1, 1);
	assert_non_null(route_set_vc_rule(set));
	expect_good(topology, set, NULL);
}

/* Port d of dimension d at both ends. */
UNIT_TEST(hypercubes_are_crossed_by_ascending_ports)
{
	OWNED(topology) *topology = bench_generate("hypercube:dims=4,hosts=2");
	OWNED(route_set) *set = routes(topology, 1, 1);
	OWNED(route_table) *table = tables(topology, 1);

	assert_null(route_set_vc_rule(set));
	expect_good(topology, set, NULL);
	expect_good(topology, NULL, table);
	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			unsigned length = 0;
			const uint8_t *route = route_set_get(set, from, to, 0, &length);

			for (unsigned i = 1; i + 2 < length; i++)
				assert_true(route[i] > route[i - 1]);
		}
}

UNIT_TEST(other_networks_are_refused)
{
	static const char *const specs[] = {"rlft:ports=4,stages=2", "full:switches=5",
		"torus-express:dims=6x6", "irregular:switches=16,degree=4", "dragonfly:a=4,p=2,h=2",
		"cplant"};

	for (unsigned i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		OWNED(topology) *topology = bench_generate(specs[i]);
		struct route_options options = {0};
		struct error error = {""};
		int result = 0;

		assert_null(route_compute(topology, &route_dor, &options, &result, &error));
		assert_int_equal(result, -EINVAL);
		assert_non_null(strstr(error.text, "expected"));
	}
}

UNIT_TEST(the_first_link_that_is_none_of_a_grid_is_named)
{
	OWNED(topology) *topology = bench_generate("full:switches=4");
	struct route_options options = {0};
	struct error error = {""};

	assert_null(route_compute(topology, &route_dor, &options, NULL, &error));
	assert_string_equal(error.text,
		"full-4-1: s0:1 leads to s2:0; expected a mesh, torus or ring (port 2d of dimension d leads to port 2d + 1) or a hypercube (port d to port d)");
}

UNIT_TEST(a_way_too_long_for_a_frame_is_refused)
{
	OWNED(topology) *topology = bench_generate("ring:switches=140");
	struct route_options options = {0};
	OWNED(route_table) *table = tables(topology, 0);
	struct error error = {""};
	int result;

	assert_null(route_compute(topology, &route_dor, &options, &result, &error));
	assert_int_equal(result, -EINVAL);
	assert_non_null(strstr(error.text, "route elements; at most 64 are allowed"));
	expect_good(topology, NULL, table);
}
