/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Dragonfly of maximum size (Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly
 * Topology", ISCA 2008): groups of a switches, each with p hosts and h links to other groups, and
 * g = ah + 1 groups, so that every pair of groups has one link. The switches of a group are fully
 * connected. The paper recommends a = 2p = 2h.
 *
 * Switch number = group * a + place. Ports 0 .. a-2 lead to the others of the group in order, as in
 * 'full'; a-1 .. a+h-2 to other groups; host ports follow. The palm-tree arrangement (Camarero,
 * Vallejo, Beivide, "Topological Characterization of Hamming and Dragonfly Networks and Its
 * Implications on Routing", ACM TACO 2014) decides which switch has the link to which group: the
 * group's links are numbered k = 0 .. ah-1, h per switch in order of place, and link k leads to the
 * group k + 1 further on, modulo g. From the far end it is link g - 2 - k. Every group sees the
 * others in the same way, unlike in the consecutive arrangement. */

#include "topo/generator.h"

enum { SWITCHES_A_GROUP, HOSTS_A_SWITCH, LINKS_A_SWITCH };

struct dragonfly {
	uint32_t a, h, groups;
};

static int link_group(const struct generator_request *request, struct topology *topology,
	const struct dragonfly *fly, uint32_t group)
{
	uint32_t first = group * fly->a;
	int result = 0;

	for (uint32_t one = 0; one < fly->a; one++)
		for (uint32_t other = one + 1; other < fly->a && result == 0; other++)
			result = generator_link_switches(
				request, topology, first + one, other - 1, first + other, one);
	return result;
}

static uint32_t switch_of(const struct dragonfly *fly, uint32_t group, uint32_t k)
{
	return group * fly->a + k / fly->h;
}

static unsigned port_of(const struct dragonfly *fly, uint32_t k)
{
	return fly->a - 1 + k % fly->h;
}

static int link_groups(const struct generator_request *request, struct topology *topology,
	const struct dragonfly *fly, uint32_t group)
{
	int result = 0;

	for (uint32_t k = 0; group + k + 1 < fly->groups && result == 0; k++) {
		uint32_t back = fly->groups - 2 - k;

		result = generator_link_switches(request, topology, switch_of(fly, group, k),
			port_of(fly, k), switch_of(fly, group + k + 1, back), port_of(fly, back));
	}
	return result;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	uint64_t a = request->values[SWITCHES_A_GROUP].number;
	uint64_t p = request->values[HOSTS_A_SWITCH].number;
	uint64_t h = request->values[LINKS_A_SWITCH].number;
	struct dragonfly fly = {(uint32_t)a, (uint32_t)h, (uint32_t)(a * h + 1)};
	uint64_t switches = a * fly.groups;
	int result = generator_create(request, switches, switches * p, a - 1 + h + p, topology);

	if (result == 0)
		result = generator_link_hosts(
			request, *topology, (uint32_t)p, (unsigned)(a - 1 + h));
	for (uint32_t group = 0; group < fly.groups && result == 0; group++) {
		result = link_group(request, *topology, &fly, group);
		if (result == 0)
			result = link_groups(request, *topology, &fly, group);
	}
	return result;
}

const struct generator generator_dragonfly = {
	.name = "dragonfly",
	.help = "ah + 1 groups of a switches, every pair of groups linked once",
	.options = {{"a", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0, "switches a group"},
		{"p", GENERATOR_NUMBER, true, 0, TOPOLOGY_PORTS_MAX, 0, "hosts a switch"},
		{"h", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0,
			"links a switch to other groups"}},
	.build = build,
};
