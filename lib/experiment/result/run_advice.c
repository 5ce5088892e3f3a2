/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Advice about the defaults of a run, from its result. */

#include <string.h>

#include "base/quantity.h"
#include "route/route_algorithm.h"
#include "run_result.h"
#include "switch/adaptive_routing.h"
#include "traffic/traffic_pattern.h"

/* Below this share of the offered traffic. */
#define ENOUGH 0.95

/* Above these sizes smart often routes worse than bmin-itb, and bmin-itb takes more than some
 * seconds (docs/explanation/routing-and-itbs.md). */
#define SMART_SWITCHES_MAX 64
#define BMIN_SWITCHES_MAX  512

/* Entry i sends more to some hosts than their links carry, whatever the routes. */
static bool is_incast(const struct run_result *result, const struct run_config *run, uint32_t i)
{
	const struct run_config_traffic *traffic = &run->traffic.at[i];
	uint64_t senders = i < result->entries ? result->entry[i].senders : 0;

	return traffic->share_ppm != 0 || strcmp(traffic->pattern->name, "hotspot") == 0 ||
	       (traffic->to.kind == RUN_HOSTS_LIST &&
		       (uint64_t)traffic->to.count * QUANTITY_WHOLE_PPM <
			       senders * traffic->load_ppm);
}

/* The links of the hosts can carry all that the hosts send and receive. */
static bool hosts_suffice(const struct run_result *result, const struct run_config *run)
{
	uint64_t load_ppm = 0;

	for (uint32_t i = 0; i < run->traffic.count; i++) {
		if (is_incast(result, run, i))
			return false;
		load_ppm += run->traffic.at[i].load_ppm;
	}
	return run->traffic.count > 0 && load_ppm <= QUANTITY_WHOLE_PPM;
}

/* With fewer links between switches than switches every pair has one path. */
static bool has_paths(const struct topology *topology)
{
	uint32_t links = 0;

	for (uint32_t i = 0; i < topology->links; i++)
		links += topology->link_at[i].a.kind == DEVICE_SWITCH &&
			 topology->link_at[i].b.kind == DEVICE_SWITCH;
	return links >= topology->switches;
}

/* On the real clock the CPUs may be the limit: then frames are late. */
static bool in_time(const struct run_result *result, const struct run_config *run)
{
	const struct run_fidelity *fidelity = &result->fidelity;

	return run->clock == RUN_CLOCK_VIRTUAL ||
	       (fidelity->frames > 0 && fidelity->within_tenth >= ENOUGH * fidelity->frames &&
		       result->wall.stall_ns <= RUN_STALL_MAX_NS);
}

/* Up/down is not a detour in a tree. */
static bool has_stages(const struct topology *topology)
{
	for (uint32_t i = 0; i < topology->switches; i++)
		if (topology->switch_at[i].stage == TOPOLOGY_NO_STAGE)
			return false;
	return true;
}

/* From the generator's name: a hand-written grid counts as any other network. NULL: no algorithm
 * computes its routes in some seconds. */
static const char *better_algorithm(const struct run_config *run, const struct topology *topology)
{
	bool small = topology->switches <= SMART_SWITCHES_MAX;
	static const struct {
		const char *kind;
		bool cyclic; /* two VC classes are needed */
	} grid[] = {{"torus:", true}, {"ring:", true}, {"mesh:", false}, {"hypercube:", false}};
	const char *spec = run->topology.spec != NULL ? run->topology.spec : "";

	if (strncmp(spec, "dragonfly:", strlen("dragonfly:")) == 0)
		return "df-min with switch.vcs: 2, or df-ugal-l with switch.vcs: 3";
	for (unsigned i = 0; i < sizeof(grid) / sizeof(grid[0]); i++)
		if (strncmp(spec, grid[i].kind, strlen(grid[i].kind)) == 0)
			return !grid[i].cyclic ? "dor"
			       : small         ? "dor with switch.vcs: 2, or smart"
					       : "dor with switch.vcs: 2";
	if (small)
		return "smart";
	return topology->switches <= BMIN_SWITCHES_MAX ? "bmin-itb" : NULL;
}

/* Adaptive switches spread the packets of an incast over all paths, where other packets wait behind
 * them. */
static bool advise_isolation(
	const struct run_result *result, const struct run_config *run, char out[RUN_ADVICE_MAX])
{
	const struct run_config_routing *routing = &run->routing;

	if (!run_config_is_adaptive(run) || routing->afi ||
		strcmp(routing->adaptive->name, "arn") == 0)
		return false;
	for (uint32_t i = 0; i < run->traffic.count && i < result->entries; i++)
		if (is_incast(result, run, i) &&
			result->entry[i].accepted < ENOUGH * result->entry[i].offered) {
			snprintf(out, RUN_ADVICE_MAX,
				"routing.adaptive %s spreads the incast of traffic[%u] over all "
				"paths, where other traffic waits for it; try routing.afi: true",
				routing->adaptive->name, i);
			return true;
		}
	return false;
}

bool run_result_advise(const struct run_result *result, const struct run_config *run,
	const struct topology *topology, char out[RUN_ADVICE_MAX])
{
	const struct run_config_routing *routing = &run->routing;
	const char *better = better_algorithm(run, topology);

	if (advise_isolation(result, run, out))
		return true;
	if (routing->file != NULL || routing->others > 0 ||
		strcmp(routing->algorithm->name, "ud") != 0 || better == NULL ||
		!hosts_suffice(result, run) || !in_time(result, run) || !has_paths(topology) ||
		has_stages(topology) || run_result_is_saturated(result).verdict != VERDICT_YES ||
		result->accepted > ENOUGH * result->offered)
		return false;
	snprintf(out, RUN_ADVICE_MAX,
		"routing.algorithm ud on %s: it concentrates routes at one root; %.1f %% of "
		"the hosts' links accepted, %.1f %% offered; try %s",
		topology->name, 100 * result->accepted, 100 * result->offered, better);
	return true;
}
