/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "grid.h"

enum { DIMS, HOSTS };

static int build(const struct generator_request *request, struct topology **topology)
{
	const struct generator_value *dims = &request->values[DIMS];
	struct grid grid = {
		.dims = dims->dims,
		.dim_count = dims->dim_count,
		.hosts_per_switch = request->values[HOSTS].number,
		.around = true,
	};

	return grid_build(request, &grid, topology);
}

const struct generator generator_torus = {
	.name = "torus",
	.help = "grid that is closed in every dimension",
	.options = {{"dims", GENERATOR_DIMS, true, 1, TOPOLOGY_SWITCHES_MAX, 0,
			    "switches in each dimension, such as 8x8"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts a switch"}},
	.build = build,
};
