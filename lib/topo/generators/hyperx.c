/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* HyperX (Ahn, Binkert, Davis, McLaren, Schreiber, "HyperX: Topology, Routing, and Packaging of
 * Efficient Large-Scale Networks", SC 2009): switches at the points of a grid, each linked in every
 * dimension to all other switches of its row, 'width' times. Hypercubes, Hamming graphs and
 * flattened butterflies are special cases.
 *
 * Switch number = x0 + x1 * s0 + .., as in 'torus'. Ports are ordered by dimension, then by the
 * other switches of the row, with 'width' ports for each; host ports follow. */

#include "topo/generator.h"

enum { SHAPE, WIDTH, HOSTS };

struct row {
	uint32_t size, stride, width;
	unsigned first_port;
};

static int link_row(const struct generator_request *request, struct topology *topology,
	const struct row *row, uint32_t at)
{
	uint32_t place = at / row->stride % row->size;
	int result = 0;

	for (uint32_t other = place + 1; other < row->size; other++)
		for (uint32_t i = 0; i < row->width && result == 0; i++)
			result = generator_link_switches(request, topology, at,
				row->first_port + (other - 1) * row->width + i,
				at + (other - place) * row->stride,
				row->first_port + place * row->width + i);
	return result;
}

/* Returns the number of links per pair of switches in a dimension. */
static uint32_t width_of(const struct generator_value *width, unsigned dim)
{
	return width->dim_count == 0 ? 1 : width->dims[width->dim_count == 1 ? 0 : dim];
}

static int measure(const struct generator_request *request, uint64_t *switches, uint64_t *ports)
{
	const struct generator_value *shape = &request->values[SHAPE];
	const struct generator_value *width = &request->values[WIDTH];

	if (width->dim_count > 1 && width->dim_count != shape->dim_count)
		return error_set(request->error, EINVAL,
			"%s: there are %u widths for %u dimensions; use one in total, or one per "
			"dimension",
			request->spec, width->dim_count, shape->dim_count);
	for (unsigned dim = 0; dim < shape->dim_count; dim++) {
		*switches *= shape->dims[dim];
		*ports += (uint64_t)(shape->dims[dim] - 1) * width_of(width, dim);
		if (*switches > TOPOLOGY_SWITCHES_MAX)
			return error_set(request->error, EINVAL, "%s: needs more than %u switches",
				request->spec, TOPOLOGY_SWITCHES_MAX);
	}
	return 0;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	const struct generator_value *shape = &request->values[SHAPE];
	uint64_t hosts = request->values[HOSTS].number, switches = 1, ports = 0;
	int result = measure(request, &switches, &ports);
	struct row row = {.stride = 1};

	if (result == 0)
		result = generator_create(
			request, switches, switches * hosts, ports + hosts, topology);
	if (result == 0)
		result = generator_link_hosts(request, *topology, (uint32_t)hosts, (unsigned)ports);
	for (unsigned dim = 0; dim < shape->dim_count && result == 0; dim++) {
		row.size = shape->dims[dim];
		row.width = width_of(&request->values[WIDTH], dim);
		for (uint32_t at = 0; at < switches && result == 0; at++)
			result = link_row(request, *topology, &row, at);
		row.first_port += (row.size - 1) * row.width;
		row.stride *= row.size;
	}
	return result;
}

const struct generator generator_hyperx = {
	.name = "hyperx",
	.help = "grid in which all switches of a row are linked to each other",
	.options = {{"shape", GENERATOR_DIMS, true, 1, TOPOLOGY_PORTS_MAX + 1, 0,
			    "switches in each dimension, such as 4x4"},
		{"width", GENERATOR_DIMS, false, 1, TOPOLOGY_PORTS_MAX, 0,
			"links per pair, one number or one per dimension; 1 by default"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts per switch"}},
	.build = build,
};

/* 'full': a single row. Ports 0 .. S-2 lead to the other switches in order; host ports follow. */
static int build_full(const struct generator_request *request, struct topology **topology)
{
	struct generator_request row = *request;

	row.values[SHAPE] = (struct generator_value){
		.dims = {(uint32_t)request->values[0].number}, .dim_count = 1};
	row.values[WIDTH] = (struct generator_value){0};
	row.values[HOSTS] = request->values[1];
	return build(&row, topology);
}

const struct generator generator_full = {
	.name = "full",
	.help = "every switch linked to every other switch",
	.options = {{"switches", GENERATOR_NUMBER, true, 1, TOPOLOGY_PORTS_MAX + 1, 0, "switches"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts per switch"}},
	.build = build_full,
};
