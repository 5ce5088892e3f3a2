/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Dragonfly (Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA
 * 2008): g groups of a switches, each with p hosts and h links to other groups. Every pair of
 * groups has 'parallel' links, usually one; then up to g = ah + 1 groups are possible, the default.
 * The switches of a group are fully connected. The paper recommends a = 2p = 2h.
 *
 * Switch number = group * a + place. Ports 0 .. a-2 lead to the others of the group in order, as in
 * 'full'; a-1 .. a+h-2 to other groups; host ports follow. The palm-tree arrangement (Camarero,
 * Vallejo, Beivide, "Topological Characterization of Hamming and Dragonfly Networks and Its
 * Implications on Routing", ACM TACO 2014) decides which switch has the link to which group: the
 * group's links are numbered k = 0, 1, .., and link k leads to the group k + 1 further on, modulo
 * g. From the far end it is link g - 2 - k. Every group sees the others in the same way, unlike in
 * the consecutive arrangement. Further links of a pair are numbered likewise, from g - 1 on. In a
 * group with fewer links than ports, link k has port number k * ah / links, so that all switches
 * have equally many, or one more. */

#include <inttypes.h>

#include "topo/generator.h"

enum { SWITCHES_A_GROUP, HOSTS_A_SWITCH, LINKS_A_SWITCH, GROUPS, PARALLEL };

struct dragonfly {
	uint32_t a, h, groups;
	uint32_t links; /* links from a group to other groups */
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

/* Where link k of the group begins, of its ah ports. */
static uint32_t place_of(const struct dragonfly *fly, uint32_t k)
{
	return (uint32_t)((uint64_t)k * fly->a * fly->h / fly->links);
}

static uint32_t switch_of(const struct dragonfly *fly, uint32_t group, uint32_t k)
{
	return group * fly->a + place_of(fly, k) / fly->h;
}

static unsigned port_of(const struct dragonfly *fly, uint32_t k)
{
	return fly->a - 1 + place_of(fly, k) % fly->h;
}

static int link_groups(const struct generator_request *request, struct topology *topology,
	const struct dragonfly *fly, uint32_t group)
{
	uint32_t others = fly->groups - 1;
	int result = 0;

	for (uint32_t k = 0; k < fly->links && result == 0; k++) {
		uint32_t other = group + k % others + 1;
		uint32_t back = k / others * others + others - 1 - k % others;

		if (other < fly->groups)
			result = generator_link_switches(request, topology,
				switch_of(fly, group, k), port_of(fly, k),
				switch_of(fly, other, back), port_of(fly, back));
	}
	return result;
}

/* Groups and links as requested, if a group has ports for them. */
static int count_links(const struct generator_request *request, struct dragonfly *fly)
{
	uint64_t ports = (uint64_t)fly->a * fly->h;
	uint64_t groups = request->values[GROUPS].number,
		 parallel = request->values[PARALLEL].number;

	if (parallel != 0 && groups == 0)
		return error_set(request->error, EINVAL,
			"%s: parallel requires g, the number of groups", request->spec);
	parallel = parallel == 0 ? 1 : parallel;
	groups = groups == 0 ? ports + 1 : groups;
	if ((groups - 1) * parallel > ports)
		return error_set(request->error, EINVAL,
			"%s: %" PRIu64 " groups with %" PRIu64 " links per pair need %" PRIu64
			" links per group, at most %" PRIu64 " (a h)",
			request->spec, groups, parallel, (groups - 1) * parallel, ports);
	fly->groups = (uint32_t)groups;
	fly->links = (uint32_t)((groups - 1) * parallel);
	return 0;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	uint64_t a = request->values[SWITCHES_A_GROUP].number;
	uint64_t p = request->values[HOSTS_A_SWITCH].number;
	uint64_t h = request->values[LINKS_A_SWITCH].number;
	struct dragonfly fly = {.a = (uint32_t)a, .h = (uint32_t)h};
	int result = count_links(request, &fly);
	uint64_t switches = a * fly.groups;

	if (result == 0)
		result = generator_create(request, switches, switches * p, a - 1 + h + p, topology);
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
	.help = "g groups of a switches, every pair of groups linked once or more",
	.options = {{"a", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0, "switches a group"},
		{"p", GENERATOR_NUMBER, true, 0, TOPOLOGY_PORTS_MAX, 0, "hosts per switch"},
		{"h", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0,
			"links per switch to other groups"},
		{"g", GENERATOR_NUMBER, false, 0, UINT16_MAX, 0, "groups; ah + 1 by default"},
		{"parallel", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 0,
			"links per pair of groups; 1 by default"}},
	.build = build,
};
