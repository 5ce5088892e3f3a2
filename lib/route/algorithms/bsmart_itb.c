/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route/search/cycle_break.h"
#include "route/smart/smart_plan.h"

/* bsmart-itb (the thesis' section 3.2.2, figure 48): first the paths of smart-routing without the
 * condition that they close no cycle, from one linear program over minimal paths; then ITBs where
 * cycles remain (cycle_break.h, which also contains the proof).
 *
 * Only paths in use are considered, so that unused paths cause no ITBs. Paths that close no cycle,
 * as in a fat tree, are not changed, because cycle_break.h would forbid some turns at switches
 * without hosts in advance. */
static int break_cycles(const struct route_graph *graph, uint64_t seed, struct route_path *path,
	uint32_t paths, struct error *error)
{
	struct acyclic *acyclic = acyclic_create(graph);
	bool cycle = false;

	if (acyclic == NULL)
		return route_graph_no_memory(graph, error);
	for (uint32_t p = 0; p < paths && !cycle; p++)
		for (unsigned i = 0; i + 1 < path[p].links && !cycle; i++)
			cycle = !acyclic_add(acyclic, path[p].arc[i], path[p].arc[i + 1]);
	acyclic_destroy(acyclic);
	return cycle ? cycle_break_all(graph, seed, path, paths, error) : 0;
}

static int bsmart_itb_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	struct smart_plan plan;
	struct turns turns;
	int result;

	if (turns_init(&turns, graph) < 0)
		return route_graph_no_memory(graph, error);
	result = smart_plan_make(&plan, &turns, options, false, error);
	turns_fini(&turns);
	if (result < 0)
		return result;
	for (uint32_t i = 0; i < plan.paths.paths; i++)
		if (plan.count[i] == 0)
			plan.path[i].links = 0;
	result = break_cycles(graph, options->seed, plan.path, plan.paths.paths, error);
	if (result == 0)
		result = smart_plan_add_routes(&plan, graph, options, set, error);
	smart_plan_fini(&plan);
	return result;
}

const struct route_algorithm route_bsmart_itb = {
	.name = "bsmart-itb",
	.summary = "minimal paths balanced by a linear program, ITBs where cycles remain",
	.deadlock_free = true,
	.routes = bsmart_itb_routes,
};
