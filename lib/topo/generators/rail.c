/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Rails: fat trees (rlft.c) side by side without a cable between them, and hosts with a port in
 * each. Port r of host i is where host i of tree r would be. */

#include <errno.h>

#include "topo/generator.h"
#include "topo/topology_hosts.h"

enum { RAILS, PORTS };

static int build(const struct generator_request *request, struct topology **topology)
{
	struct generator_request of_plane = *request;
	struct topology *plane = NULL;
	int result;

	for (unsigned i = PORTS; i < GENERATOR_OPTIONS_MAX; i++)
		of_plane.values[i - PORTS] = request->values[i];
	result = generator_rlft.build(&of_plane, &plane);
	if (result == 0)
		result = topology_finish(plane, request->spec, request->error);
	if (result == 0) {
		*topology = topology_multiply(plane, request->name,
			(unsigned)request->values[RAILS].number, request->error);
		result = *topology != NULL ? 0 : -errno;
	}
	topology_destroy(plane);
	return result;
}

const struct generator generator_rail = {
	.name = "rail",
	.help = "hosts with a port in each of several fat trees (rlft)",
	.options = {{"rails", GENERATOR_NUMBER, true, 2, TOPOLOGY_HOST_PORTS_MAX, 0,
			    "ports of a host, one per fat tree"},
		{"ports", GENERATOR_NUMBER, true, 2, 64, 0, "ports per switch, 2K"},
		{"stages", GENERATOR_NUMBER, true, 1, 12, 0, "stages of switches"}},
	.build = build,
};
