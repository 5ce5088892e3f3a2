/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cycle_break.h"
#include "itb_routes.h"

/*
 * random-itb and bmin-itb: minimal paths, at random or balanced, with ITBs only where a cycle of
 * channel dependencies would remain (proof in cycle_break.h).
 */

static bool place(void *context, struct route_path *path)
{
	return cycle_break_path(context, path);
}

static int find(
	void *context, const struct minimal_paths *paths, size_t pair, struct route_path *path)
{
	return cycle_break_find(context, paths->switch_of[pair / paths->places],
		paths->switch_of[pair % paths->places], path);
}

static int minimal_itb_routes(bool balanced, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct fault *fault)
{
	struct cycle_break *breaker = cycle_break_create(graph, options->seed);
	struct itb_rule rule = {place, find, breaker};
	int result;

	if (breaker == NULL)
		return fault_set(
			fault, ENOMEM, "%s: no memory for its routes", graph->topology->name);
	result = itb_routes_fill(graph, options, balanced, &rule, set, fault);
	cycle_break_destroy(breaker);
	return result;
}

static int random_itb_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct fault *fault)
{
	return minimal_itb_routes(false, graph, options, set, fault);
}

static int bmin_itb_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct fault *fault)
{
	return minimal_itb_routes(true, graph, options, set, fault);
}

const struct route_algorithm route_random_itb = {
	.name = "random-itb",
	.summary = "random minimal paths, ITBs where a cycle would remain",
	.deadlock_free = true,
	.routes = random_itb_routes,
};

const struct route_algorithm route_bmin_itb = {
	.name = "bmin-itb",
	.summary = "balanced minimal paths, ITBs where a cycle would remain",
	.deadlock_free = true,
	.routes = bmin_itb_routes,
};
