/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Every switch linked to every other: ports 0 .. S-2 lead to the others in order (port j to switch
 * j, or j + 1 from the switch's own number on), hosts after. */

#include "topo/generator.h"

enum { SWITCHES, HOSTS };

static int link_pairs(const struct generator_request *request, struct topology *topology)
{
	int result = 0;

	for (uint32_t a = 0; a < topology->switches; a++)
		for (uint32_t b = a + 1; b < topology->switches && result == 0; b++)
			result = generator_link_switches(request, topology, a, b - 1, b, a);
	return result;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	uint64_t switches = request->values[SWITCHES].number;
	uint64_t hosts = request->values[HOSTS].number;
	int result = generator_create(
		request, switches, switches * hosts, switches - 1 + hosts, topology);

	if (result == 0)
		result = generator_link_hosts(
			request, *topology, (uint32_t)hosts, (unsigned)switches - 1);
	return result < 0 ? result : link_pairs(request, *topology);
}

const struct generator generator_full = {
	.name = "full",
	.help = "every switch linked with every other",
	.options = {{"switches", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX + 1, 0, "switches"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts per switch"}},
	.build = build,
};
