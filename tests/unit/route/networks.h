/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Small networks for tests of routing, built link by link. */

#include "base/rng.h"
#include "topo/topology.h"
#include "unit.h"

#define NETWORK_PORTS 32

/* A topology under construction: the next free port of each switch. */
struct network {
	struct topology *topology;
	uint8_t used[1024];
};

static inline struct topology_port network_port(
	enum device_kind kind, uint32_t device, uint8_t port)
{
	return (struct topology_port){.kind = kind, .device = device, .port = port};
}

static inline void network_begin(struct network *network, uint32_t switches, uint32_t hosts)
{
	memset(network, 0, sizeof(*network));
	network->topology = topology_create("net", switches, hosts);
	assert_non_null(network->topology);
	for (uint32_t i = 0; i < switches; i++) {
		snprintf(network->topology->switch_at[i].name, TOPOLOGY_NAME_MAX, "s%u", i);
		network->topology->switch_at[i].ports = NETWORK_PORTS;
	}
	for (uint32_t i = 0; i < hosts; i++)
		snprintf(network->topology->host_at[i].name, TOPOLOGY_NAME_MAX, "h%u", i);
}

static inline void network_link(struct network *network, uint32_t a, uint32_t b)
{
	assert_int_equal(0, topology_add_link(network->topology,
				    network_port(DEVICE_SWITCH, a, network->used[a]++),
				    network_port(DEVICE_SWITCH, b, network->used[b]++), 0, 0, 0));
}

static inline void network_host(struct network *network, uint32_t host, uint32_t at)
{
	assert_int_equal(0, topology_add_link(network->topology, network_port(DEVICE_HOST, host, 0),
				    network_port(DEVICE_SWITCH, at, network->used[at]++), 0, 0, 0));
}

/* The caller destroys it. */
static inline struct topology *network_end(struct network *network)
{
	struct error error;

	if (topology_finish(network->topology, "test", &error) != 0)
		fail_msg("%s", error.text);
	return network->topology;
}

/* A ring of switches, one host each: port 0 to the next switch, port 1 to the previous. */
static inline struct topology *network_ring(uint32_t switches)
{
	struct topology *topology = topology_create("ring", switches, switches);
	struct error error;

	assert_non_null(topology);
	for (uint32_t i = 0; i < switches; i++) {
		snprintf(topology->switch_at[i].name, TOPOLOGY_NAME_MAX, "s%u", i);
		snprintf(topology->host_at[i].name, TOPOLOGY_NAME_MAX, "h%u", i);
		topology->switch_at[i].ports = 3;
		topology_add_link(topology, network_port(DEVICE_SWITCH, i, 0),
			network_port(DEVICE_SWITCH, (i + 1) % switches, 1), 0, 0, 0);
		topology_add_link(topology, network_port(DEVICE_HOST, i, 0),
			network_port(DEVICE_SWITCH, i, 2), 0, 0, 0);
	}
	assert_int_equal(0, topology_finish(topology, "test", &error));
	return topology;
}

/* Random: 1 to 9 switches, some without hosts, parallel links, switches of degree 1, and, unless
 * 'connected', unconnected components. */
static inline struct topology *network_random(uint64_t seed, bool connected)
{
	uint32_t switches, hosts, extra;
	struct network network;
	struct rng rng;

	rng_init(&rng, seed, 0, 99);
	switches = 1 + (uint32_t)rng_below(&rng, 9);
	hosts = 2 + (uint32_t)rng_below(&rng, 9);
	extra = (uint32_t)rng_below(&rng, switches + 2);
	network_begin(&network, switches, hosts);
	for (uint32_t i = 1; i < switches; i++)
		if (connected || rng_below(&rng, 4) != 0)
			network_link(&network, i, (uint32_t)rng_below(&rng, i));
	for (uint32_t i = 0; i < extra && switches > 1; i++) {
		uint32_t a = (uint32_t)rng_below(&rng, switches);
		uint32_t b = (uint32_t)rng_below(&rng, switches - 1);

		network_link(&network, a, b < a ? b : b + 1);
	}
	for (uint32_t i = 0; i < hosts; i++)
		network_host(&network, i, (uint32_t)rng_below(&rng, switches));
	return network_end(&network);
}

/* k x k torus, numbered row by row, 'each' hosts per switch. */
static inline struct topology *network_torus(uint32_t k, uint32_t each)
{
	struct network network;

	network_begin(&network, k * k, k * k * each);
	for (uint32_t y = 0; y < k; y++)
		for (uint32_t x = 0; x < k; x++) {
			network_link(&network, y * k + x, y * k + (x + 1) % k);
			network_link(&network, y * k + x, (y + 1) % k * k + x);
		}
	for (uint32_t i = 0; i < k * k * each; i++)
		network_host(&network, i, i / each);
	return network_end(&network);
}

/* A real-life fat tree of n stages of switches with 2k ports: hosts and leaves numbered from the
 * left, ports 0 .. k - 1 down and k .. 2k - 1 up, as 'rlft' of the generators. */
static inline struct topology *network_fat_tree(uint32_t k, uint32_t n)
{
	uint32_t hosts = 2, wide, switches;
	struct topology *topology;
	struct error error;

	for (uint32_t i = 0; i < n; i++)
		hosts *= k;
	wide = hosts / k; /* switches per stage; the top stage has half as many */
	switches = wide * (n - 1) + wide / 2;
	topology = topology_create("tree", switches, hosts);
	assert_non_null(topology);
	for (uint32_t i = 0; i < switches; i++) {
		snprintf(topology->switch_at[i].name, TOPOLOGY_NAME_MAX, "s%u", i);
		topology->switch_at[i].ports = (uint8_t)(2 * k);
		topology->switch_at[i].stage =
			(uint8_t)(1 + (i < wide * (n - 1) ? i / wide : n - 1));
	}
	for (uint32_t i = 0; i < hosts; i++) {
		snprintf(topology->host_at[i].name, TOPOLOGY_NAME_MAX, "h%u", i);
		topology_add_link(topology, network_port(DEVICE_HOST, i, 0),
			network_port(DEVICE_SWITCH, i / k, (uint8_t)(i % k)), 0, 0, 0);
	}
	/* Switch i of stage l as a number in base k: going up through port u replaces digit l. At
	 * the top, two such numbers that differ only in the highest digit share a switch. */
	for (uint32_t stage = 0, unit = 1; stage + 1 < n; stage++, unit *= k)
		for (uint32_t i = 0; i < wide; i++)
			for (uint32_t u = 0; u < k; u++) {
				uint32_t digit = i / unit % k, above, port = digit;

				above = i - digit * unit + u * unit;
				if (stage + 2 == n) {
					uint32_t half = wide / 2;

					port += above / half * k;
					above %= half;
				}
				topology_add_link(topology,
					network_port(
						DEVICE_SWITCH, stage * wide + i, (uint8_t)(k + u)),
					network_port(DEVICE_SWITCH, (stage + 1) * wide + above,
						(uint8_t)port),
					0, 0, 0);
			}
	assert_int_equal(0, topology_finish(topology, "test", &error));
	return topology;
}

/* The number of the first link between these switches. */
static inline uint32_t network_cable_between(
	const struct topology *topology, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < topology->links; i++) {
		struct topology_port from = topology->link_at[i].a, to = topology->link_at[i].b;

		if (from.kind == DEVICE_SWITCH && to.kind == DEVICE_SWITCH &&
			((from.device == a && to.device == b) ||
				(from.device == b && to.device == a)))
			return i;
	}
	fail_msg("no cable between %u and %u", a, b);
	return 0;
}
