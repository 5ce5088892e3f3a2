/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Connected random networks for property tests of routing: switches without hosts, parallel links,
 * switches of degree 1, bushes and long chains, few and many cycles. */

#include "networks.h"

#define RANDOM_NETWORK_MIN 4 /* switches */
#define RANDOM_NETWORK_MAX 64

/* Ports that links between switches leave to hosts. */
#define RANDOM_NETWORK_HOST_PORTS 8

static inline void random_network_tree(struct network *network, uint32_t switches, struct rng *rng)
{
	/* Joined to one of the last few, switches form a chain; to any, a bush. */
	uint32_t reach = rng_below(rng, 2) == 0 ? 8 : switches;

	for (uint32_t i = 1; i < switches; i++) {
		uint32_t nearest = i < reach ? i : reach;
		uint32_t to = i - 1 - (uint32_t)rng_below(rng, nearest);

		while (network->used[to] >= NETWORK_PORTS - RANDOM_NETWORK_HOST_PORTS)
			to = (to + 1) % i;
		network_link(network, i, to);
	}
}

/* Links beyond the tree; one in four is parallel to an existing one. */
static inline void random_network_cycles(
	struct network *network, uint32_t switches, struct rng *rng)
{
	uint32_t extra = (uint32_t)rng_below(rng, 2 * switches);

	for (uint32_t i = 0; i < extra; i++) {
		const struct topology *topology = network->topology;
		const struct topology_link *beside =
			&topology->link_at[rng_below(rng, topology->links)];
		uint32_t a = (uint32_t)rng_below(rng, switches);
		uint32_t b = (uint32_t)rng_below(rng, switches - 1);

		b = b < a ? b : b + 1;
		if (rng_below(rng, 4) == 0) {
			a = beside->a.device;
			b = beside->b.device;
		}
		if (network->used[a] < NETWORK_PORTS - RANDOM_NETWORK_HOST_PORTS &&
			network->used[b] < NETWORK_PORTS - RANDOM_NETWORK_HOST_PORTS)
			network_link(network, a, b);
	}
}

/* The first hosts go to each switch in turn if 'everywhere'. */
static inline void random_network_hosts(
	struct network *network, uint32_t switches, bool everywhere, struct rng *rng)
{
	for (uint32_t i = 0; i < network->topology->hosts; i++) {
		uint32_t at = everywhere && i < switches ? i : (uint32_t)rng_below(rng, switches);

		while (network->used[at] == NETWORK_PORTS)
			at = (at + 1) % switches;
		network_host(network, i, at);
	}
}

/* Returns whether all switches of this network have hosts: one network in three. */
static inline bool random_network_hosts_everywhere(uint64_t seed)
{
	return seed % 3 == 0;
}

/* RANDOM_NETWORK_MIN to 'max' switches; three networks in four have at most a third of these.
 * The caller destroys it. */
static inline struct topology *random_network(uint64_t seed, uint32_t max)
{
	bool everywhere = random_network_hosts_everywhere(seed);
	struct network network;
	uint32_t switches, hosts;
	struct rng rng;

	rng_init(&rng, seed, 2, 99);
	if (seed % 4 != 0 && max / 3 > RANDOM_NETWORK_MIN)
		max /= 3;
	switches = RANDOM_NETWORK_MIN + (uint32_t)rng_below(&rng, max + 1 - RANDOM_NETWORK_MIN);
	hosts = (everywhere ? switches : 2) + (uint32_t)rng_below(&rng, switches);
	network_begin(&network, switches, hosts);
	random_network_tree(&network, switches, &rng);
	random_network_cycles(&network, switches, &rng);
	random_network_hosts(&network, switches, everywhere, &rng);
	return network_end(&network);
}
