/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A torus in which every switch is linked with its second-order neighbours in each dimension as
 * well (Dally, "Express Cubes", IEEE TC 1991; thesis, section 4.4). */

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
		.express = true,
	};

	return grid_build(request, &grid, topology);
}

const struct generator generator_torus_express = {
	.name = "torus-express",
	.help = "torus with links to the second-order neighbours too",
	.options = {{"dims", GENERATOR_DIMS, true, 1, TOPOLOGY_SWITCHES_MAX, 0,
			    "switches in each dimension, such as 8x8"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts a switch"}},
	.build = build,
};
