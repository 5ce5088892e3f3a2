/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdint.h>
#include <stdlib.h>

#include "base/weft_error.h"
#include "queuing/vc_rule.h"
#include "route/route_algorithm.h"
#include "route/search/cycle_break.h"
#include "route/search/shortest_trees.h"
#include "topo/topology.h"

/* Balanced shortest paths for any topology. They are deadlock-free because each path uses one of
 * several layers of VCs. The two searches cite their papers.
 *
 *     - dfsssp: a tree of paths per host; paths of a cycle move to other layers. Then the fullest
 *       layers are split until each VC has one, as in OpenSM
 *     - lash: a path per pair of switches, in the same layer for both directions
 *
 * No deadlock. The dependencies within a layer have no cycle, and none leads from one layer to
 * another. A single layer needs no VC classes. */

/* Layers of VCs make paths deadlock-free without changing them: the dependencies of the paths
 * within a layer have no cycle, and a packet stays in its layer. */

struct vc_layers {
	uint8_t *layer; /* [tree * switches + source switch] */
	unsigned count; /* at least 1 */
};

static int refuse(const struct route_graph *graph, const char *algorithm, struct error *error)
{
	return error_set(error, EINVAL, "%s: %s needs more than %u VCs", graph->topology->name,
		algorithm, VC_RULE_CLASSES_MAX);
}

/* --- cycles --- */

enum mark { NEW, ON_STACK, DONE };

/* Depth-first search for cycles in one layer. */
struct search {
	const struct shortest_trees *trees;
	const struct route_graph *graph;
	uint8_t *layer, number;
	uint32_t width;  /* maximum number of arcs per switch */
	uint32_t *pairs; /* [arc * width + i]: host pairs that continue on arc i of its far end */
	uint8_t *mark;   /* by arc */
	uint32_t *tried; /* by arc: number of next arcs tried */
	uint32_t *stack, depth;
	struct arrays arrays;
};

static uint32_t *pairs_of(const struct search *search, uint32_t before, uint32_t after)
{
	const struct route_graph *graph = search->graph;

	return &search->pairs[(size_t)before * search->width + after -
			      graph->first_arc[graph->arc[before].to]];
}

/* Adds the dependencies of a path ('sign' 1), or subtracts them (-1). */
static void count_path(struct search *search, uint32_t tree, uint32_t source, int sign)
{
	uint32_t pairs = shortest_trees_pairs(search->trees, tree, source);
	uint32_t arc = shortest_trees_next(search->trees, tree, source), after;

	for (; pairs > 0 && arc != ROUTE_GRAPH_NONE; arc = after) {
		after = shortest_trees_next(search->trees, tree, search->graph->arc[arc].to);
		if (after != ROUTE_GRAPH_NONE)
			*pairs_of(search, arc, after) += (uint32_t)sign * pairs;
	}
}

static bool path_has(const struct search *search, uint32_t tree, uint32_t source, uint32_t before)
{
	uint32_t arc = shortest_trees_next(search->trees, tree, source);

	while (arc != ROUTE_GRAPH_NONE && arc != before)
		arc = shortest_trees_next(search->trees, tree, search->graph->arc[arc].to);
	return arc == before;
}

/* Moves all paths with this dependency to the next layer. */
static void move(struct search *search, uint32_t before, uint32_t after)
{
	const struct route_graph *graph = search->graph;
	uint32_t from = graph->arc[graph->arc[before].back].to, at = graph->arc[before].to;

	for (uint32_t tree = 0; tree < search->trees->trees; tree++) {
		uint8_t *layer = search->layer + (size_t)tree * graph->switches;

		if (shortest_trees_next(search->trees, tree, from) != before ||
			shortest_trees_next(search->trees, tree, at) != after)
			continue;
		for (uint32_t source = 0; source < graph->switches; source++)
			if (layer[source] == search->number &&
				route_graph_hosts_at(graph, source) > 0 &&
				path_has(search, tree, source, before)) {
				count_path(search, tree, source, -1);
				layer[source]++;
			}
	}
}

/* Breaks a cycle, the arcs on the stack from 'first' on, at the dependency with the fewest host
 * pairs. Unwinds the stack to the arc before that dependency. */
