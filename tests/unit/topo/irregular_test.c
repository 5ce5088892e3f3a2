/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Random networks follow the three restrictions of the thesis (section 4.4), and no others. */

#include "topology_walk.h"

#include <errno.h>

#include "base/rng.h"

#define NETWORKS 200

static void assert_irregular(
	const struct topology *topology, uint32_t switches, unsigned degree, unsigned hosts)
{
	assert_int_equal(topology->switches, switches);
	assert_int_equal(topology->hosts, switches * hosts);
	assert_int_equal(topology->links, switches * degree / 2 + switches * hosts);
	assert_true(walk_diameter(topology) < switches);
	for (uint32_t a = 0; a < switches; a++) {
		assert_int_equal(walk_degree(topology, a, DEVICE_SWITCH), degree);
		assert_int_equal(walk_degree(topology, a, DEVICE_HOST), hosts);
		assert_int_equal(walk_links(topology, a, a), 0);
		for (uint32_t b = 0; b < a; b++)
			assert_true(walk_links(topology, a, b) <= 1);
	}
}

UNIT_TEST(what_is_not_said_is_as_in_the_thesis)
{
	OWNED(topology) *topology = walk_generate("irregular:switches=16");

	assert_irregular(topology, 16, 4, 4);
	for (uint32_t s = 0; s < 16; s++)
		assert_int_equal(topology->switch_at[s].ports, 8);
}

UNIT_TEST(random_requests_give_regular_connected_simple_networks)
{
	struct rng rng;
	char spec[128];

	rng_init(&rng, 5, 0, 0);
	for (unsigned i = 0; i < NETWORKS; i++) {
		unsigned switches = 3 + (unsigned)rng_below(&rng, 62), hosts, degree, free_ports;
		OWNED(topology) *topology;

		degree = 2 + (unsigned)rng_below(&rng, switches < 12 ? switches - 2 : 10);
		degree -= switches * degree % 2;
		if (degree < 2)
			degree = 2;
		hosts = (unsigned)rng_below(&rng, 6);
		free_ports = (unsigned)rng_below(&rng, 4);
		snprintf(spec, sizeof(spec),
			"irregular:switches=%u,degree=%u,hosts=%u,ports=%u,seed=%u", switches,
			degree, hosts, degree + hosts + free_ports, i);
		topology = walk_generate(spec);
		assert_irregular(topology, switches, degree, hosts);
		assert_int_equal(
			topology->switch_at[switches - 1].ports, degree + hosts + free_ports);
	}
}

UNIT_TEST(the_extremes_are_possible)
{
	static const struct {
		const char *spec;
		uint32_t switches;
		unsigned degree, hosts;
	} extremes[] = {
		{"irregular:switches=1,degree=0,hosts=3", 1, 0, 3},
		{"irregular:switches=2,degree=1", 2, 1, 4},
		{"irregular:switches=5,degree=4", 5, 4, 4},
		{"irregular:switches=8,degree=7,hosts=0", 8, 7, 0},
		{"irregular:switches=65,degree=64,hosts=0", 65, 64, 0},
		{"irregular:switches=200,degree=2", 200, 2, 4},
	};

	for (unsigned i = 0; i < sizeof(extremes) / sizeof(extremes[0]); i++) {
		OWNED(topology) *topology = walk_generate(extremes[i].spec);

		assert_irregular(
			topology, extremes[i].switches, extremes[i].degree, extremes[i].hosts);
	}
}

static unsigned common_links(const struct topology *x, const struct topology *y)
{
	unsigned common = 0;

	for (uint32_t a = 0; a < x->switches; a++)
		for (uint32_t b = 0; b < a; b++)
			common += walk_links(x, a, b) != 0 && walk_links(y, a, b) != 0;
	return common;
}

UNIT_TEST(the_seed_decides_the_network)
{
	OWNED(topology) *one = walk_generate("irregular:switches=64,seed=7");
	OWNED(topology) *same = walk_generate("irregular:switches=64,seed=7");
	OWNED(topology) *other = walk_generate("irregular:switches=64,seed=8");

	assert_int_equal(one->links, same->links);
	for (uint32_t s = 0; s < 64; s++)
		for (unsigned port = 0; port < 4; port++)
			assert_int_equal(walk_far_end(one, s, port).device,
				walk_far_end(same, s, port).device);
	/* 128 links each; by chance, 8 are in both. */
	assert_true(common_links(one, other) < 32);
}

