/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "route/search/cycle_break.h"
#include "route/search/itb_routes.h"
#include "route/search/route_root.h"

/* b33-itb, b50-itb, b66-itb and bmax-itb: balanced minimal paths with more ITBs than necessary to
 * break cycles, because an ITB removes its message from the network, where it would block others
 * (the thesis' section 3.2.3). Switches have unique random ranks. On a path over switches A, B, C
 * with ranks a, b, c there is an ITB at B
 *
 *     b33     if b > a and b > c      (two of the six orders of three ranks: 33 %)
 *     b50     if b < c
 *     b66     if b > a or b > c
 *     bmax    always
 *
 * Deadlock freedom. One of the switches on a closed chain of dependencies has the highest rank. The
 * chain passes it from and to switches of lower rank, since no link joins a switch with itself.
 * There b33, b66 and bmax have an ITB, so the dependency does not exist and the chain is not
 * closed. With b50 ranks fall at every dependency, which is impossible around a closed chain.
 * (cycle_break.h covers the channels of hosts that absorb.)
 *
 * A switch without hosts cannot have an ITB. These switches rank below all others (route_root.h).
 * Paths through one that outranks both neighbours are not used; elsewhere these switches need no
 * ITB. For b33, b66 and bmax the proof holds. For b50, an ITB is added where B outranks both and A
 * has no hosts. If the highest switch of a closed chain has hosts, there is then an ITB at the
 * switch before it, which ranks below, or, if that switch has no hosts, at the highest switch
 * itself. If the highest switch has no hosts, the path was not used.
 *
 * If no path of a pair can be used, or none fits into a frame with all its ITBs, the pair gets a
 * path with only the ITBs that break cycles. All turns that the rule leaves without an ITB are
 * accepted first, and every turn that agrees with them is accepted (cycle_break.h). */

struct turn {
	bool back;                      /* A equals C */
	bool above_before, above_after; /* B outranks A, or C */
	bool hosts_before;              /* A has hosts */
};

typedef bool (*rank_rule_fn)(const struct turn *turn);

struct ranks {
	const struct route_graph *graph;
	rank_rule_fn wants_itb;
	uint64_t seed;
	uint32_t *rank;
	struct cycle_break *breaker; /* NULL until needed */
};

static bool b33_wants_itb(const struct turn *turn)
{
	return turn->above_before && turn->above_after;
}

static bool b50_wants_itb(const struct turn *turn)
{
	return !turn->above_after || (turn->above_before && !turn->hosts_before);
}

static bool b66_wants_itb(const struct turn *turn)
{
	return turn->above_before || turn->above_after;
}

static bool bmax_wants_itb(const struct turn *turn)
{
	return true;
}

static bool has_hosts(const struct ranks *ranks, uint32_t at)
{
	return route_graph_hosts_at(ranks->graph, at) > 0;
}

static struct turn turn_of(const struct ranks *ranks, uint32_t before, uint32_t after)
{
	const struct route_arc *arc = ranks->graph->arc;
	uint32_t a = arc[arc[before].back].to, b = arc[before].to, c = arc[after].to;

	return (struct turn){
		.back = a == c,
		.above_before = ranks->rank[b] > ranks->rank[a],
		.above_after = ranks->rank[b] > ranks->rank[c],
		.hosts_before = has_hosts(ranks, a),
	};
}

static bool place(void *context, struct route_path *path)
{
	const struct ranks *ranks = context;

	path->itb = 0;
	for (unsigned i = 0; i + 1 < path->links; i++) {
		struct turn turn = turn_of(ranks, path->arc[i], path->arc[i + 1]);

		if (has_hosts(ranks, ranks->graph->arc[path->arc[i]].to))
			path->itb |= (uint64_t)ranks->wants_itb(&turn) << i;
		else if (turn.above_before && turn.above_after)
			return false;
	}
	return route_path_elements(path) <= ROUTE_ELEMENTS_MAX;
}

/* Accepts all turns that the rule leaves without an ITB, except turns straight back;
 * cycle_break_create() accepted those at switches without hosts. */
