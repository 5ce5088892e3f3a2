/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "smart_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each round brings the largest load closer to its optimum; the first have the most effect. */
#define DETOUR_ROUNDS       30
#define LARGE_DETOUR_ROUNDS 4

/* Performs one round: balances the traffic over the current paths, and adds paths. */
static int detour(struct smart_paths *paths, const struct turns *turns, double **flow,
	uint32_t *added, double *optimum, struct error *error)
{
	double bound;
	uint32_t arcs = turns->graph->arcs;
	struct smart_prices prices = {
		.arc = calloc(arcs + 1u, sizeof(*prices.arc)),
		.pair = calloc(paths->pairs + 1u, sizeof(*prices.pair)),
	};
	int result = -ENOMEM;

	free(*flow);
	*flow = calloc(paths->paths + 1u, sizeof(**flow));
	if (prices.arc == NULL || prices.pair == NULL || *flow == NULL)
		result = route_graph_no_memory(turns->graph, error);
	else
		result = smart_balance(paths, turns->graph, *flow, &prices, error);
	if (result == 0 && smart_detours_add(paths, turns, &prices, added, &bound) < 0)
		result = route_graph_no_memory(turns->graph, error);
	else if (result == 0)
		*optimum = fmax(*optimum, bound);
	free(prices.arc);
	free(prices.pair);
	return result;
}

static int balance(struct smart_paths *paths, const struct turns *turns, bool detours,
	double **flow, double *optimum, struct error *error)
{
	unsigned rounds = paths->pairs > SMART_EXACT_PAIRS ? LARGE_DETOUR_ROUNDS : DETOUR_ROUNDS;
	uint32_t added = 1;
	int result = 0;

	for (unsigned round = 0; detours && added > 0 && round < rounds; round++) {
		result = detour(paths, turns, flow, &added, optimum, error);
		if (result < 0)
			return result;
	}
	if (added == 0)
		return 0; /* no paths were added, so 'flow' is still current */
	free(*flow);
	*flow = calloc(paths->paths + 1u, sizeof(**flow));
	if (*flow == NULL)
		return route_graph_no_memory(turns->graph, error);
	return smart_balance(paths, turns->graph, *flow, NULL, error);
}

/* Returns the objective of smart_lp.c: the sum of largest and mean load. */
static double objective(const struct smart_plan *plan, const struct route_graph *graph)
{
	const struct smart_paths *paths = &plan->paths;
	double *load = calloc(graph->arcs + 1u, sizeof(*load)), max = 0, links = 0;

	if (load == NULL)
		return 0;
	for (uint32_t pair = 0; pair < paths->pairs; pair++)
		for (uint32_t p = paths->pair[pair].first_path;
			p < paths->pair[pair + 1].first_path; p++)
			for (uint32_t i = paths->first_arc[p]; i < paths->first_arc[p + 1]; i++) {
				uint32_t arc = paths->arc[i];
				double flow = (double)plan->count[p] * paths->pair[pair].weight;

				links += flow;
				load[arc] += flow * graph->arc[arc].cost / graph->cost_fastest;
				max = fmax(max, load[arc]);
			}
	free(load);
	return max + links / graph->arcs;
}

/* Copies the paths to plan->path, without ITBs. */
static void copy_paths(struct smart_plan *plan)
{
	const struct smart_paths *paths = &plan->paths;

	for (uint32_t p = 0; p < paths->paths; p++)
		for (uint32_t i = paths->first_arc[p]; i < paths->first_arc[p + 1]; i++)
			plan->path[p].arc[plan->path[p].links++] = paths->arc[i];
}

int smart_plan_make(struct smart_plan *plan, const struct turns *turns,
	const struct route_options *options, bool detours, struct error *error)
{
	double *flow = NULL, optimum = 0;
	int result;

	*plan = (struct smart_plan){.excess = -1};
	result = smart_paths_find(&plan->paths, turns, options,
		detours ? SMART_PATHS_MAX_DETOURS : SMART_PATHS_MAX, error);
	if (result < 0)
		return result;
	result = balance(&plan->paths, turns, detours, &flow, &optimum, error);
	if (result == 0) {
		ARRAYS_ADD(plan, count, plan->paths.paths);
		ARRAYS_ADD(plan, path, plan->paths.paths);
		if (plan->arrays.failed ||
			smart_share(&plan->paths, turns->graph, flow, plan->count) < 0)
			result = route_graph_no_memory(turns->graph, error);
		else
			copy_paths(plan);
		if (result == 0 && optimum > 0 && plan->paths.large)
			plan->excess = objective(plan, turns->graph) / optimum - 1;
	}
	free(flow);
	if (result < 0)
		smart_plan_fini(plan);
	return result;
}

