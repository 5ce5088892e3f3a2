/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_walk.h"

#include <math.h>

#include "topo/topology.h"
#include "topo/topology_levels.h"

static struct topology_shape shape_of(const char *spec)
{
	OWNED(topology) *topology = walk_generate(spec);
	struct topology_shape shape;

	assert_int_equal(topology_shape(topology, &shape), 0);
	return shape;
}

/* The mean distances of the thesis' regular networks are known: 256/63 on the torus. */
UNIT_TEST(distances_are_those_of_the_books)
{
	static const struct {
		const char *spec;
		unsigned degree_min, degree_max, diameter;
		double mean;
	} books[] = {
		{"torus:dims=8x8,hosts=8", 4, 4, 8, 256.0 / 63},
		{"torus-express:dims=8x8", 8, 8, 4, 160.0 / 63},
		{"hypercube:dims=6", 6, 6, 6, 192.0 / 63},
		{"full:switches=9", 8, 8, 1, 1},
		{"cplant", 4, 8, 4, 6098.0 / 2450},
		{"ring:switches=2", 1, 1, 1, 1},
		{"rlft:ports=4,stages=2", 2, 4, 2, (8 * 1 * 2 + 14 * 2.0) / 30},
	};

	for (unsigned i = 0; i < sizeof(books) / sizeof(books[0]); i++) {
		struct topology_shape shape = shape_of(books[i].spec);

		assert_int_equal(shape.degree_min, books[i].degree_min);
		assert_int_equal(shape.degree_max, books[i].degree_max);
		assert_true(shape.distances_known);
		assert_int_equal(shape.diameter, books[i].diameter);
		assert_true(fabs(shape.mean_distance - books[i].mean) < 1e-9);
	}
}

UNIT_TEST(hosts_are_counted_by_switch)
{
	struct topology_shape shape = shape_of("rlft:ports=4,stages=2");

	assert_int_equal(shape.hosts_min, 0);
	assert_int_equal(shape.hosts_max, 2);
}

UNIT_TEST(no_distances_where_there_are_none)
{
	OWNED(topology) *ring = walk_generate("ring:switches=4");
	OWNED(topology) *left = topology_without(ring, (const char *const[]){"s1"}, 1, NULL);
	struct topology_shape shape;

	assert_int_equal(topology_shape(left, &shape), 0);
	assert_false(shape.distances_known);
	assert_int_equal(shape.degree_min, 0);
	assert_int_equal(shape.degree_max, 2);
	assert_false(shape_of("ring:switches=1").distances_known);
}