static int breaker_prepare(struct ranks *ranks)
{
	const struct route_graph *graph = ranks->graph;

	ranks->breaker = cycle_break_create(graph, ranks->seed);
	if (ranks->breaker == NULL)
		return -ENOMEM;
	for (uint32_t arc = 0; arc < graph->arcs; arc++) {
		uint32_t at = graph->arc[arc].to;

		if (!has_hosts(ranks, at))
			continue;
		for (uint32_t next = graph->first_arc[at]; next < graph->first_arc[at + 1];
			next++) {
			struct turn turn = turn_of(ranks, arc, next);

			if (!turn.back && !ranks->wants_itb(&turn))
				cycle_break_allow(ranks->breaker, arc, next);
		}
	}
	return 0;
}

static int find(
	void *context, const struct minimal_paths *paths, size_t pair, struct route_path *path)
{
	struct ranks *ranks = context;

	if (ranks->breaker == NULL && breaker_prepare(ranks) < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < paths->pair[pair].paths; i++) {
		*path = itb_routes_path(paths, pair, i);
		if (cycle_break_path(ranks->breaker, path))
			return 0;
	}
	return cycle_break_find(ranks->breaker, paths->switch_of[pair / paths->places],
		paths->switch_of[pair % paths->places], path);
}

static int rank_itb_routes(rank_rule_fn wants_itb, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error)
{
	struct ranks ranks = {.graph = graph, .wants_itb = wants_itb, .seed = options->seed};
	struct itb_rule rule = {place, find, &ranks};
	int result;

	ranks.rank = switch_rank_make(graph, options->seed);
	if (ranks.rank == NULL)
		return route_graph_no_memory(graph, error);
	result = itb_routes_fill(graph, options, true, &rule, set, error);
	cycle_break_destroy(ranks.breaker);
	free(ranks.rank);
	return result;
}

/* random-itb and bmin-itb: minimal paths, random or balanced, with ITBs only where a cycle of
 * channel dependencies would remain (proof in cycle_break.h). */

static bool place_in_cycles(void *context, struct route_path *path)
{
	return cycle_break_path(context, path);
}

static int find_path(
	void *context, const struct minimal_paths *paths, size_t pair, struct route_path *path)
{
	return cycle_break_find(context, paths->switch_of[pair / paths->places],
		paths->switch_of[pair % paths->places], path);
}

static int minimal_itb_routes(bool balanced, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error)
{
	struct cycle_break *breaker = cycle_break_create(graph, options->seed);
	struct itb_rule rule = {place_in_cycles, find_path, breaker};
	int result;

	if (breaker == NULL)
		return route_graph_no_memory(graph, error);
	result = itb_routes_fill(graph, options, balanced, &rule, set, error);
	cycle_break_destroy(breaker);
	return result;
}

#define MINIMAL_ITB(id, name_text, fill, rule, summary_text)                                     \
	static int id##_routes(const struct route_graph *graph,                                  \
		const struct route_options *options, struct route_set *set, struct error *error) \
	{                                                                                        \
		return fill(rule, graph, options, set, error);                                   \
	}                                                                                        \
	const struct route_algorithm route_##id = {                                              \
		.name = name_text,                                                               \
		.summary = summary_text,                                                         \
		.deadlock_free = true,                                                           \
		.routes = id##_routes,                                                           \
	};

MINIMAL_ITB(random_itb, "random-itb", minimal_itb_routes, false,
	"random minimal paths, ITBs where a cycle would remain")
MINIMAL_ITB(bmin_itb, "bmin-itb", minimal_itb_routes, true,
	"balanced minimal paths, ITBs where a cycle would remain")
MINIMAL_ITB(b33_itb, "b33-itb", rank_itb_routes, b33_wants_itb,
	"balanced minimal paths, ITBs at a third of the switches passed")
MINIMAL_ITB(b50_itb, "b50-itb", rank_itb_routes, b50_wants_itb,
	"balanced minimal paths, ITBs at half of the switches passed")
MINIMAL_ITB(b66_itb, "b66-itb", rank_itb_routes, b66_wants_itb,
	"balanced minimal paths, ITBs at two thirds of the switches passed")
MINIMAL_ITB(bmax_itb, "bmax-itb", rank_itb_routes, bmax_wants_itb,
	"balanced minimal paths, ITBs at every switch passed")
