/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Folded Clos networks of switches with P ports, as in data centres. Two stages have leaves and
 * spines; three have pods of these and cores above (with over=1:1 the k-ary fat tree of Al-Fares,
 * Loukissas, Vahdat, SIGCOMM 2008, k = P). over=D:U divides the ports of leaves, and with three
 * stages also of spines, D down to U up, so three stages square the ratio.
 *
 * Leaves are numbered first, pod by pod, then spines, then cores. On a leaf, ports 0 .. D-1 lead to
 * hosts and port D + u to spine u. A spine's ports lead to the leaves of its pod in order, then up.
 * The ports of the last stage lead to leaves or pods in order. As in 'rlft', up port v of spine u
 * leads to core u + v * U. */

#include "topo/generator.h"

enum { PORTS, STAGES, OVER };

struct clos {
	uint32_t ports, down, up;
	uint32_t pods;   /* 1 with two stages */
	uint32_t leaves; /* per pod */
	uint32_t cores;
};

static uint32_t spine_of(const struct clos *clos, uint32_t pod, uint32_t u)
{
	return clos->pods * clos->leaves + pod * clos->up + u;
}

static int link_pod(const struct generator_request *request, struct topology *topology,
	const struct clos *clos, uint32_t pod)
{
	uint32_t first_core = spine_of(clos, clos->pods, 0);
	int result = 0;

	for (uint32_t u = 0; u < clos->up; u++) {
		uint32_t spine = spine_of(clos, pod, u);

		for (uint32_t leaf = 0; leaf < clos->leaves && result == 0; leaf++)
			result = generator_link_switches(request, topology,
				pod * clos->leaves + leaf, clos->down + u, spine, leaf);
		for (uint32_t v = 0; clos->cores > 0 && v < clos->up && result == 0; v++)
			result = generator_link_switches(request, topology, spine, clos->down + v,
				first_core + u + v * clos->up, pod);
	}
	return result;
}

static int divide(const struct generator_request *request, struct clos *clos)
{
	const struct generator_value *over = &request->values[OVER];
	uint32_t a = over->dim_count > 0 ? over->dims[0] : 1;
	uint32_t b = over->dim_count > 0 ? over->dims[1] : 1;

	if (clos->ports % (a + b) != 0)
		return error_set(request->error, EINVAL,
			"%s: over=%u:%u requires ports to be a multiple of %u", request->spec, a, b,
			a + b);
	clos->down = clos->ports / (a + b) * a;
	clos->up = clos->ports - clos->down;
	return 0;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	bool two = request->values[STAGES].number == 2;
	struct clos clos = {.ports = (uint32_t)request->values[PORTS].number};
	int result = divide(request, &clos);
	uint32_t leaves, spines;

	clos.pods = two ? 1 : clos.ports;
	clos.leaves = two ? clos.ports : clos.down;
	clos.cores = two ? 0 : clos.up * clos.up;
	leaves = clos.pods * clos.leaves;
	spines = clos.pods * clos.up;
	if (result == 0)
		result = generator_create(request, leaves + spines + clos.cores,
			(uint64_t)leaves * clos.down, clos.ports, topology);
	for (uint32_t i = 0; result == 0 && i < (*topology)->switches; i++)
		(*topology)->switch_at[i].stage =
			(uint8_t)(1 + (i >= leaves) + (i >= leaves + spines));
	if (result == 0)
		result = generator_link_hosts(request, *topology, clos.down, 0);
	for (uint32_t pod = 0; pod < clos.pods && result == 0; pod++)
		result = link_pod(request, *topology, &clos, pod);
	return result;
}

const struct generator generator_clos = {
	.name = "clos",
	.help = "leaves and spines; with three stages, also cores above pods",
	.options = {{"ports", GENERATOR_NUMBER, true, 2, TOPOLOGY_PORTS_MAX - 1, 0,
			    "ports per switch"},
		{"stages", GENERATOR_NUMBER, true, 2, 3, 0, "stages of switches, 2 or 3"},
		{"over", GENERATOR_RATIO, false, 1, TOPOLOGY_PORTS_MAX, 0,
			"ports down to ports up of leaves and spines; 1:1 by default"}},
	.build = build,
};
