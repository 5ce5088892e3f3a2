/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Dragonfly (Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA
 * 2008): g groups of a switches, each with p hosts and h links to other groups. The switches of a
 * group are fully connected. The paper recommends a = 2p = 2h.
 *
 * Switch number = group * a + index. Ports 0 .. a-2 lead to the other switches of the group in
 * order, as in 'full', and ports a-1 .. a+h-2 to other groups; host ports follow. */

#include <inttypes.h>

#include "base/quantity.h"
#include "topo/generator.h"

/* The links between the groups of a Dragonfly or Dragonfly+. Every pair of groups has 'parallel'
 * links, usually one, which allows up to ports + 1 groups, the default.
 *
 * A group's links are numbered k = 0, 1, .., in rounds of one link to every other group. The wiring
 * determines to which group link k of a round leads (Hastings et al., "Comparing Global Link
 * Arrangements for Dragonfly Networks", CLUSTER 2015; the palm tree is from Camarero, Vallejo,
 * Beivide, ACM TACO 2014):
 *
 *     palmtree   k + 1 groups further on, modulo g; there its number is g - 2 - k
 *     absolute   group k, or k + 1 from the group's own number on
 *     circulant  even k: k / 2 + 1 groups further on, odd k: as many back. A pair of ports
 *                therefore leads to both sides, and both ends of a link have nearly equal numbers
 *
 * In a group with fewer links than ports, link k has port number k * ports / links, so the numbers
 * of links per switch differ by at most one. */

enum { PALMTREE, ABSOLUTE, CIRCULANT };

static const char *const group_wirings[] = {
	[PALMTREE] = "palmtree", [ABSOLUTE] = "absolute", [CIRCULANT] = "circulant", NULL};

/* The last options of a kind: the values of group_wiring_init(). */
#define GROUP_WIRING_OPTIONS                                                              \
	{"g", GENERATOR_NUMBER, false, 0, UINT16_MAX, 0,                                  \
		"groups; as many as possible by default"},                                \
		{"parallel", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 0,           \
			"links per pair of groups; 1 by default"},                        \
	{                                                                                 \
		"wiring", GENERATOR_WORD, false, 0, 0, 0,                                 \
			"palmtree (default), absolute or circulant links between groups", \
			group_wirings                                                     \
	}

struct group_wiring {
	/* Set by the kind: a group has 'switches' switches. Those from 'first_switch' on have
	 * 'each' global ports, starting at 'first_port'. */
	uint32_t switches, first_switch, each;
	unsigned first_port;
	/* Set by group_wiring_init(). */
	uint32_t groups;
	uint32_t ports; /* from one group to other groups */
	uint32_t links; /* number of these ports that are used */
	unsigned wiring;
};

/* Sets groups and links from three option values. Fails if a group has too few ports. */
static int group_wiring_init(struct group_wiring *wiring, const struct generator_request *request,
	const struct generator_value *values)
{
	uint64_t ports = (uint64_t)(wiring->switches - wiring->first_switch) * wiring->each;
	uint64_t groups = values[0].number, parallel = values[1].number;

	if (parallel != 0 && groups == 0)
		return error_set(request->error, EINVAL,
			"%s: parallel requires g, the number of groups", request->spec);
	parallel = parallel == 0 ? 1 : parallel;
	groups = groups == 0 ? ports + 1 : groups;
	if ((groups - 1) * parallel > ports)
		return error_set(request->error, EINVAL,
			"%s: %" PRIu64 " groups with %" PRIu64 " link%s per pair need %" PRIu64
			" links per group; the maximum is %" PRIu64,
			request->spec, groups, parallel, plural(parallel, "s"),
			(groups - 1) * parallel, ports);
	wiring->groups = (uint32_t)groups;
	wiring->ports = (uint32_t)ports;
	wiring->links = (uint32_t)((groups - 1) * parallel);
	wiring->wiring = (unsigned)values[2].number;
	return 0;
}

