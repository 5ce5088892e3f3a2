/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Advice about the defaults of a run, from its result. */

#include <string.h>

#include "route_algorithm.h"
#include "run_result.h"
#include "traffic_pattern.h"

/* Below this share of what was offered. */
#define ENOUGH 0.95

/* A hot spot is more than any routes can carry. */
static bool is_even(const struct run_config *run)
{
	for (uint32_t i = 0; i < run->traffic.count; i++)
		if (run->traffic.at[i].share_ppm != 0 ||
			strcmp(run->traffic.at[i].pattern->name, "hotspot") == 0)
			return false;
	return run->traffic.count > 0;
}

/* Up/down is no detour in a tree. */
static bool has_stages(const struct topology *topology)
{
	for (uint32_t i = 0; i < topology->switches; i++)
		if (topology->switch_at[i].stage == TOPOLOGY_NO_STAGE)
			return false;
	return true;
}

/* By the generator: a grid that was written by hand is taken for any other network. */
static const char *better_algorithm(const struct run_config *run)
{
	static const struct {
		const char *kind;
		bool cyclic; /* two VC classes are needed */
	} grid[] = {{"torus:", true}, {"ring:", true}, {"mesh:", false}, {"hypercube:", false}};
	const char *spec = run->topology.spec != NULL ? run->topology.spec : "";

	for (unsigned i = 0; i < sizeof(grid) / sizeof(grid[0]); i++)
		if (strncmp(spec, grid[i].kind, strlen(grid[i].kind)) == 0)
			return grid[i].cyclic ? "dor with switch.vcs: 2, or smart" : "dor";
	return "smart";
}

bool run_result_advise(const struct run_result *result, const struct run_config *run,
	const struct topology *topology, char out[RUN_ADVICE_MAX])
{
	const struct run_config_routing *routing = &run->routing;

	if (routing->file != NULL || routing->others > 0 ||
		strcmp(routing->algorithm->name, "ud") != 0 || !is_even(run) ||
		has_stages(topology) || run_result_is_saturated(result).verdict != VERDICT_YES ||
		result->accepted > ENOUGH * result->offered)
		return false;
	snprintf(out, RUN_ADVICE_MAX,
		"routing.algorithm ud on %s: it concentrates routes at one root; %.1f %% of "
		"the hosts' links accepted, %.1f %% offered; try %s",
		topology->name, 100 * result->accepted, 100 * result->offered,
		better_algorithm(run));
	return true;
}