static void break_cycle(struct search *search, uint32_t first)
{
	uint32_t weakest = first, fewest = UINT32_MAX, top = search->depth - 1;

	for (uint32_t i = first; i <= top; i++) {
		uint32_t pairs = *pairs_of(
			search, search->stack[i], search->stack[i == top ? first : i + 1]);

		if (pairs < fewest) {
			fewest = pairs;
			weakest = i;
		}
	}
	move(search, search->stack[weakest], search->stack[weakest == top ? first : weakest + 1]);
	for (; search->depth > weakest + 1; search->depth--) {
		uint32_t arc = search->stack[search->depth - 1];

		search->mark[arc] = NEW;
		search->tried[arc] = 0;
	}
}

static uint32_t position(const struct search *search, uint32_t arc)
{
	uint32_t i = search->depth - 1;

	while (search->stack[i] != arc)
		i--;
	return i;
}

static void push(struct search *search, uint32_t arc)
{
	search->mark[arc] = ON_STACK;
	search->stack[search->depth++] = arc;
}

static void search_from(struct search *search, uint32_t start)
{
	const struct route_graph *graph = search->graph;

	push(search, start);
	while (search->depth > 0) {
		uint32_t arc = search->stack[search->depth - 1], at = graph->arc[arc].to;
		uint32_t next = graph->first_arc[at] + search->tried[arc];

		if (next == graph->first_arc[at + 1]) {
			search->mark[arc] = DONE;
			search->depth--;
			continue;
		}
		search->tried[arc]++;
		if (*pairs_of(search, arc, next) == 0 || search->mark[next] == DONE)
			continue;
		if (search->mark[next] == ON_STACK)
			break_cycle(search, position(search, next));
		else
			push(search, next);
	}
}

/* Makes the layer acyclic. Returns true if paths moved to the next layer. */
static bool clean_layer(struct search *search)
{
	const struct route_graph *graph = search->graph;
	size_t paths = (size_t)search->trees->trees * graph->switches;
	bool moved = false;

	for (size_t i = 0; i < (size_t)graph->arcs * search->width; i++)
		search->pairs[i] = 0;
	for (size_t i = 0; i < paths; i++)
		if (search->layer[i] == search->number)
			count_path(search, (uint32_t)(i / graph->switches),
				(uint32_t)(i % graph->switches), 1);
	for (uint32_t arc = 0; arc < graph->arcs; arc++) {
		search->mark[arc] = NEW;
		search->tried[arc] = 0;
	}
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		if (search->mark[arc] == NEW)
			search_from(search, arc);
	for (size_t i = 0; i < paths && !moved; i++)
		moved = search->layer[i] > search->number;
	return moved;
}

/* DFSSSP (Domke, Hoefler, Nagel, "Deadlock-Free Oblivious Routing for Arbitrary Topologies", IPDPS
 * 2011). All paths start in the first layer. While a layer has a cycle, the paths over the cycle's
 * dependency with the fewest host pairs move to the next layer. Returns 0, -ENOMEM, or -EINVAL if
 * VC_RULE_CLASSES_MAX layers are not enough. */
static int vc_layers_break(
	const struct shortest_trees *trees, struct vc_layers *layers, struct error *error)
{
	const struct route_graph *graph = trees->graph;
	struct search search = {.trees = trees, .graph = graph, .layer = layers->layer};
	bool more = true;

	for (uint32_t at = 0; at < graph->switches; at++)
		if (graph->first_arc[at + 1] - graph->first_arc[at] > search.width)
			search.width = graph->first_arc[at + 1] - graph->first_arc[at];
	ARRAYS_ADD(&search, pairs, (size_t)graph->arcs * search.width);
	ARRAYS_ADD(&search, mark, graph->arcs);
	ARRAYS_ADD(&search, tried, graph->arcs);
	ARRAYS_ADD(&search, stack, graph->arcs);
	for (; !search.arrays.failed && more && search.number < VC_RULE_CLASSES_MAX;
		search.number++)
		more = clean_layer(&search);
	layers->count = search.number;
	arrays_free(&search.arrays);
	if (search.arrays.failed)
		return route_graph_no_memory(graph, error);
	return more ? refuse(graph, "dfsssp", error) : 0;
}