/* Returns the group to which link k of a round leads. */
static uint32_t far_group(const struct group_wiring *wiring, uint32_t group, uint32_t k)
{
	uint32_t step = wiring->wiring == CIRCULANT ? k / 2 + 1 : k + 1;

	if (wiring->wiring == ABSOLUTE)
		return k < group ? k : k + 1;
	if (wiring->wiring == CIRCULANT && k % 2 != 0)
		step = wiring->groups - step;
	return (group + step) % wiring->groups;
}

/* Returns the number of that link in the round of the group at its far end. */
static uint32_t far_number(
	const struct group_wiring *wiring, uint32_t group, uint32_t other, uint32_t k)
{
	uint32_t last = wiring->groups - 2;

	if (wiring->wiring == PALMTREE)
		return last - k;
	if (wiring->wiring == ABSOLUTE)
		return group < other ? group : group - 1;
	return k == last && k % 2 == 0 ? k
				       : k ^ 1; /* half the way around: same number at both ends */
}

static struct topology_port port_of(const struct group_wiring *wiring, uint32_t group, uint32_t k)
{
	uint32_t place = (uint32_t)((uint64_t)k * wiring->ports / wiring->links);

	return (struct topology_port){DEVICE_SWITCH,
		group * wiring->switches + wiring->first_switch + place / wiring->each,
		(uint8_t)(wiring->first_port + place % wiring->each)};
}

/* Adds all links between groups. */
static int group_wiring_link(const struct group_wiring *wiring,
	const struct generator_request *request, struct topology *topology)
{
	uint32_t round = wiring->groups - 1;
	int result = 0;

	for (uint32_t group = 0; group < wiring->groups; group++)
		for (uint32_t k = 0; k < wiring->links && result == 0; k++) {
			uint32_t other = far_group(wiring, group, k % round);
			uint32_t back = far_number(wiring, group, other, k % round);
			struct topology_port a = port_of(wiring, group, k);
			struct topology_port b = port_of(wiring, other, k - k % round + back);

			if (group < other)
				result = generator_link_switches(
					request, topology, a.device, a.port, b.device, b.port);
		}
	return result;
}

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
	.help = "g groups of a switches; every pair of groups is linked at least once",
	.options = {{"a", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0, "switches per group"},
		{"p", GENERATOR_NUMBER, true, 0, TOPOLOGY_PORTS_MAX, 0, "hosts per switch"},
		{"h", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX, 0,
			"links per switch to other groups"},
		GROUP_WIRING_OPTIONS},
	.build = build,
};

/* Dragonfly+ (Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi, "Dragonfly+: Low Cost Topology for
 * Scaling Datacenters", HiPINEB 2017): groups of l leaf and s spine switches. Every leaf is linked
 * to every spine of its group. A leaf has p hosts, a spine h links to other groups. The paper uses
 * l = s = p = h.
 *
 * Switch number = group * (l + s) + index, leaves first. Ports of a leaf: 0 .. s-1 to the spines,
 * then hosts. Ports of a spine: 0 .. l-1 to the leaves, l .. l+h-1 to other groups. */

enum { LEAVES, SPINES, HOSTS, LINKS, GROUPS_PLUS };

static int link_group_plus(const struct generator_request *request, struct topology *topology,
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

static int build_plus(const struct generator_request *request, struct topology **topology)
{
	uint64_t l = request->values[LEAVES].number, s = request->values[SPINES].number;
	uint64_t p = request->values[HOSTS].number, h = request->values[LINKS].number;
	struct group_wiring wiring = {.switches = (uint32_t)(l + s),
		.first_switch = (uint32_t)l,
		.each = (uint32_t)h,
		.first_port = (unsigned)l};
	int result = group_wiring_init(&wiring, request, &request->values[GROUPS_PLUS]);

	if (result == 0)
		result = generator_create(request, wiring.groups * (l + s), wiring.groups * l * p,
			s + p > l + h ? s + p : l + h, topology);
	for (uint32_t group = 0; group < wiring.groups && result == 0; group++)
		result = link_group_plus(request, *topology, (uint32_t)l, (uint32_t)s, group);
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
	.build = build_plus,
};
