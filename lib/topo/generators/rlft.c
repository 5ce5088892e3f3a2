/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Real-life fat tree (Zahavi, "Fat-Trees Routing and Node Ordering Providing Contention Free
 * Traffic for MPI Global Collectives", JPDC 2012) of 2K-port switches and n stages: N = 2 K^n
 * hosts, S = N (2n - 1) / 2K switches. Ports 0..K-1 lead down and K..2K-1 up; at the top all 2K
 * lead down.
 *
 * Level l counts from 0 at the leaves. Below the top, a switch is (t, w): t = 0 .. 2 K^(n-1-l) - 1
 * is the subtree whose hosts it reaches downwards (host D is below t = D / K^(l+1)), and w = 0 ..
 * K^l - 1 numbers the switches of that subtree. At the top there is one subtree, w = 0 .. K^(n-1)
 * - 1. Up port K + u of (t, w) leads to (t / K, w + u K^l), whose down port for it is t mod K (at
 * the top: t). The up ports of a path are the digits of w in base K. D-mod-K, with u = (D / K^l)
 * mod K, sends all packets for D to the single top switch w = D mod K^(n-1). */

#include <errno.h>

#include "topo/generator.h"
#include "topo/topology_hosts.h"

enum { PORTS, STAGES };

struct rlft {
	uint32_t arity; /* K, half the ports of a switch */
	uint32_t stages;
	uint64_t below_top; /* switches of each stage except the last: 2 K^(n-1) */
	uint64_t top;       /* switches of the last stage: K^(n-1) */
};

static uint32_t switch_number(
	const struct rlft *rlft, unsigned level, uint64_t subtree, uint64_t equal, uint64_t equals)
{
	return (uint32_t)(level * rlft->below_top + subtree * equals + equal);
}

/* Adds the up links of one switch. 'equals' is K^level. */
static int link_up(const struct generator_request *request, struct topology *topology,
	const struct rlft *rlft, unsigned level, uint64_t subtree, uint64_t equal, uint64_t equals)
{
	bool to_top = level + 2 == rlft->stages;
	uint64_t parent = to_top ? 0 : subtree / rlft->arity;
	uint64_t down = to_top ? subtree : subtree % rlft->arity;
	int result = 0;

	for (uint32_t u = 0; u < rlft->arity && result == 0; u++)
		result = generator_link_switches(request, topology,
			switch_number(rlft, level, subtree, equal, equals), rlft->arity + u,
			switch_number(
				rlft, level + 1, parent, equal + u * equals, equals * rlft->arity),
			(unsigned)down);
	return result;
}

static int link_level(const struct generator_request *request, struct topology *topology,
	const struct rlft *rlft, unsigned level, uint64_t equals)
{
	uint64_t subtrees = rlft->below_top / equals;
	int result = 0;

	for (uint64_t subtree = 0; subtree < subtrees; subtree++)
		for (uint64_t equal = 0; equal < equals && result == 0; equal++)
			result = link_up(request, topology, rlft, level, subtree, equal, equals);
	return result;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	struct rlft rlft = {
		.arity = (uint32_t)request->values[PORTS].number / 2,
		.stages = (uint32_t)request->values[STAGES].number,
		.top = 1,
	};
	uint64_t equals = 1;
	int result;

	if (request->values[PORTS].number % 2 != 0)
		return error_set(request->error, EINVAL,
			"%s: ports must be even, because half of them go up", request->spec);
	for (uint32_t stage = 1; stage < rlft.stages; stage++)
		rlft.top *= rlft.arity; /* at most 32^11 */
	rlft.below_top = 2 * rlft.top;
	result = generator_create(request, (rlft.stages - 1) * rlft.below_top + rlft.top,
		2 * rlft.arity * rlft.top, 2 * rlft.arity, topology);
	for (uint32_t s = 0; result == 0 && s < (*topology)->switches; s++)
		(*topology)->switch_at[s].stage = (uint8_t)(s / rlft.below_top + 1);
	if (result == 0)
		result = generator_link_hosts(
			request, *topology, rlft.stages == 1 ? 2 * rlft.arity : rlft.arity, 0);
	for (unsigned level = 0; level + 1 < rlft.stages && result == 0; level++) {
		result = link_level(request, *topology, &rlft, level, equals);
		equals *= rlft.arity;
	}
	return result;
}

const struct generator generator_rlft = {
	.name = "rlft",
	.help = "real-life fat tree of switches with 2K ports: 2 K^stages hosts",
	.options = {{"ports", GENERATOR_NUMBER, true, 2, TOPOLOGY_PORTS_MAX - 1, 0,
			    "ports per switch, 2K"},
		{"stages", GENERATOR_NUMBER, true, 1, 12, 0, "stages of switches"}},
	.build = build,
};

/* Rails: separate fat trees without cables between them, and hosts with a port in each. Port r of
 * host i is in the position of host i in tree r. */

enum { RAILS, OF_RLFT };

static int build_rail(const struct generator_request *request, struct topology **topology)
{
	struct generator_request of_plane = *request;
	struct topology *plane = NULL;
	int result;

	for (unsigned i = OF_RLFT; i < GENERATOR_OPTIONS_MAX; i++)
		of_plane.values[i - OF_RLFT] = request->values[i];
	result = build(&of_plane, &plane);
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
	.build = build_rail,
};
