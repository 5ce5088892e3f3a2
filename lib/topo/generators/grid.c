/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "grid.h"

#include <errno.h>

/* Links over a distance of 'step' switches in one dimension of 'size' switches whose numbers differ
 * by 'stride', from port 'first_port' to the next one. */
struct row_links {
	uint32_t size, stride, step;
	unsigned first_port;
	bool around;
};

/* In a ring of this size a step forward and a step back are two different links from 2 * step + 1
 * switches on; at 2 * step they lead to the same switch, below that to closer neighbours. */
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

int grid_build(const struct generator_request *request, const struct grid *grid,
	struct topology **topology)
{
	unsigned first_host = 2 * grid->dim_count * (grid->express ? 2 : 1);
	uint64_t hosts = grid->hosts_per_switch, switches = 1;
	int result;

	for (unsigned dim = 0; dim < grid->dim_count; dim++) {
		switches *= grid->dims[dim];
		if (switches > TOPOLOGY_SWITCHES_MAX)
			return fault_set(request->fault, EINVAL, "%s: needs more than %u switches",
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
