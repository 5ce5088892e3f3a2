/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Random networks and configurations for the tests of tests/fabric. Include after unit.h. */

#include "fabric_harness.h"
#include "networks.h"

/* Rings, two-level trees, tori, fat trees of three levels, and other connected networks. */
static inline struct topology *fabric_random_topology(struct rng *rng)
{
	struct network network;
	uint32_t a, b, each;

	switch (rng_below(rng, 5)) {
	case 0: /* a ring with 'each' hosts at a switch */
		a = 3 + (uint32_t)rng_below(rng, 6);
		each = 1 + (uint32_t)rng_below(rng, 3);
		network_begin(&network, a, a * each);
		for (uint32_t i = 0; i < a; i++)
			network_link(&network, i, (i + 1) % a);
		for (uint32_t i = 0; i < a * each; i++)
			network_host(&network, i, i / each);
		return network_end(&network);
	case 1: /* 'a' leaves under 'b' roots */
		a = 2 + (uint32_t)rng_below(rng, 4);
		b = 1 + (uint32_t)rng_below(rng, 3);
		each = 1 + (uint32_t)rng_below(rng, 4);
		network_begin(&network, a + b, a * each);
		for (uint32_t leaf = 0; leaf < a; leaf++)
			for (uint32_t root = 0; root < b; root++)
				network_link(&network, leaf, a + root);
		for (uint32_t i = 0; i < a * each; i++)
			network_host(&network, i, i / each);
		return network_end(&network);
	case 2:
		return network_torus(3, 1 + (uint32_t)rng_below(rng, 2));
	case 3:
		return network_fat_tree(2, 3);
	default:
		return network_random(rng_next(rng), true);
	}
}

/* One switch with 'hosts' hosts. */
static inline struct topology *fabric_star(uint32_t hosts)
{
	struct topology *topology = topology_create("star", 1, hosts);
	struct error error;

	assert_non_null(topology);
	for (uint32_t i = 0; i < hosts; i++)
		topology_add_link(topology, network_port(DEVICE_HOST, i, 0),
			network_port(DEVICE_SWITCH, 0, (uint8_t)i), 0, 0, 0);
	assert_int_equal(0, topology_finish(topology, "star", &error));
	return topology;
}

/* A lossless network of moderate size, saturated. */
static inline struct fabric_config fabric_config_default(uint64_t seed)
{
	return (struct fabric_config){
		.seed = seed,
		.vcs = 2,
		.voq = true,
		.driver = FABRIC_STORED,
		.buffer_blocks = 2 * 64,
		.link_blocks = 32,
		.consume_blocks = 32,
		.packet_blocks = 8,
		.delay_steps = 3,
		.load_ppm = 1000000,
		.source_route_ppm = 500000,
		.hello_ps = 10 * PS_PER_MS,
		.refresh_ps = 100 * PS_PER_US,
		.watchdog_ps = WEFT_TIME_NEVER,
	};
}

/* Random, down to buffers for one packet; hot spots; slow hosts. */
static inline struct fabric_config fabric_random_config(
	struct rng *rng, uint64_t seed, uint32_t hosts)
{
	static const uint8_t vcs[] = {1, 1, 2, 2, 3, 4, 8, 16};
	struct fabric_config config = fabric_config_default(seed);
	uint32_t vc_blocks;

	config.vcs = vcs[rng_below(rng, sizeof(vcs))];
	config.voq = rng_below(rng, 3) != 0;
	config.driver = (enum fabric_driver)rng_below(rng, FABRIC_DRIVERS);
	config.packet_blocks = (uint16_t)(1 + rng_below(rng, 24));
	vc_blocks = config.packet_blocks * (1 + (uint32_t)rng_below(rng, 4)) +
		    (uint32_t)rng_below(rng, 8);
	config.buffer_blocks = vc_blocks * config.vcs;
	config.link_blocks = 8u << rng_below(rng, 4);
	config.consume_blocks = config.link_blocks / (1u << rng_below(rng, 3));
	config.delay_steps = (uint16_t)(1 + rng_below(rng, 4));
	config.load_ppm =
		rng_below(rng, 2) == 0 ? 1000000 : 50000 + (uint32_t)rng_below(rng, 900000);
	config.hot_ppm = rng_below(rng, 3) == 0 ? (uint32_t)rng_below(rng, 700000) : 0;
	config.hot_host = (uint16_t)rng_below(rng, hosts);
	config.source_route_ppm = (uint32_t)rng_below(rng, 1000001);
	config.refresh_ps = (20 + rng_below(rng, 200)) * PS_PER_US;
	return config;
}
