/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "route/search/cycle_break.h"
#include "route/smart/smart_plan.h"

/* smart-routing (Cherkasova, Kotov, Rokicki; [Che95] of the thesis, which describes it in sections
 * 1.2.2 and 2.3 and could not compute it for more than 32 switches):
 *     allow all turns;
 *     repeat:
 *         find the shortest paths of all pairs over allowed turns;
 *         balance the pairs' traffic over them with the linear program;
 *         forbid the cheapest few of the turns in use that close cycles;
 *     until the turns in use close no cycle;
 *     allow again each turn that closes none, forbid the rest;
 *     balance over the resulting paths, including longer ones where they help;
 *     round to whole routes.
 * The loop ends, because each round forbids a turn. All pairs stay connected, and cycles can always
 * be broken, because smart_plan.h keeps the paths in a spanning tree. The routes are deadlock-free,
 * because all finally allowed turns together close no cycle.
 *
 * The original forbids one dependency per round. Here each round forbids 1/ROUNDS of all turns, so
 * that the number of programs does not grow with the network. With three times as many rounds, the
 * largest load of irregular networks is the same (docs/explanation/routing-and-itbs.md). Large
 * networks use a tenth of the rounds. */
#define ROUNDS       100
#define LARGE_ROUNDS 10

static int break_some(struct turns *turns, const struct route_options *options, uint32_t *forbidden,
	struct error *error)
{
	const struct route_graph *graph = turns->graph;
	struct smart_paths paths;
	unsigned rounds;
	double *flow;
	int result = smart_paths_find(&paths, turns, options, SMART_PATHS_MAX_DETOURS, error);

	if (result < 0)
		return result;
	rounds = paths.pairs > SMART_EXACT_PAIRS ? LARGE_ROUNDS : ROUNDS;
	flow = calloc(paths.paths + 1u, sizeof(*flow));
	if (flow != NULL)
		result = smart_balance(&paths, graph, flow, NULL, error);
	if (flow == NULL || (result == 0 && smart_cycles_break(turns, &paths, flow,
						    1 + turns->turns / rounds, forbidden) < 0))
		result = route_graph_no_memory(graph, error);
	free(flow);
	smart_paths_fini(&paths);
	return result;
}

int smart_break_cycles(
	struct turns *turns, const struct route_options *options, struct error *error)
{
	uint32_t forbidden = 1;

	while (forbidden > 0) {
		int result = break_some(turns, options, &forbidden, error);

		if (result < 0)
			return result;
	}
	return 0;
}

static int smart_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	struct smart_plan plan;
	struct turns turns;
	int result;

	if (turns_init(&turns, graph) < 0)
		return route_graph_no_memory(graph, error);
	result = smart_break_cycles(&turns, options, error);
	if (result == 0)
		result = smart_plan_make(&plan, &turns, options, true, error);
	turns_fini(&turns);
	if (result < 0)
		return result;
	result = smart_plan_add_routes(&plan, graph, options, set, error);
	smart_plan_fini(&plan);
	return result;
}

const struct route_algorithm route_smart = {
	.name = "smart",
	.summary =
		"smart-routing: balanced by a linear program, cycles broken where it costs least",
	.deadlock_free = true,
	.routes = smart_routes,
};

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