/* --- pairs --- */

/* Returns true if none of the path's dependencies would close a cycle on its own. */
static bool allows(struct acyclic *acyclic, const struct route_path *path)
{
	for (unsigned i = 0; i + 1 < path->links; i++)
		if (!acyclic_allows(acyclic, path->arc[i], path->arc[i + 1]))
			return false;
	return true;
}

/* Accepts the dependencies. Returns false, with some accepted, if they close a cycle together. */
static bool accept(struct acyclic *acyclic, const struct route_path *path)
{
	for (unsigned i = 0; i + 1 < path->links; i++)
		if (!acyclic_add(acyclic, path->arc[i], path->arc[i + 1]))
			return false;
	return true;
}

static bool join(struct acyclic *acyclic, const struct route_path path[2])
{
	return allows(acyclic, &path[0]) && allows(acyclic, &path[1]) &&
	       accept(acyclic, &path[0]) && accept(acyclic, &path[1]);
}

static int place(const struct shortest_trees *trees, struct vc_layers *layers,
	struct acyclic **acyclic, const struct route_path path[2], uint8_t *number,
	struct error *error)
{
	for (unsigned i = 0; i < VC_RULE_CLASSES_MAX; i++) {
		if (acyclic[i] == NULL)
			acyclic[i] = acyclic_create(trees->graph);
		if (acyclic[i] == NULL)
			return route_graph_no_memory(trees->graph, error);
		if (!join(acyclic[i], path))
			continue;
		*number = (uint8_t)i;
		if (layers->count < i + 1)
			layers->count = i + 1;
		return 0;
	}
	return refuse(trees->graph, "lash", error);
}

/* LASH (Skeie, Lysne, Theiss, "Layered Shortest Path (LASH) Routing in Irregular System Area
 * Networks", IPDPS 2002). For one pair of switches after the other, the paths of both directions
 * join the first layer in which they close no cycle. Requires trees per switch. Errors as in
 * vc_layers_break(). */
static int vc_layers_fill(
	const struct shortest_trees *trees, struct vc_layers *layers, struct error *error)
{
	struct acyclic *acyclic[VC_RULE_CLASSES_MAX] = {NULL};
	uint32_t switches = trees->graph->switches;
	struct route_path path[2];
	int result = 0;

	layers->count = 1;
	for (uint32_t a = 0; a < switches && result == 0; a++)
		for (uint32_t b = 0; b < a && result == 0; b++) {
			uint8_t *there = &layers->layer[(size_t)a * switches + b];

			/* Paths that exceed a frame are refused later, when routes are added. */
			if (!shortest_trees_path(trees, a, b, &path[0]) ||
				!shortest_trees_path(trees, b, a, &path[1]) ||
				path[0].links > ROUTE_LINKS_MAX)
				continue;
			result = place(trees, layers, acyclic, path, there, error);
			layers->layer[(size_t)b * switches + a] = *there;
		}
	for (unsigned i = 0; i < VC_RULE_CLASSES_MAX; i++)
		acyclic_destroy(acyclic[i]);
	return result;
}

/* --- balance --- */

static unsigned fullest(const struct shortest_trees *trees, const struct vc_layers *layers)
{
	uint32_t switches = trees->graph->switches;
	uint64_t pairs[VC_RULE_CLASSES_MAX] = {0};
	unsigned full = 0;

	for (size_t i = 0; i < (size_t)trees->trees * switches; i++)
		pairs[layers->layer[i]] += shortest_trees_pairs(
			trees, (uint32_t)(i / switches), (uint32_t)(i % switches));
	for (unsigned i = 1; i < layers->count; i++)
		if (pairs[i] > pairs[full])
			full = i;
	return full;
}

/* Halves the layer with the most host pairs until there are 'wanted' layers. Both halves of an
 * acyclic layer are acyclic. */
static void vc_layers_balance(
	const struct shortest_trees *trees, struct vc_layers *layers, unsigned wanted)
{
	uint32_t switches = trees->graph->switches;

	for (; layers->count < wanted; layers->count++) {
		unsigned from = fullest(trees, layers), turn = 0;

		for (size_t i = 0; i < (size_t)trees->trees * switches; i++)
			if (layers->layer[i] == from &&
				shortest_trees_pairs(trees, (uint32_t)(i / switches),
					(uint32_t)(i % switches)) > 0 &&
				turn++ % 2 == 1)
				layers->layer[i] = (uint8_t)layers->count;
	}
}

