/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Regular networks with hosts on every switch: torus-express, hypercube, dragonfly, cplant. */

#include "topology_walk.h"

static unsigned bits(uint32_t number)
{
	return (unsigned)__builtin_popcount(number);
}

UNIT_TEST(the_express_torus_of_the_thesis_uses_all_16_ports)
{
	OWNED(topology) *topology = walk_generate("torus-express:dims=8x8,hosts=8");
	struct topology_port peer;

	assert_int_equal(topology->switches, 64);
	assert_int_equal(topology->hosts, 512);
	assert_int_equal(topology->links, 512 + 64 * 8 / 2);
	for (uint32_t s = 0; s < 64; s++) {
		assert_int_equal(topology->switch_at[s].ports, 16);
		for (unsigned port = 0; port < 16; port++)
			assert_true(topology_peer(topology, walk_switch(s, port), &peer));
	}
}

/* The ports of the torus are the same as without express links. */
UNIT_TEST(express_ports_come_after_those_of_the_torus)
{
	OWNED(topology) *topology = walk_generate("torus-express:dims=7x6,hosts=2");
	OWNED(topology) *torus = walk_generate("torus:dims=7x6,hosts=2");

	for (uint32_t s = 0; s < topology->switches; s++) {
		uint32_t x = s % 7, y = s / 7;

		for (unsigned port = 0; port < 4; port++)
			assert_int_equal(walk_far_end(topology, s, port).device,
				walk_far_end(torus, s, port).device);
		assert_int_equal(walk_far_end(topology, s, 4).device, y * 7 + (x + 2) % 7);
		assert_int_equal(walk_far_end(topology, s, 5).device, y * 7 + (x + 5) % 7);
		assert_int_equal(walk_far_end(topology, s, 6).device, (y + 2) % 6 * 7 + x);
		assert_int_equal(walk_far_end(topology, s, 7).device, (y + 4) % 6 * 7 + x);
		assert_int_equal(walk_far_end(topology, s, 8).kind, DEVICE_HOST);
		assert_int_equal(walk_far_end(topology, s, 9).device, 2 * s + 1);
	}
}

UNIT_TEST(express_links_halve_the_distances)
{
	OWNED(topology) *topology = walk_generate("torus-express:dims=8x8");

	assert_int_equal(walk_diameter(topology), 4);
}

/* Rows of 1 to 5: from size 3 on, every pair of a row has one link. */
UNIT_TEST(short_express_rows_have_no_double_links)
{
	static const unsigned degrees[] = {0, 0, 1, 2, 3, 4, 4};
	char spec[64];

	for (unsigned size = 1; size <= 6; size++) {
		OWNED(topology) *topology;

		snprintf(spec, sizeof(spec), "torus-express:dims=%u", size);
		topology = walk_generate(spec);
		for (uint32_t a = 0; a < size; a++) {
			assert_int_equal(walk_degree(topology, a, DEVICE_SWITCH), degrees[size]);
			for (uint32_t b = 0; b < size; b++)
				assert_true(walk_links(topology, a, b) <= (a != b));
		}
	}
}

UNIT_TEST(a_hypercube_port_flips_its_digit)
{
	OWNED(topology) *topology = walk_generate("hypercube:dims=5,hosts=3");

	assert_int_equal(topology->switches, 32);
	assert_int_equal(topology->hosts, 96);
	assert_int_equal(topology->links, 96 + 32 * 5 / 2);
	for (uint32_t s = 0; s < 32; s++) {
		for (unsigned dim = 0; dim < 5; dim++) {
			assert_int_equal(
				walk_far_end(topology, s, dim).device, s ^ (uint32_t)1 << dim);
			assert_int_equal(walk_far_end(topology, s, dim).port, dim);
		}
		assert_int_equal(walk_far_end(topology, s, 5).kind, DEVICE_HOST);
		assert_int_equal(walk_far_end(topology, s, 7).device, 3 * s + 2);
	}
}

UNIT_TEST(hypercube_distances_are_the_digits_that_differ)
{
	OWNED(topology) *topology = walk_generate("hypercube:dims=6,hosts=0");
	uint32_t distance[64];

	for (uint32_t from = 0; from < 64; from++) {
		assert_int_equal(walk_distances(topology, from, distance), 6);
		for (uint32_t to = 0; to < 64; to++)
			assert_int_equal(distance[to], bits(from ^ to));
	}
}

