/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* VC classes in the switches. An overloaded torus with dimension-order routes never deadlocks with
 * classes, and does deadlock without them. */

#include "fabric_networks.h"

#define STEPS 20000

/* The buffers hold two long packets per VC, all hosts send all the time, and there is no
 * watchdog. */
static struct fabric_config overload(uint64_t seed, uint8_t vcs)
{
	struct fabric_config config = fabric_config_default(seed);

	config.vcs = vcs;
	config.buffer_blocks = 16u * vcs;
	config.driver = (enum fabric_driver)(seed % FABRIC_DRIVERS);
	config.voq = seed % 2 == 0;
	config.algorithm = &route_dor;
	return config;
}

static struct topology *generate(const char *spec)
{
	struct error error;
	struct topology *topology = topology_generate(spec, &error);

	if (topology == NULL)
		fail_msg("%s", error.text);
	return topology;
}

static const char *const specs[] = {
	"ring:switches=8,hosts=2", "torus:dims=5x5,hosts=2", "torus:dims=4x4,hosts=2"};

#define SPECS (sizeof(specs) / sizeof(specs[0]))

/* Every part of the run delivers packets, and at the end all packets have arrived. */
UNIT_TEST(with_the_classes_an_overloaded_torus_moves_and_drains)
{
	for (uint64_t seed = 0; seed < 6; seed++) {
		OWNED(topology) *topology = generate(specs[seed % SPECS]);
		struct fabric_config config = overload(seed, 2 + seed % 2);
		struct fabric *fabric = fabric_create(topology, &config);

		for (unsigned i = 0; i < 10; i++) {
			uint64_t before = fabric->delivered;

			fabric_run(fabric, STEPS / 10, 307);
			assert_true(fabric->delivered > before + STEPS / 10);
		}
		fabric_drain(fabric);
		fabric_check(fabric);
		fabric_check_drained(fabric);
		assert_int_equal(fabric->lost + fabric->discarded, 0);
		fabric_destroy(fabric);
	}
}

/* With the same networks, routes, buffers and load, the SL determines the VC. */
UNIT_TEST(without_the_classes_it_stands_still)
{
	for (uint64_t seed = 0; seed < SPECS; seed++) {
		OWNED(topology) *topology = generate(specs[seed % SPECS]);
		struct fabric_config config = overload(seed, 2);
		struct fabric *fabric;
		uint64_t before;

		config.no_classes = true;
		fabric = fabric_create(topology, &config);
		fabric_run(fabric, STEPS, 307);
		before = fabric->delivered;
		fabric_run(fabric, STEPS, 307);
		assert_true(before > 100);
		assert_int_equal(fabric->delivered, before);
		fabric_destroy(fabric);
	}
}
