/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Switches are linked if their numbers differ in one binary digit: port d leads along dimension d
 * (to number XOR 2^d), hosts after. */

#include "topo/generator.h"

enum { DIMS, HOSTS };

#define DIMS_MAX 15 /* 32768 switches; one more would exceed TOPOLOGY_SWITCHES_MAX */

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

static int build(const struct generator_request *request, struct topology **topology)
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
	.help = "2 to the number of dimensions switches, each with a neighbour in every one",
	.options = {{"dims", GENERATOR_NUMBER, true, 0, DIMS_MAX, 0, "dimensions"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 1, "hosts per switch"}},
	.build = build,
};