UNIT_TEST(a_hypercube_may_have_no_dimension)
{
	OWNED(topology) *topology = walk_generate("hypercube:dims=0,hosts=2");

	assert_int_equal(topology->switches, 1);
	assert_int_equal(topology->links, 2);
}

static void assert_dragonfly(const struct topology *topology, uint32_t a, uint32_t p, uint32_t h)
{
	uint32_t groups = a * h + 1;

	assert_int_equal(topology->switches, groups * a);
	assert_int_equal(topology->hosts, groups * a * p);
	for (uint32_t one = 0; one < topology->switches; one++) {
		unsigned within = 0, out = 0;

		assert_int_equal(topology->switch_at[one].ports, a - 1 + h + p);
		assert_int_equal(walk_degree(topology, one, DEVICE_HOST), p);
		for (uint32_t other = 0; other < topology->switches; other++) {
			unsigned links = walk_links(topology, one, other);

			if (one / a == other / a)
				assert_int_equal(links, one != other);
			within += one / a == other / a ? links : 0;
			out += one / a == other / a ? 0 : links;
		}
		assert_int_equal(within, a - 1);
		assert_int_equal(out, h);
	}
}

static unsigned links_between_groups(
	const struct topology *topology, uint32_t a, uint32_t one, uint32_t other)
{
	unsigned links = 0;

	for (uint32_t i = 0; i < a; i++)
		for (uint32_t j = 0; j < a; j++)
			links += walk_links(topology, one * a + i, other * a + j);
	return links;
}

UNIT_TEST(a_dragonfly_links_every_pair_of_groups_once)
{
	static const uint32_t sizes[][3] = {{4, 2, 2}, {2, 1, 1}, {1, 3, 4}, {5, 0, 1}, {3, 2, 3}};
	char spec[64];

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t a = sizes[i][0], p = sizes[i][1], h = sizes[i][2], groups = a * h + 1;
		OWNED(topology) *topology;

		snprintf(spec, sizeof(spec), "dragonfly:a=%u,p=%u,h=%u", a, p, h);
		topology = walk_generate(spec);
		assert_dragonfly(topology, a, p, h);
		for (uint32_t one = 0; one < groups; one++)
			for (uint32_t other = 0; other < groups; other++)
				if (one != other)
					assert_int_equal(
						links_between_groups(topology, a, one, other), 1);
		assert_true(walk_diameter(topology) <= 3);
	}
}

/* g a (a - 1) / 2 local links, and parallel g (g - 1) / 2 global ones, divided among the switches.
 */
UNIT_TEST(a_smaller_dragonfly_has_as_many_links_for_every_pair_of_groups)
{
	static const uint32_t sizes[][5] = {{4, 2, 2, 5, 1}, {4, 2, 2, 5, 2}, {4, 1, 2, 3, 4},
		{3, 1, 3, 4, 2}, {4, 1, 2, 2, 1}};
	char spec[64];

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t a = sizes[i][0], h = sizes[i][2], g = sizes[i][3], n = sizes[i][4];
		OWNED(topology) *topology;

		snprintf(spec, sizeof(spec), "dragonfly:a=%u,p=%u,h=%u,g=%u,parallel=%u", a,
			sizes[i][1], h, g, n);
		topology = walk_generate(spec);
		assert_int_equal(topology->switches, a * g);
		assert_int_equal(topology->links,
			topology->hosts + g * a * (a - 1) / 2 + n * g * (g - 1) / 2);
		for (uint32_t one = 0; one < g; one++)
			for (uint32_t other = 0; other < g; other++)
				if (one != other)
					assert_int_equal(
						links_between_groups(topology, a, one, other), n);
		for (uint32_t at = 0; at < topology->switches; at++)
			assert_in_range(walk_degree(topology, at, DEVICE_SWITCH) - (a - 1),
				n * (g - 1) / a, n * (g - 1) / a + 1);
	}
}

UNIT_TEST(a_dragonfly_with_more_links_than_ports_is_refused)
{
	struct error error = {""};

	assert_null(topology_generate("dragonfly:a=4,p=2,h=2,g=6,parallel=2", &error));
	assert_string_equal(error.text,
		"dragonfly:a=4,p=2,h=2,g=6,parallel=2: 6 groups with 2 links per pair need 10 links per group; the maximum is 8");
	assert_null(topology_generate("dragonfly:a=4,p=2,h=2,parallel=2", &error));
}

