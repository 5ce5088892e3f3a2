/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Dragonfly+ (Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi, "Dragonfly+: Low Cost Topology for
 * Scaling Datacenters", HiPINEB 2017): groups of l leaf and s spine switches. Every leaf is linked
 * with every spine of its group; leaves have p hosts each, spines h links to other groups
 * (group_wiring.h). The paper takes l = s = p = h.
 *
 * Switch number = group * (l + s) + place, the leaves first. Ports of a leaf are 0 .. s-1 to the
 * spines, then hosts; ports of a spine are 0 .. l-1 to the leaves, l .. l+h-1 to other groups. */

#include "group_wiring.h"

enum { LEAVES, SPINES, HOSTS, LINKS, GROUPS };

static int link_group(const struct generator_request *request, struct topology *topology,
	uint32_t leaves, uint32_t spines, uint32_t group)
{
	uint32_t first = group * (leaves + spines), hosts = (uint32_t)request->values[HOSTS].number;
	int result = 0;

	for (uint32_t leaf = 0; leaf < leaves && result == 0; leaf++) {
		for (uint32_t spine = 0; spine < spines && result == 0; spine++)
			result = generator_link_switches(request, topology, first + leaf, spine,
				first + leaves + spine, leaf);
		for (uint32_t i = 0; i < hosts && result == 0; i++)
			result = generator_link_host(request, topology,
				(group * leaves + leaf) * hosts + i, first + leaf, spines + i);
	}
	return result;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	uint64_t l = request->values[LEAVES].number, s = request->values[SPINES].number;
	uint64_t p = request->values[HOSTS].number, h = request->values[LINKS].number;
	struct group_wiring wiring = {.switches = (uint32_t)(l + s),
		.first_switch = (uint32_t)l,
		.each = (uint32_t)h,
		.first_port = (unsigned)l};
	int result = group_wiring_init(&wiring, request, &request->values[GROUPS]);

	if (result == 0)
		result = generator_create(request, wiring.groups * (l + s), wiring.groups * l * p,
			s + p > l + h ? s + p : l + h, topology);
	for (uint32_t group = 0; group < wiring.groups && result == 0; group++)
		result = link_group(request, *topology, (uint32_t)l, (uint32_t)s, group);
	return result < 0 ? result : group_wiring_link(&wiring, request, *topology);
}

const struct generator generator_dragonfly_plus = {
	.name = "dragonfly-plus",
	.help = "g groups of leaf and spine switches, linked at their spines",
	.options = {{"l", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0, "leaves per group"},
		{"s", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0, "spines per group"},
		{"p", GENERATOR_NUMBER, true, 0, TOPOLOGY_PORTS_MAX, 0, "hosts per leaf"},
		{"h", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0,
			"links per spine to other groups"},
		GROUP_WIRING_OPTIONS},
	.build = build,
};
