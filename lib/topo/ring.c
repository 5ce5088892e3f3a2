/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A torus of one dimension: port 0 to the next switch, port 1 to the one before, hosts after. */

#include "grid.h"

enum { SWITCHES, HOSTS };

static int build(const struct generator_request *request, struct topology **topology)
{
	uint32_t switches = (uint32_t)request->values[SWITCHES].number;

	return grid_build(request, &switches, 1, request->values[HOSTS].number, true, topology);
}

const struct generator generator_ring = {
	.name = "ring",
	.help = "closed row of switches",
	.options = {{"switches", GENERATOR_NUMBER, true, 1, TOPOLOGY_SWITCHES_MAX, 0, "switches"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts a switch"}},
	.build = build,
};
