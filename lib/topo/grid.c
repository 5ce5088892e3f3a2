/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "grid.h"

#include <errno.h>

/* The + link of switch 'at' in a dimension of 'size' whose neighbours are 'stride' apart. */
static int link_next(const struct generator_request *request, struct topology *topology,
	uint32_t at, unsigned dim, uint32_t size, uint32_t stride, bool around)
{
	uint32_t place = at / stride % size;

	if (place + 1 < size)
		return generator_link_switches(
			request, topology, at, 2 * dim, at + stride, 2 * dim + 1);
	if (!around || size <= 2)
		return 0;
	return generator_link_switches(
		request, topology, at, 2 * dim, at - place * stride, 2 * dim + 1);
}

static int link_grid(const struct generator_request *request, struct topology *topology,
	const uint32_t *dims, unsigned dim_count, bool around)
{
	uint32_t stride = 1;
	int result = 0;

	for (unsigned dim = 0; dim < dim_count && result == 0; dim++) {
		for (uint32_t at = 0; at < topology->switches && result == 0; at++)
			result = link_next(request, topology, at, dim, dims[dim], stride, around);
		stride *= dims[dim];
	}
	return result;
}

int grid_build(const struct generator_request *request, const uint32_t *dims, unsigned dim_count,
	uint64_t hosts_per_switch, bool around, struct topology **topology)
{
	uint64_t switches = 1;
	int result;

	for (unsigned dim = 0; dim < dim_count; dim++) {
		switches *= dims[dim];
		if (switches > TOPOLOGY_SWITCHES_MAX)
			return fault_set(request->fault, EINVAL, "%s: needs more than %u switches",
				request->spec, TOPOLOGY_SWITCHES_MAX);
	}
	result = generator_create(request, switches, switches * hosts_per_switch,
		2 * dim_count + hosts_per_switch, topology);
	if (result == 0)
		result = generator_link_hosts(
			request, *topology, (uint32_t)hosts_per_switch, 2 * dim_count);
	if (result == 0)
		result = link_grid(request, *topology, dims, dim_count, around);
	return result;
}
