/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "experiment/workload/run_source.h"

#include "unit.h"

/* Distance between two positions in a ring. */
static unsigned ring_steps(unsigned a, unsigned b, unsigned size)
{
	unsigned forth = (b + size - a) % size;

	return forth < size - forth ? forth : size - forth;
}

static void check(const struct topology *topology, uint32_t host, uint32_t links)
{
	uint16_t near[128];
	uint32_t count, at = 0;

	assert_int_equal(hosts_within(topology, host, links, near, &count), 0);
	for (unsigned other = 0; other < 128; other++) {
		unsigned a = host / 2, b = other / 2;
		unsigned steps = ring_steps(a % 8, b % 8, 8) + ring_steps(a / 8, b / 8, 8);

		if (steps <= links)
			assert_int_equal(near[at++], other);
	}
	assert_int_equal(at, count);
}

UNIT_TEST(hosts_within_the_distance_are_near_and_no_others)
{
	struct error error = {""};
	OWNED(topology) *topology = topology_generate("torus:dims=8x8,hosts=2", &error);

	assert_string_equal(error.text, "");
	for (uint32_t host = 0; host < 128; host += 7)
		for (uint32_t links = 0; links <= 9; links++)
			check(topology, host, links);
}

/* In a fat tree, two hosts of a leaf are 0 links apart, of a group 2, and others 4. */
UNIT_TEST(a_way_through_upper_stages_counts_each_link)
{
	static const uint32_t wanted[] = {2, 2, 4, 4, 16, 16};
	OWNED(topology) *topology = topology_generate("rlft:ports=4,stages=3", NULL);
	uint16_t near[16];
	uint32_t count;

	assert_non_null(topology);
	for (uint32_t links = 0; links < 6; links++) {
		assert_int_equal(hosts_within(topology, 3, links, near, &count), 0);
		assert_int_equal(count, wanted[links]);
	}
}
