/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>
#include <string.h>

#include "route/search/dimension_order.h"

/* Universal globally-adaptive load-balanced routing with local queues (Singh, "Load-Balanced
 * Routing in Interconnection Networks", Stanford 2005) in grids and HyperX networks, as destination
 * tables. The switch where a packet enters chooses between two paths: dimension order to the
 * destination, or dimension order to the switch of a random host and from there to the destination
 * (lib/switch/detour.h).
 *
 * No deadlock. Every path is one or two dimension-order paths. The first of two uses the lower half
 * of the classes, the last one the upper half (VC_STEPS_UGAL), and classes never fall along a path;
 * dor.c has the proof for one path in a grid. In a HyperX the first of the minimal ports gives a
 * path in dimension order, in one class: the rows of its links ascend, which is checked. */

static int grid_tables(const struct dimension_order *order, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	bool rings = dimension_order_has_rings(order);
	struct vc_rule *rule = dimension_order_rule(order, rings ? 4 : 2, true);
	struct route_options all = *options;
	int result = 0;

	all.classes = 0;
	if (rule == NULL)
		return route_graph_no_memory(order->grid.graph, error);
	if (route_options_allow(options, rule))
		result = route_dor.tables(order->grid.graph, &all, table, error);
	vc_rule_destroy(table->vc_rule);
	table->vc_rule = rule;
	return result;
}

/* Returns true if, on all paths from this switch, the second link is in a higher row. */
static bool ascends(const struct route_graph *graph, const struct route_table *table, uint32_t at)
{
	uint32_t far[UINT8_MAX + 1];

	memset(far, 0xFF, sizeof(far));
	for (uint32_t i = graph->first_arc[at]; i < graph->first_arc[at + 1]; i++)
		far[graph->arc[i].port] = graph->arc[i].to;
	for (uint32_t host = 0; host < graph->hosts; host++) {
		uint8_t port = route_table_row(table, at)[host];
		uint32_t to = far[port];

		if (to == ROUTE_GRAPH_NONE || to == graph->host_switch[host])
			continue;
		if (vc_rule_ring(table->vc_rule, at, port) >=
			vc_rule_ring(table->vc_rule, to, route_table_row(table, to)[host]))
			return false;
	}
	return true;
}

static int check_order(
	const struct route_graph *graph, const struct route_table *table, struct error *error)
{
	for (uint32_t at = 0; at < graph->switches; at++)
		if (!ascends(graph, table, at))
			return error_set(error, EINVAL,
				"%s: the ports of %s are not in the order of the dimensions",
				graph->topology->name, graph->topology->switch_at[at].name);
	return 0;
}

static int hyperx_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	int result = route_omni_war.tables(graph, options, table, error);

	if (result < 0)
		return result;
	free(table->alternatives);
	table->alternatives = NULL;
	table->vc_rule->classes = 2;
	return check_order(graph, table, error);
}

static int ugal_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	struct dimension_order order;
	struct error no_grid;
	int result = topology_check_ports(graph->topology, TOPOLOGY_PORTS_RUN, "detours", error);

	if (result < 0)
		return result;
	result = dimension_order_make(&order, graph, options, &no_grid);
	if (result == 0) {
		result = grid_tables(&order, options, table, error);
		dimension_order_free(&order);
	} else if (result == -EINVAL) {
		result = hyperx_tables(graph, options, table, error);
		if (result == -EINVAL)
			error_prefix(error,
				"ugal: the topology is neither a grid (%s) nor a HyperX",
				no_grid.text);
	} else {
		result = route_graph_no_memory(graph, error);
	}
	if (result == 0)
		table->vc_rule->steps = VC_STEPS_UGAL;
	return result;
}

const struct route_algorithm route_ugal = {
	.name = "ugal",
	.summary = "grids, HyperX: dor, or through a random host, chosen from the first switch's "
		   "queues; 2 VCs, 4 in a torus",
	.deadlock_free = true,
	.vc_classes = true,
	.ladder = VC_STEPS_UGAL,
	.tables = ugal_tables,
};
