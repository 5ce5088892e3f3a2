/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A star: switch 0 is in the middle, and its port i leads to leaf i + 1. Port 0 of a leaf leads to
 * the middle, and its hosts follow. */

#include "topo/generator.h"

enum { LEAVES, HOSTS };

static int link_leaves(
	const struct generator_request *request, struct topology *topology, uint32_t hosts)
{
	int result = 0;

	for (uint32_t leaf = 1; leaf < topology->switches && result == 0; leaf++) {
		uint32_t first = (leaf - 1) * hosts;

		result = generator_link_switches(request, topology, 0, leaf - 1, leaf, 0);
		for (uint32_t i = 0; i < hosts && result == 0; i++)
			result = generator_link_host(request, topology, first + i, leaf, 1 + i);
	}
	return result;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	uint64_t leaves = request->values[LEAVES].number, hosts = request->values[HOSTS].number;
	uint64_t ports = leaves > 1 + hosts ? leaves : 1 + hosts;
	int result = generator_create(request, 1 + leaves, leaves * hosts, ports, topology);

	return result < 0 ? result : link_leaves(request, *topology, (uint32_t)hosts);
}

const struct generator generator_star = {
	.name = "star",
	.help = "switches with hosts around one without",
	.options = {{"leaves", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0, "leaf switches"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts a leaf"}},
	.build = build,
};