typedef int (*layers_fn)(
	const struct shortest_trees *trees, struct vc_layers *layers, struct error *error);

static int use_rule(const struct route_graph *graph, struct route_set *set, unsigned layers)
{
	struct vc_rule *rule = vc_rule_create(graph->switches, (uint8_t)layers);

	if (rule == NULL)
		return -ENOMEM;
	rule->steps = VC_STEPS_LAYERS;
	for (uint32_t arc = 0; arc < graph->arcs; arc++) {
		uint32_t at = graph->arc[graph->arc[arc].back].to;

		rule->ring[(size_t)at * VC_RULE_PORTS + graph->arc[arc].port] = 0;
	}
	route_set_use_vc_rule(set, rule);
	return 0;
}

static int add_routes(const struct shortest_trees *trees, const struct vc_layers *layers,
	struct route_set *set, struct error *error)
{
	const struct route_graph *graph = trees->graph;
	struct route_path path;
	int result = 0;

	for (uint32_t to = 0; to < graph->hosts; to++) {
		uint32_t tree = trees->per_switch ? graph->host_switch[to] : to;

		for (uint32_t from = 0; from < graph->hosts && result == 0; from++) {
			uint32_t at = graph->host_switch[from];

			if (from == to || tree == ROUTE_GRAPH_NONE || at == ROUTE_GRAPH_NONE ||
				!shortest_trees_path(trees, tree, at, &path))
				continue;
			result = route_path_add_layer(graph, set, from, to, &path,
				layers->layer[(size_t)tree * graph->switches + at], error);
		}
	}
	return result;
}

static int fill(const struct shortest_trees *trees, const struct route_options *options,
	layers_fn find, bool balanced, struct route_set *set, struct error *error)
{
	const struct route_graph *graph = trees->graph;
	struct vc_layers layers = {.layer = calloc((size_t)trees->trees * graph->switches + 1, 1)};
	int result = layers.layer == NULL ? route_graph_no_memory(graph, error)
					  : find(trees, &layers, error);

	if (result == 0 && layers.count > 1) {
		unsigned classes = options->classes < VC_RULE_CLASSES_MAX ? options->classes
									  : VC_RULE_CLASSES_MAX;

		if (balanced)
			vc_layers_balance(trees, &layers, classes);
		if (use_rule(graph, set, layers.count) < 0)
			result = route_graph_no_memory(graph, error);
	}
	if (result == 0 && route_options_allow(options, route_set_vc_rule(set)))
		result = add_routes(trees, &layers, set, error);
	free(layers.layer);
	return result;
}

/* Switches with VC classes have at most VC_RULE_PORTS ports. */
static int compute(const struct route_graph *graph, const struct route_options *options,
	bool per_switch, layers_fn find, struct route_set *set, struct error *error)
{
	struct shortest_trees trees;
	int result =
		topology_check_ports(graph->topology, TOPOLOGY_PORTS_RUN, "layers of VCs", error);

	if (result < 0)
		return result;
	result = shortest_trees_make(&trees, graph, per_switch, error);
	if (result == 0)
		result = fill(&trees, options, find, find == vc_layers_break, set, error);
	shortest_trees_free(&trees);
	return result;
}

static int dfsssp_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	return compute(graph, options, options->granularity == ROUTE_PER_SWITCH_PAIR,
		vc_layers_break, set, error);
}

static int lash_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	return compute(graph, options, true, vc_layers_fill, set, error);
}

const struct route_algorithm route_dfsssp = {
	.name = "dfsssp",
	.summary = "balanced shortest paths in layers of VCs, a tree per destination host",
	.deadlock_free = true,
	.vc_classes = true,
	.routes = dfsssp_routes,
};

const struct route_algorithm route_lash = {
	.name = "lash",
	.summary = "balanced shortest paths in layers of VCs, a path per pair of switches",
	.deadlock_free = true,
	.vc_classes = true,
	.routes = lash_routes,
};
