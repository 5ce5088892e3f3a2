/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "grid.h"

enum { DIMS, HOSTS };

#define DIMS_OPTION                                                        \
	{                                                                  \
		"dims", GENERATOR_DIMS, true, 1, TOPOLOGY_SWITCHES_MAX, 0, \
			"switches in each dimension, such as 8x8"          \
	}
#define HOSTS_OPTION                                                                         \
	{                                                                                    \
		"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts a switch" \
	}

static int build(const struct generator_request *request, bool around, bool express,
	struct topology **topology)
{
	const struct generator_value *dims = &request->values[DIMS];
	struct grid grid = {
		.dims = dims->dims,
		.dim_count = dims->dim_count,
		.hosts_per_switch = request->values[HOSTS].number,
		.around = around,
		.express = express,
	};

	return grid_build(request, &grid, topology);
}

static int build_mesh(const struct generator_request *request, struct topology **topology)
{
	return build(request, false, false, topology);
}

static int build_torus(const struct generator_request *request, struct topology **topology)
{
	return build(request, true, false, topology);
}

/* A torus in which every switch is also linked to its second-order neighbours in each dimension
 * (Dally, "Express Cubes", IEEE TC 1991; thesis, section 4.4). */
static int build_torus_express(const struct generator_request *request, struct topology **topology)
{
	return build(request, true, true, topology);
}

const struct generator generator_mesh = {
	.name = "mesh",
	.help = "grid that is open at its rim",
	.options = {DIMS_OPTION, HOSTS_OPTION},
	.build = build_mesh,
};

const struct generator generator_torus = {
	.name = "torus",
	.help = "grid that is closed in every dimension",
	.options = {DIMS_OPTION, HOSTS_OPTION},
	.build = build_torus,
};

const struct generator generator_torus_express = {
	.name = "torus-express",
	.help = "torus with links to the second-order neighbours too",
	.options = {DIMS_OPTION, HOSTS_OPTION},
	.build = build_torus_express,
};