/* Group 0's first link leads to the next group, and its last one to the previous group. */
UNIT_TEST(dragonfly_links_follow_the_palm_tree)
{
	OWNED(topology) *topology = walk_generate("dragonfly:a=4,p=2,h=2");

	for (uint32_t group = 0; group < 9; group++)
		for (uint32_t k = 0; k < 8; k++) {
			struct topology_port far =
				walk_far_end(topology, 4 * group + k / 2, 3 + k % 2);

			assert_int_equal(far.device / 4, (group + k + 1) % 9);
			assert_int_equal(far.device % 4 * 2 + far.port - 3, 7 - k);
		}
}

/* Each wiring links every pair of groups equally often. With circulant, ends have nearly equal
 * numbers. */
UNIT_TEST(every_wiring_links_the_pairs_of_groups)
{
	static const char *const specs[] = {"dragonfly:a=4,p=2,h=2,wiring=absolute",
		"dragonfly:a=4,p=2,h=2,wiring=circulant", "dragonfly:a=3,p=1,h=3,wiring=circulant",
		"dragonfly:a=4,p=1,h=2,g=4,parallel=2,wiring=absolute",
		"dragonfly:a=4,p=1,h=2,g=4,parallel=2,wiring=circulant"};

	for (unsigned i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		OWNED(topology) *topology = walk_generate(specs[i]);
		uint32_t a = i == 2 ? 3 : 4, groups = topology->switches / a;

		for (uint32_t one = 0; one < groups; one++)
			for (uint32_t other = 0; other < groups; other++)
				if (one != other)
					assert_int_equal(
						links_between_groups(topology, a, one, other),
						i < 3 ? 1 : 2);
	}
}

UNIT_TEST(absolute_links_follow_the_numbers_of_the_groups)
{
	OWNED(topology) *topology = walk_generate("dragonfly:a=4,p=2,h=2,wiring=absolute");

	for (uint32_t group = 0; group < 9; group++)
		for (uint32_t k = 0; k < 8; k++)
			assert_int_equal(
				walk_far_end(topology, 4 * group + k / 2, 3 + k % 2).device / 4,
				k < group ? k : k + 1);
}

UNIT_TEST(circulant_links_lead_to_both_sides)
{
	OWNED(topology) *topology = walk_generate("dragonfly:a=4,p=2,h=2,wiring=circulant");

	for (uint32_t group = 0; group < 9; group++)
		for (uint32_t at = 0; at < 4; at++) {
			struct topology_port on = walk_far_end(topology, 4 * group + at, 3);
			struct topology_port back = walk_far_end(topology, 4 * group + at, 4);

			assert_int_equal(on.device, (group + at + 1) % 9 * 4 + at);
			assert_int_equal(back.device, (group + 8 - at) % 9 * 4 + at);
		}
}

UNIT_TEST(cplant_has_six_groups_of_eight_and_one_of_two)
{
	OWNED(topology) *topology = walk_generate("cplant");

	assert_int_equal(topology->switches, 50);
	assert_int_equal(topology->hosts, 400);
	for (uint32_t s = 0; s < 50; s++) {
		unsigned inside = 0, equals = 0;

		assert_int_equal(topology->switch_at[s].ports, 16);
		assert_int_equal(walk_degree(topology, s, DEVICE_HOST), 8);
		for (uint32_t other = 0; other < 50; other++) {
			inside += s / 8 == other / 8 ? walk_links(topology, s, other) : 0;
			equals += s / 8 != other / 8 && s % 8 == other % 8
					  ? walk_links(topology, s, other)
					  : 0;
		}
		assert_int_equal(inside, s < 48 ? 4 : 1);
		assert_int_equal(walk_degree(topology, s, DEVICE_SWITCH), inside + equals);
		assert_int_equal(equals, s < 48 && walk_links(topology, s, 48 + s % 8) ? 4 : 3);
	}
}

/* This also applies between groups that differ in all three digits. */
UNIT_TEST(cplant_groups_are_a_cube_with_links_between_the_farthest)
{
	OWNED(topology) *topology = walk_generate("cplant:");

	for (uint32_t one = 0; one < 7; one++)
		for (uint32_t other = 0; other < 7; other++) {
			bool near = bits(one ^ other) == 1 || bits(one ^ other) == 3;

			assert_int_equal(walk_links(topology, 8 * one, 8 * other), near);
		}
	assert_int_equal(walk_diameter(topology), 4);
}
