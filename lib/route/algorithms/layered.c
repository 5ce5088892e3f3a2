/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "route/route_algorithm.h"
#include "route/search/shortest_trees.h"
#include "route/search/vc_layers.h"
#include "topo/topology.h"

/* Balanced shortest paths for any topology, free of deadlock because each is in one of several
 * layers of VCs. The two searches cite their papers.
 *
 *     dfsssp   a tree of paths per host; paths move to other layers where there is a cycle. Then
 * the fullest layers are split until each VC has one, as in OpenSM lash     a path per pair of
 * switches, in the same layer for both directions
 *
 * No deadlock. The dependencies within a layer have no cycle, and none leads from one layer to
 * another. With one layer no VC class is needed. */

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
