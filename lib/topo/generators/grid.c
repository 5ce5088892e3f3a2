/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Torus, torus-express, mesh and ring: switches at the points of a grid, switch number = x0 + x1 *
 * d0 + x2 * d0 * d1 + … In dimension i, port 2i leads to the next switch (+) and port 2i + 1 to the
 * previous one (-). The ports of express links follow those of all D dimensions: port 2D + 2i leads
 * two switches forward, port 2D + 2i + 1 two back. Host ports follow.
 *
 * No two links join the same pair of switches. A dimension of size 2 has one link, and one of size
 * 1 has none. An express link exists only if it leads to a switch that is not already a neighbour.
 * The ports of omitted links, like those at the edge of a mesh, stay free, so that a port number
 * means the same direction at every switch. */

#include <errno.h>

#include "topo/generator.h"

struct grid {
	const uint32_t *dims;
	unsigned dim_count;
	uint64_t hosts_per_switch;
	bool around;  /* the last switch of a row is linked to the first */
	bool express; /* every switch is also linked to its second-order neighbours */
};

/* Links to the switch 'step' positions further on, in a dimension of 'size' switches whose numbers
 * differ by 'stride'. They join port 'first_port' to the port after it. */
struct row_links {
	uint32_t size, stride, step;
	unsigned first_port;
	bool around;
};

/* In a ring of more than 2 * step switches, a step forward and a step back are different links. In
 * a ring of 2 * step they lead to the same switch, and in a smaller ring to closer neighbours. */
static int link_on(const struct generator_request *request, struct topology *topology, uint32_t at,
	const struct row_links *row)
{
	uint32_t place = at / row->stride % row->size, to;

	if (place + row->step < row->size)
		to = at + row->step * row->stride;
	else if (row->around && row->size > 2 * row->step)
		to = at + row->step * row->stride - row->size * row->stride;
	else
		return 0;
	return generator_link_switches(
		request, topology, at, row->first_port, to, row->first_port + 1);
}

static int link_row(const struct generator_request *request, struct topology *topology,
	const struct row_links *row)
{
	int result = 0;

	for (uint32_t at = 0; at < topology->switches && result == 0; at++)
		result = link_on(request, topology, at, row);
	return result;
}

static int link_grid(
	const struct generator_request *request, struct topology *topology, const struct grid *grid)
{
	unsigned express_port = 2 * grid->dim_count;
	uint32_t stride = 1;
	int result = 0;

	for (unsigned dim = 0; dim < grid->dim_count && result == 0; dim++) {
		struct row_links row = {grid->dims[dim], stride, 1, 2 * dim, grid->around};

		result = link_row(request, topology, &row);
		if (result == 0 && grid->express && row.size > 3) {
			row.step = 2;
			row.first_port += express_port;
			result = link_row(request, topology, &row);
		}
		stride *= grid->dims[dim];
	}
	return result;
}

static int grid_build(const struct generator_request *request, const struct grid *grid,
	struct topology **topology)
{
	unsigned first_host = 2 * grid->dim_count * (grid->express ? 2 : 1);
	uint64_t hosts = grid->hosts_per_switch, switches = 1;
	int result;

	for (unsigned dim = 0; dim < grid->dim_count; dim++) {
		switches *= grid->dims[dim];
		if (switches > TOPOLOGY_SWITCHES_MAX)
			return error_set(request->error, EINVAL, "%s: needs more than %u switches",
				request->spec, TOPOLOGY_SWITCHES_MAX);
	}
	result =
		generator_create(request, switches, switches * hosts, first_host + hosts, topology);
	if (result == 0)
		result = generator_link_hosts(request, *topology, (uint32_t)hosts, first_host);
	if (result == 0)
		result = link_grid(request, *topology, grid);
	return result;
}

enum { DIMS, HOSTS };

#define DIMS_OPTION                                                        \
	{                                                                  \
		"dims", GENERATOR_DIMS, true, 1, TOPOLOGY_SWITCHES_MAX, 0, \
			"switches in each dimension, such as 8x8"          \
	}
#define HOSTS_OPTION                                                                           \
	{                                                                                      \
		"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts per switch" \
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

/* A torus in which every switch also has links to its second-order neighbours in each dimension
 * (Dally, "Express Cubes", IEEE TC 1991; thesis, section 4.4). */
static int build_torus_express(const struct generator_request *request, struct topology **topology)
{
	return build(request, true, true, topology);
}

const struct generator generator_mesh = {
	.name = "mesh",
	.help = "grid with open edges",
	.options = {DIMS_OPTION, HOSTS_OPTION},
	.build = build_mesh,
};

const struct generator generator_torus = {
	.name = "torus",
	.help = "grid that wraps around in every dimension",
	.options = {DIMS_OPTION, HOSTS_OPTION},
	.build = build_torus,
};

const struct generator generator_torus_express = {
	.name = "torus-express",
	.help = "torus with additional links to second-order neighbours",
	.options = {DIMS_OPTION, HOSTS_OPTION},
	.build = build_torus_express,
};

/* A one-dimensional torus. */
static int build_ring(const struct generator_request *request, struct topology **topology)
{
	uint32_t switches = (uint32_t)request->values[DIMS].number;
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
	.help = "switches in a ring",
	.options = {{"switches", GENERATOR_NUMBER, true, 1, TOPOLOGY_SWITCHES_MAX, 0, "switches"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts per switch"}},
	.build = build_ring,
};

/* Hypercube: switches are linked if their numbers differ in one binary digit. Port d leads along
 * dimension d (to number XOR 2^d); host ports follow. */

#define DIMS_MAX 15 /* 32768 switches; one more dimension would exceed TOPOLOGY_SWITCHES_MAX */

static int link_dimensions(
	const struct generator_request *request, struct topology *topology, unsigned dims)
{
	int result = 0;

	for (uint32_t at = 0; at < topology->switches; at++)
		for (unsigned dim = 0; dim < dims && result == 0; dim++) {
			uint32_t to = at ^ (uint32_t)1 << dim;

			if (at < to)
				result = generator_link_switches(
					request, topology, at, dim, to, dim);
		}
	return result;
}

static int build_hypercube(const struct generator_request *request, struct topology **topology)
{
	unsigned dims = (unsigned)request->values[DIMS].number;
	uint64_t hosts = request->values[HOSTS].number, switches = (uint64_t)1 << dims;
	int result = generator_create(request, switches, switches * hosts, dims + hosts, topology);

	if (result == 0)
		result = generator_link_hosts(request, *topology, (uint32_t)hosts, dims);
	return result < 0 ? result : link_dimensions(request, *topology, dims);
}

const struct generator generator_hypercube = {
	.name = "hypercube",
	.help = "2^dims switches, each with a neighbour in every dimension",
	.options = {{"dims", GENERATOR_NUMBER, true, 0, DIMS_MAX, 0, "dimensions"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts per switch"}},
	.build = build_hypercube,
};
