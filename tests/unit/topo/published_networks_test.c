/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares topology kinds of data centres and supercomputers with the numbers in their papers. */

#include <math.h>

#include "topo/generators/galois_field.h"
#include "topo/topology_levels.h"
#include "topology_walk.h"

/* Mean distance of a network of diameter 2, from the numbers of links and switches. */
#define DIAMETER_2(switches, links) (2 - 2.0 * (links) / ((switches) * ((switches)-1.0)))

UNIT_TEST(every_kind_has_the_counts_of_its_paper)
{
	static const struct {
		const char *spec;
		uint32_t switches, hosts, links; /* links between switches */
		unsigned diameter;
		double mean; /* 0: the paper gives none */
	} networks[] = {
		/* Kim et al. 2008: N = ap(ah + 1), the figures' 72 and the evaluation's 1,056. */
		{"dragonfly:a=4,p=2,h=2", 36, 72, 9 * 6 + 36, 3, 0},
		{"dragonfly:a=8,p=4,h=4,wiring=absolute", 264, 1056, 33 * 28 + 33 * 16, 3, 0},
		/* Shpiner et al. 2017: k^4 / 16 + k^2 / 4 hosts with switches of k ports. Spines
		 * without a direct link are 5 links apart. */
		{"dragonfly-plus:l=4,s=4,p=4,h=4", 136, 4096 / 16 + 64 / 4, 17 * 16 + 17 * 8, 5, 0},
		/* Al-Fares et al. 2008: k^3 / 4 hosts, 5 k^2 / 4 switches. */
		{"clos:ports=8,stages=3", 80, 128, 2 * 128, 4, 0},
		{"clos:ports=16,stages=3", 320, 1024, 2 * 1024, 4, 0},
		{"clos:ports=64,stages=2,over=3:1", 80, 3072, 1024, 2, 0},
		/* Ahn et al. 2009: P L' links, and the mean distances of Hamming graphs. */
		{"hyperx:shape=8x8,hosts=8", 64, 512, 64 * 14 / 2, 2, 2 * 7.0 / 8 * 64 / 63},
		{"hyperx:shape=4x3x2,width=1x2x3", 24, 24, 24 * (3 + 4 + 3) / 2, 3,
			(3.0 / 4 + 2.0 / 3 + 1.0 / 2) * 24 / 23},
		/* Besta, Hoefler 2014: the Hoffman-Singleton graph, and the paper's network of 722
		 * routers of radix 44. */
		{"slimfly:q=5", 50, 200, 175, 2, DIAMETER_2(50, 175)},
		{"slimfly:q=19", 722, 10830, 10469, 2, DIAMETER_2(722, 10469)},
		/* Lakhotia et al. 2022: q (q + 1)^2 / 2 links; 993 routers of network radix 32. */
		{"polarfly:q=7", 57, 228, 7 * 64 / 2, 2, DIAMETER_2(57, 7 * 64 / 2)},
		{"polarfly:q=31", 993, 15888, 31 * 1024 / 2, 2, DIAMETER_2(993, 31 * 1024 / 2)},
		/* Singla et al. 2012: as many switches of 14 ports as the fat tree with 686
		 * hosts. */
		{"jellyfish:switches=245,degree=10,hosts=4,seed=1", 245, 980, 1225, 4, 0},
	};

	for (unsigned i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
		OWNED(topology) *topology = walk_generate(networks[i].spec);
		struct topology_shape shape;

		assert_int_equal(topology_shape(topology, &shape), 0);
		assert_int_equal(topology->switches, networks[i].switches);
		assert_int_equal(topology->hosts, networks[i].hosts);
		assert_int_equal(topology->links - topology->hosts, networks[i].links);
		assert_int_equal(shape.diameter, networks[i].diameter);
		if (networks[i].mean > 0 && fabs(shape.mean_distance - networks[i].mean) > 1e-9)
			fail_msg("%s: mean %f", networks[i].spec, shape.mean_distance);
	}
}

