/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route/search/cycle_break.h"
#include "route/search/itb_routes.h"

/* random-itb and bmin-itb: minimal paths, random or balanced, with ITBs only where a cycle of
 * channel dependencies would remain (proof in cycle_break.h). */

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
	const struct route_options *options, struct route_set *set, struct error *error)
{
	struct cycle_break *breaker = cycle_break_create(graph, options->seed);
	struct itb_rule rule = {place, find, breaker};
	int result;

	if (breaker == NULL)
		return route_graph_no_memory(graph, error);
	result = itb_routes_fill(graph, options, balanced, &rule, set, error);
	cycle_break_destroy(breaker);
	return result;
}

#define MINIMAL_ITB(id, name_text, balanced, summary_text)                                       \
	static int id##_routes(const struct route_graph *graph,                                  \
		const struct route_options *options, struct route_set *set, struct error *error) \
	{                                                                                        \
		return minimal_itb_routes(balanced, graph, options, set, error);                 \
	}                                                                                        \
	const struct route_algorithm route_##id = {                                              \
		.name = name_text,                                                               \
		.summary = summary_text,                                                         \
		.deadlock_free = true,                                                           \
		.routes = id##_routes,                                                           \
	};

MINIMAL_ITB(
	random_itb, "random-itb", false, "random minimal paths, ITBs where a cycle would remain")
MINIMAL_ITB(bmin_itb, "bmin-itb", true, "balanced minimal paths, ITBs where a cycle would remain")