void smart_plan_fini(struct smart_plan *plan)
{
	smart_paths_fini(&plan->paths);
	arrays_free(&plan->arrays);
}

struct adding {
	const struct smart_plan *plan;
	const struct route_graph *graph;
	const struct route_options *options;
	struct route_set *set;
};

static uint32_t find_share(const struct smart_plan *plan, uint32_t pair, uint32_t slot)
{
	uint32_t path = plan->paths.pair[pair].first_path;

	while (slot >= plan->count[path])
		slot -= plan->count[path++];
	return path;
}

static bool same_path(const struct route_path *a, const struct route_path *b)
{
	return a->links == b->links && a->itb == b->itb &&
	       memcmp(a->arc, b->arc, a->links * sizeof(*a->arc)) == 0;
}

/* Returns path i of a pair of hosts, counted cyclically from its assigned path. */
static uint32_t path_after(const struct smart_plan *plan, uint32_t pair, uint32_t share, uint32_t i)
{
	const struct smart_pair *at = &plan->paths.pair[pair];

	return at->first_path + (share - at->first_path + i) % (at[1].first_path - at->first_path);
}

/* Returns true if path i repeats an earlier one; cycle breaking may merge two paths of a pair. */
static bool is_double(const struct adding *adding, uint32_t pair, uint32_t share, uint32_t i)
{
	const struct route_path *path =
		&adding->plan->path[path_after(adding->plan, pair, share, i)];

	for (uint32_t k = 0; k < i; k++) {
		uint32_t before = path_after(adding->plan, pair, share, k);

		if (adding->plan->count[before] > 0 && same_path(path, &adding->plan->path[before]))
			return true;
	}
	return false;
}

static int add_hosts(const struct adding *adding, uint32_t pair, uint32_t share, uint32_t source,
	uint32_t destination, struct error *error)
{
	const struct smart_plan *plan = adding->plan;
	const struct smart_pair *at = &plan->paths.pair[pair];
	uint32_t paths = at[1].first_path - at->first_path, added = 0;

	for (uint32_t i = 0; i < paths && added < adding->options->alternatives; i++) {
		uint32_t path = path_after(plan, pair, share, i);
		int result;

		if (plan->count[path] == 0 || is_double(adding, pair, share, i))
			continue;
		result = route_path_add(adding->graph, adding->options, adding->set, source,
			destination, &adding->plan->path[path], error);
		if (result < 0)
			return result;
		added++;
	}
	return 0;
}

/* Assigns shares to host pairs such that adjacent slots differ in both hosts, so that no host has
 * all its routes on one path. */
static int add_pair(const struct adding *adding, uint32_t pair, struct error *error)
{
	const struct smart_pair *at = &adding->plan->paths.pair[pair];
	const struct route_graph *graph = adding->graph;
	const uint32_t *sources = graph->host_of + graph->first_host[at->source];
	const uint32_t *destinations = graph->host_of + graph->first_host[at->destination];
	uint32_t m = route_graph_hosts_at(graph, at->source);
	uint32_t n = route_graph_hosts_at(graph, at->destination);

	for (uint32_t i = 0; i < m; i++)
		for (uint32_t j = 0; j < n; j++) {
			uint32_t slot = at->routes > 1 ? (i + j) % n * m + i : 0;
			uint32_t share = find_share(adding->plan, pair, slot);
			int result =
				add_hosts(adding, pair, share, sources[i], destinations[j], error);

			if (result < 0)
				return result;
		}
	return 0;
}

static int add_near(const struct adding *adding, uint32_t at, struct error *error)
{
	const struct route_graph *graph = adding->graph;
	const struct route_path none = {.links = 0};

	for (uint32_t i = graph->first_host[at]; i < graph->first_host[at + 1]; i++)
		for (uint32_t j = graph->first_host[at]; j < graph->first_host[at + 1]; j++) {
			int result = 0;

			if (i != j)
				result = route_path_add(graph, adding->options, adding->set,
					graph->host_of[i], graph->host_of[j], &none, error);
			if (result < 0)
				return result;
		}
	return 0;
}

int smart_plan_add_routes(const struct smart_plan *plan, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error)
{
	struct adding adding = {plan, graph, options, set};
	int result = 0;

	route_set_note_excess(set, plan->excess);
	for (uint32_t pair = 0; pair < plan->paths.pairs && result == 0; pair++)
		result = add_pair(&adding, pair, error);
	for (uint32_t at = 0; at < graph->switches && result == 0; at++)
		result = add_near(&adding, at, error);
	return result;
}