UNIT_TEST(slim_flies_and_polar_flies_of_every_power_of_a_prime_have_diameter_2)
{
	static const unsigned powers[] = {2, 3, 4, 5, 7, 8, 9, 11, 13, 16};
	static const char *const kinds[] = {"slimfly:q=%u", "polarfly:q=%u"};

	for (unsigned i = 0; i < sizeof(powers) / sizeof(powers[0]); i++)
		for (unsigned kind = powers[i] == 2; kind < 2; kind++) {
			char spec[32];
			OWNED(topology) *topology;
			struct topology_shape shape;

			snprintf(spec, sizeof(spec), kinds[kind], powers[i]);
			topology = walk_generate(spec);
			assert_int_equal(topology_shape(topology, &shape), 0);
			assert_int_equal(shape.diameter, 2);
		}
}

UNIT_TEST(the_powers_of_primes_have_fields_and_no_other_numbers)
{
	struct galois_field field;
	unsigned fields = 0;

	for (uint32_t q = 0; q <= GALOIS_FIELD_MAX + 1; q++)
		fields += galois_field_make(&field, q);
	assert_int_equal(fields, 54 + 16); /* primes up to 256, and their powers */
}

/* The lower bound on the distance of regular graphs (Cerf, Cowan, Mullin, Stanton 1974). Random
 * graphs exceed it only slightly. */
UNIT_TEST(jellyfish_distances_are_close_to_the_bound)
{
	OWNED(topology) *topology =
		walk_generate("jellyfish:switches=245,degree=10,hosts=4,seed=1");
	struct topology_shape shape;
	double bound = (10 * 1 + 90 * 2 + (244 - 100) * 3) / 244.0;

	assert_int_equal(topology_shape(topology, &shape), 0);
	assert_true(shape.mean_distance >= bound && shape.mean_distance < 1.1 * bound);
}

UNIT_TEST(a_clos_goes_up_above_its_down_ports)
{
	OWNED(topology) *topology = walk_generate("clos:ports=8,stages=3,over=3:1");

	for (uint32_t at = 0; at < topology->switches; at++) {
		unsigned stage = topology->switch_at[at].stage;

		for (unsigned port = 0; port < 8; port++) {
			struct topology_port far = walk_far_end(topology, at, port);
			bool up = stage < 3 && port >= 6;

			if (stage == 1 && !up)
				assert_int_equal(far.kind, DEVICE_HOST);
			else
				assert_int_equal(topology->switch_at[far.device].stage,
					up ? stage + 1 : stage - 1);
		}
	}
}

UNIT_TEST(unfit_options_are_refused_with_what_was_expected)
{
	static const char *const bad[][2] = {
		{"clos:ports=8,stages=2,over=2:1",
			"clos:ports=8,stages=2,over=2:1: over=2:1 requires ports to be a multiple of 3"},
		{"clos:ports=8,stages=2,over=3",
			"clos:ports=8,stages=2,over=3: over=3: expected a ratio such as 3:1, each number 1 to 255"},
		{"clos:ports=8,stages=4",
			"clos:ports=8,stages=4: stages=4: expected a whole number from 2 to 3"},
		{"hyperx:shape=4x4x4,width=1x2",
			"hyperx:shape=4x4x4,width=1x2: there are 2 widths for 3 dimensions; use one in total, or one per dimension"},
		{"hyperx:shape=256x256", "hyperx:shape=256x256: needs more than 65535 switches"},
		{"slimfly:q=6",
			"slimfly:q=6: q=6: expected a power of a prime, such as 3, 4, 5, 7, 8, 9"},
		{"polarfly:q=12",
			"polarfly:q=12: q=12: expected a power of a prime, such as 2, 3, 4, 5, 7, 8"},
		{"slimfly:q=181", "slimfly:q=181: needs 407 ports per switch; the maximum is 255"},
		{"dragonfly-plus:l=2,s=2,p=2,h=2,g=6",
			"dragonfly-plus:l=2,s=2,p=2,h=2,g=6: 6 groups with 1 link per pair need 5 links per group; the maximum is 4"},
		{"dragonfly:a=4,p=2,h=2,wiring=palm",
			"dragonfly:a=4,p=2,h=2,wiring=palm: wiring=palm: expected one of palmtree, absolute, circulant"},
		{"jellyfish:switches=5,degree=3,hosts=1",
			"jellyfish:switches=5,degree=3,hosts=1: switches or degree must be even, because each link has two ends"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};

		assert_null(topology_generate(bad[i][0], &error));
		assert_string_equal(error.text, bad[i][1]);
	}
}
