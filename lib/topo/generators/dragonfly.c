/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Dragonfly (Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA
 * 2008): g groups of a switches, each with p hosts and h links to other groups (group_wiring.h).
 * The switches of a group are fully connected. The paper recommends a = 2p = 2h.
 *
 * Switch number = group * a + place. Ports 0 .. a-2 lead to the others of the group in order, as in
 * 'full'; a-1 .. a+h-2 to other groups; host ports follow. */

#include "group_wiring.h"

enum { SWITCHES_A_GROUP, HOSTS_A_SWITCH, LINKS_A_SWITCH, GROUPS };

static int link_group(const struct generator_request *request, struct topology *topology,
	uint32_t a, uint32_t first)
{
	int result = 0;

	for (uint32_t one = 0; one < a; one++)
		for (uint32_t other = one + 1; other < a && result == 0; other++)
			result = generator_link_switches(
				request, topology, first + one, other - 1, first + other, one);
	return result;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	uint64_t a = request->values[SWITCHES_A_GROUP].number;
	uint64_t p = request->values[HOSTS_A_SWITCH].number;
	uint64_t h = request->values[LINKS_A_SWITCH].number;
	struct group_wiring wiring = {
		.switches = (uint32_t)a, .each = (uint32_t)h, .first_port = (unsigned)a - 1};
	int result = group_wiring_init(&wiring, request, &request->values[GROUPS]);
	uint64_t switches = a * wiring.groups;

	if (result == 0)
		result = generator_create(request, switches, switches * p, a - 1 + h + p, topology);
	if (result == 0)
		result = generator_link_hosts(
			request, *topology, (uint32_t)p, (unsigned)(a - 1 + h));
	for (uint32_t group = 0; group < wiring.groups && result == 0; group++)
		result = link_group(request, *topology, (uint32_t)a, group * (uint32_t)a);
	return result < 0 ? result : group_wiring_link(&wiring, request, *topology);
}

const struct generator generator_dragonfly = {
	.name = "dragonfly",
	.help = "g groups of a switches, every pair of groups linked once or more",
	.options = {{"a", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0, "switches per group"},
		{"p", GENERATOR_NUMBER, true, 0, TOPOLOGY_PORTS_MAX, 0, "hosts per switch"},
		{"h", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0,
			"links per switch to other groups"},
		GROUP_WIRING_OPTIONS},
	.build = build,
};
