/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <string.h>

#include "base/port_set.h"
#include "queuing/vc_ladder.h"
#include "route/route_algorithm.h"
#include "topo/topology.h"

/* OmniWAR in a HyperX (McDonald, Isaev, Flores, Davis, Kim, "Practical and Efficient Incremental
 * Adaptive Routing for HyperX Networks", SC 2019), as destination tables. The alternatives are the
 * ports of all minimal paths, and the primary port is the first of them. At each hop the switch
 * chooses among these ports and detours in their rows (lib/switch/detour.h).
 *
 * Rows follow from the links: two neighbours of a switch are in the same row if they are linked to
 * each other. A network is accepted on two conditions, for each switch and destination. The ports
 * of minimal paths are in as many rows as such a path has links, and no port of these rows leads
 * away from the destination. A minimal link then completes one of the remaining rows, and a detour
 * none. Every HyperX without missing links meets these conditions, including hypercubes and full
 * meshes.
 *
 * No deadlock: each hop takes the next rung of the ladder (vc_ladder.h), and detours stop while
 * there are still rungs for a minimal path, which has at most one link per dimension. */

struct hyper {
	const struct route_graph *graph;
	struct route_table *table;
	uint32_t to; /* switch of the destination */
	/* By switch, for the current destination. */
	uint32_t *distance, *order;
	unsigned dims;
	struct arrays arrays;
};

static const struct route_arc *arcs_of(const struct route_graph *graph, uint32_t at)
{
	return graph->arc + graph->first_arc[at];
}

static bool is_linked(const struct route_graph *graph, uint32_t a, uint32_t b)
{
	for (const struct route_arc *arc = arcs_of(graph, a); arc < arcs_of(graph, a + 1); arc++)
		if (arc->to == b)
			return true;
	return a == b;
}

static void find_rows(const struct route_graph *graph, uint32_t at, struct vc_rule *rule)
{
	const struct route_arc *first = arcs_of(graph, at);
	uint8_t *row = rule->ring + (size_t)at * VC_RULE_PORTS, rows = 0;

	for (const struct route_arc *arc = first; arc < arcs_of(graph, at + 1); arc++) {
		const struct route_arc *other = first;

		while (other < arc && !is_linked(graph, other->to, arc->to))
			other++;
		row[arc->port] = other < arc ? row[other->port] : rows++;
	}
}

/* Fills the entries of switch 'at' for all hosts of the destination's switch. */
static int fill(struct hyper *hyper, uint32_t at, struct error *error)
{
	const struct route_graph *graph = hyper->graph;
	const struct vc_rule *rule = hyper->table->vc_rule;
	uint32_t links = hyper->distance[at];
	uint64_t ports = 0, away = 0;

	if (links == ROUTE_GRAPH_NONE)
		return 0;
	for (const struct route_arc *arc = arcs_of(graph, at); arc < arcs_of(graph, at + 1); arc++)
		if (hyper->distance[arc->to] != links)
			*(hyper->distance[arc->to] < links ? &ports : &away) |= BIT64(arc->port);
	if (links > VC_RULE_CLASSES_MAX ||
		__builtin_popcountll(vc_ladder_rows(rule, at, ports)) != (int)links ||
		(vc_ladder_row_ports(rule, at, ports) & away) != 0)
		return error_set(error, EINVAL,
			"%s: the links between %s and %s do not form a HyperX; use one with at "
			"most %u dimensions and no missing links",
			graph->topology->name, graph->topology->switch_at[at].name,
			graph->topology->switch_at[hyper->to].name, VC_RULE_CLASSES_MAX);
	if (links > hyper->dims)
		hyper->dims = links;
	for (uint32_t i = graph->first_host[hyper->to]; i < graph->first_host[hyper->to + 1]; i++) {
		uint32_t host = graph->host_of[i];

		route_table_row(hyper->table, at)[host] =
			links == 0 ? graph->host_port[host] : (uint8_t)__builtin_ctzll(ports);
		route_table_alternatives(hyper->table, at)[host] = ports;
	}
	return 0;
}

static int fill_all(struct hyper *hyper, struct error *error)
{
	uint32_t switches = hyper->graph->switches;
	int result = 0;

	for (uint32_t at = 0; at < switches; at++)
		find_rows(hyper->graph, at, hyper->table->vc_rule);
	for (hyper->to = 0; hyper->to < switches && result == 0; hyper->to++) {
		uint32_t count = 0;

		memset(hyper->distance, 0xFF, switches * sizeof(*hyper->distance));
		route_graph_spread(hyper->graph, hyper->to, hyper->distance, hyper->order, &count);
		for (uint32_t at = 0; at < switches && result == 0; at++)
			result = fill(hyper, at, error);
	}
	return result;
}

/* Returns the number of VCs; if it is not limited, enough for as many detours as minimal links. */
static uint8_t choose_classes(unsigned dims, unsigned vcs)
{
	unsigned needed = dims > 0 ? dims : 1, classes = vcs != 0 ? vcs : 2 * needed;

	if (classes < needed)
		return (uint8_t)needed;
	return (uint8_t)(classes < VC_RULE_CLASSES_MAX ? classes : VC_RULE_CLASSES_MAX);
}

static int omni_war_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	struct hyper hyper = {.graph = graph, .table = table};
	int result = topology_check_ports(graph->topology, TOPOLOGY_PORTS_RUN, "detours", error);

	if (result < 0)
		return result;
	ARRAYS_ADD(&hyper, distance, graph->switches);
	ARRAYS_ADD(&hyper, order, graph->switches);
	table->vc_rule = vc_rule_create(graph->switches, 1);
	if (table->vc_rule == NULL || hyper.arrays.failed ||
		route_table_add_alternatives(table, 1) < 0) {
		result = route_graph_no_memory(graph, error);
	} else {
		table->vc_rule->steps = VC_STEPS_OMNI_WAR;
		result = fill_all(&hyper, error);
		table->vc_rule->classes = choose_classes(hyper.dims, options->classes);
	}
	arrays_free(&hyper.arrays);
	return result;
}

const struct route_algorithm route_omni_war = {
	.name = "omni-war",
	.summary = "HyperX: a minimal hop or a detour, chosen from the queues; a VC per dimension "
		   "and per detour",
	.deadlock_free = true,
	.vc_classes = true,
	.ladder = VC_STEPS_OMNI_WAR,
	.tables = omni_war_tables,
};

/* Dimensionally-adaptive, load-balanced routing in a HyperX (Ahn, Binkert, Davis, McLaren,
 * Schreiber, SC 2009), with the tables of omni_war.c. Each hop is a minimal link, or a detour in a
 * row that needs a link, at most once per row. In the paper, a header has a bit for each dimension,
 * and an escape channel in dimension order breaks cycles. Here a packet completes a row directly
 * after its detour there, so the input port tells the switch about the detour. Each hop takes the
 * next rung of the ladder (vc_ladder.h), as with omni-war; the proof is the same. */

static int dal_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	int result = route_omni_war.tables(graph, options, table, error);

	if (result == 0)
		table->vc_rule->steps = VC_STEPS_DAL;
	return result;
}

const struct route_algorithm route_dal = {
	.name = "dal",
	.summary =
		"HyperX: as omni-war, with at most one detour per dimension; 2 VCs per dimension",
	.deadlock_free = true,
	.vc_classes = true,
	.ladder = VC_STEPS_DAL,
	.tables = dal_tables,
};