static unsigned count_triangles(const struct topology *topology)
{
	unsigned triangles = 0;

	for (uint32_t a = 0; a < topology->switches; a++)
		for (uint32_t b = 0; b < a; b++)
			for (uint32_t c = 0; c < b && walk_links(topology, a, b) != 0; c++)
				triangles += walk_links(topology, a, c) != 0 &&
					     walk_links(topology, b, c) != 0;
	return triangles;
}

/* A large random graph of degree d has (d-1)^3 / 6 of them, Poisson distributed (Bollobas, Random
 * Graphs, section 2.4): 4.5, and 180 in 40 graphs with a standard deviation of 13. The initial
 * ring of the walk has one per switch, 2,560. */
UNIT_TEST(networks_have_as_many_triangles_as_chance_gives)
{
	unsigned triangles = 0;
	char spec[64];

	for (unsigned seed = 0; seed < 40; seed++) {
		OWNED(topology) *topology;

		snprintf(spec, sizeof(spec), "irregular:switches=64,hosts=0,seed=%u", seed);
		topology = walk_generate(spec);
		triangles += count_triangles(topology);
	}
	assert_in_range(triangles, 130, 240);
}

/* 60 of the cubic graphs with 6 numbered vertices are prisms and 10 are K(3,3). The share of the
 * latter is 1/7: in 700 graphs 100, with a standard deviation of 9.3. */
UNIT_TEST(each_graph_is_as_likely_as_any_other)
{
	unsigned without_triangle = 0;
	char spec[64];

	for (unsigned seed = 0; seed < 700; seed++) {
		OWNED(topology) *topology;

		snprintf(spec, sizeof(spec), "irregular:switches=6,degree=3,hosts=0,seed=%u", seed);
		topology = walk_generate(spec);
		without_triangle += count_triangles(topology) == 0;
	}
	assert_in_range(without_triangle, 65, 135);
}

UNIT_TEST(ports_lead_to_neighbours_in_order_and_then_to_hosts)
{
	OWNED(topology) *topology = walk_generate("irregular:switches=20,degree=5,hosts=2,ports=9");

	for (uint32_t s = 0; s < 20; s++) {
		struct topology_port peer;

		for (unsigned port = 1; port < 5; port++)
			assert_true(walk_far_end(topology, s, port - 1).device <
				    walk_far_end(topology, s, port).device);
		assert_int_equal(walk_far_end(topology, s, 5).device, 2 * s);
		assert_int_equal(walk_far_end(topology, s, 6).device, 2 * s + 1);
		assert_false(topology_peer(topology, walk_switch(s, 7), &peer));
	}
}

UNIT_TEST(impossible_requests_are_refused_with_the_reason)
{
	static const struct {
		const char *spec, *message;
	} bad[] = {
		{"irregular", "irregular: option 'switches' is missing (switches)"},
		{"irregular:switches=5,degree=3",
			"irregular:switches=5,degree=3: switches or degree must be even, because each link has two ends"},
		{"irregular:switches=4",
			"irregular:switches=4: 4 links per switch need as many other switches, but there are 3"},
		{"irregular:switches=16,ports=6",
			"irregular:switches=16,ports=6: 4 links and 4 hosts need 8 ports per switch, but there are 6"},
		{"irregular:switches=16,degree=40,hosts=30",
			"irregular:switches=16,degree=40,hosts=30: 40 links per switch need as many other switches, but there are 15"},
		{"irregular:switches=300,degree=200,hosts=100",
			"irregular:switches=300,degree=200,hosts=100: needs 300 ports per switch; the maximum is "
			"255"},
		{"irregular:switches=4,degree=1",
			"irregular:switches=4,degree=1: 4 switches cannot be connected with 1 link "
			"each"},
		{"irregular:switches=2,degree=0",
			"irregular:switches=2,degree=0: 2 switches cannot be connected with 0 links "
			"each"},
		{"irregular:switches=20000",
			"irregular:switches=20000: needs 80000 hosts; the maximum is 65536"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};

		assert_null(topology_open(bad[i].spec, &error));
		assert_int_equal(errno, EINVAL);
		assert_string_equal(error.text, bad[i].message);
	}
}
