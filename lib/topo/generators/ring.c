/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A torus of one dimension: port 0 to the next switch, port 1 to the previous one, hosts after. */

#include "grid.h"

enum { SWITCHES, HOSTS };

static int build(const struct generator_request *request, struct topology **topology)
{
	uint32_t switches = (uint32_t)request->values[SWITCHES].number;
	struct grid grid = {
		.dims = &switches,
		.dim_count = 1,
		.hosts_per_switch = request->values[HOSTS].number,
		.around = true,
	};

	return grid_build(request, &grid, topology);
}

const struct generator generator_ring = {
	.name = "ring",
	.help = "closed row of switches",
	.options = {{"switches", GENERATOR_NUMBER, true, 1, TOPOLOGY_SWITCHES_MAX, 0, "switches"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts a switch"}},
	.build = build,
};
