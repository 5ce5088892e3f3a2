/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <string.h>

#include "up_down.h"

/* Destination tables. A table does not depend on where a packet comes from, so "no up after down"
 * must follow from the rule alone:
 *     1. A switch that can reach the destination over down arcs alone uses a shortest such path.
 *     2. Any other switch uses an up arc towards the neighbour of lowest cost, where the cost of a
 *        switch is the length of the path that these two rules yield.
 * Proof that no up follows a down: the switch after a down arc of rule 1 also has a path of down
 * arcs only, one link shorter, so rule 1 applies until the destination. Rule 2 always finds an arc:
 * up arcs eventually lead to the root of the component, and the root reaches every switch of its
 * component along the tree over down arcs alone. Costs fall by one with each link, so there is no
 * loop. The paths are shortest unless rule 1 forces a longer one.
 *
 * Among equal choices the rules select the arc whose load, including this traffic, is smallest,
 * counted in pairs of hosts divided by the rate. If several loads are equal, or no packets pass,
 * they choose as D-mod-K does: the search starts at floor(D / c^(stage - 1)) mod c for c choices.
 * In a fat tree this yields D-mod-K itself. */

#define NO_WAY UINT32_MAX

struct tables {
	const struct route_graph *graph;
	const struct up_down_labels *labels;
	struct route_table *table;
	uint32_t *cost;        /* by switch: links to the destination under the two rules */
	bool *descends;        /* rule 1 applies */
	uint32_t *by_cost;     /* switches that reach the destination, the farthest first */
	uint32_t *first_count; /* scratch space of the counting sort */
	uint32_t *first_choice;
	uint32_t *choice; /* switch s: from choice[first_choice[s]] on */
	uint64_t *load;   /* by arc: number of host pairs so far */
	uint64_t *flow;   /* by switch: number of sources whose packets pass */
	struct arrays arrays;
};

static int tables_allocate(struct tables *tables)
{
	size_t switches = tables->graph->switches + 2u, arcs = tables->graph->arcs + 1u;

	ARRAYS_ADD(tables, cost, switches);
	ARRAYS_ADD(tables, descends, switches);
	ARRAYS_ADD(tables, by_cost, switches);
	ARRAYS_ADD(tables, first_count, switches);
	ARRAYS_ADD(tables, first_choice, switches);
	ARRAYS_ADD(tables, choice, arcs);
	ARRAYS_ADD(tables, load, arcs);
	ARRAYS_ADD(tables, flow, switches);
	return tables->arrays.failed ? -ENOMEM : 0;
}

/* Rule 1: computes the lengths of paths over down arcs alone, backwards from the destination. */
static void cost_down(struct tables *tables, uint32_t destination)
{
	const struct route_graph *graph = tables->graph;
	uint32_t *queue = tables->by_cost, head = 0, tail = 0;

	memset(tables->cost, 0xFF, graph->switches * sizeof(*tables->cost));
	memset(tables->descends, 0, graph->switches * sizeof(*tables->descends));
	tables->cost[destination] = 0;
	tables->descends[destination] = true;
	for (queue[tail++] = destination; head < tail; head++) {
		uint32_t at = queue[head];

		for (uint32_t out = graph->first_arc[at]; out < graph->first_arc[at + 1]; out++) {
			uint32_t from = graph->arc[out].to;

			if (tables->labels->up[graph->arc[out].back] || tables->descends[from])
				continue;
			tables->descends[from] = true;
			tables->cost[from] = tables->cost[at] + 1;
			queue[tail++] = from;
		}
	}
}

/* Rule 2: proceeds in label order, so that the cost of each neighbour above is known. */
static void cost_up(struct tables *tables)
{
	const struct route_graph *graph = tables->graph;

	for (uint32_t i = 0; i < graph->switches; i++) {
		uint32_t at = tables->labels->order[i];

		if (tables->descends[at])
			continue;
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
			uint32_t above = tables->cost[graph->arc[arc].to];

			if (tables->labels->up[arc] && above != NO_WAY &&
				above + 1 < tables->cost[at])
				tables->cost[at] = above + 1;
		}
	}
}

static void list_choices(struct tables *tables)
{
	const struct route_graph *graph = tables->graph;
	uint32_t choices = 0;

	for (uint32_t at = 0; at < graph->switches; at++) {
		uint32_t cost = tables->cost[at];

		tables->first_choice[at] = choices;
		if (cost == 0 || cost == NO_WAY)
			continue;
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
			uint32_t to = graph->arc[arc].to;

			if (tables->labels->up[arc] == tables->descends[at] ||
				(tables->descends[at] && !tables->descends[to]))
				continue;
			if (tables->cost[to] == cost - 1)
				tables->choice[choices++] = arc;
		}
	}
	tables->first_choice[graph->switches] = choices;
}

/* Counting sort, largest cost first. Returns the number of switches that reach the destination. */
static uint32_t sort_by_cost(struct tables *tables)
{
	uint32_t switches = tables->graph->switches, *first = tables->first_count, reach = 0;

	memset(first, 0, (switches + 2u) * sizeof(*first));
	for (uint32_t at = 0; at < switches; at++)
		if (tables->cost[at] != NO_WAY)
			first[tables->cost[at]]++;
	for (uint32_t cost = switches; cost-- > 0;) {
		uint32_t here = first[cost];

		first[cost] = reach;
		reach += here;
	}
	for (uint32_t at = 0; at < switches; at++)
		if (tables->cost[at] != NO_WAY)
			tables->by_cost[first[tables->cost[at]]++] = at;
	return reach;
}

/* Returns D-mod-K's choice, where the search for the least loaded of 'choices' arcs starts. */
static uint32_t first_try(
	const struct route_graph *graph, uint32_t at, uint32_t host, uint32_t choices)
{
	for (unsigned stage = graph->topology->switch_at[at].stage; stage > 1 && host > 0; stage--)
		host /= choices;
	return host % choices;
}

static uint32_t choose_arc(const struct tables *tables, uint32_t at, uint32_t host)
{
	const uint32_t *choice = tables->choice + tables->first_choice[at];
	uint32_t choices = tables->first_choice[at + 1] - tables->first_choice[at];
	uint32_t start = first_try(tables->graph, at, host, choices);
	const struct route_arc *arcs = tables->graph->arc;
	uint64_t flow = tables->flow[at];
	uint32_t best = choice[start];

	if (flow == 0)
		return best;
	for (uint32_t i = start + 1; i < start + choices; i++) {
		uint32_t arc = choice[i < choices ? i : i - choices];

		if ((tables->load[arc] + flow) * arcs[arc].cost <
			(tables->load[best] + flow) * arcs[best].cost)
			best = arc;
	}
	return best;
}

/* Fills the entries of one destination host, from the farthest switch to the nearest, so that the
 * number of sources that pass a switch is known when it chooses. */
static void fill_host(struct tables *tables, uint32_t host, uint32_t reach)
{
	const struct route_graph *graph = tables->graph;

	for (uint32_t i = 0; i < reach; i++)
		tables->flow[tables->by_cost[i]] = route_graph_hosts_at(graph, tables->by_cost[i]);
	for (uint32_t i = 0; i < reach; i++) {
		uint32_t at = tables->by_cost[i], arc;

		if (tables->cost[at] == 0) {
			route_table_row(tables->table, at)[host] = graph->host_port[host];
			continue;
		}
		arc = choose_arc(tables, at, host);
		tables->load[arc] += tables->flow[at];
		tables->flow[graph->arc[arc].to] += tables->flow[at];
		route_table_row(tables->table, at)[host] = graph->arc[arc].port;
	}
}

int up_down_tables_of_labels(const struct route_graph *graph, const struct up_down_labels *labels,
	struct route_table *table, struct error *error)
{
	struct tables tables = {.graph = graph, .labels = labels, .table = table};
	int result = 0;

	if (tables_allocate(&tables) < 0)
		result = route_graph_no_memory(graph, error);
	for (uint32_t at = 0; at < graph->switches && result == 0; at++) {
		uint32_t reach;

		if (route_graph_hosts_at(graph, at) == 0)
			continue;
		cost_down(&tables, at);
		cost_up(&tables);
		list_choices(&tables);
		reach = sort_by_cost(&tables);
		for (uint32_t i = graph->first_host[at]; i < graph->first_host[at + 1]; i++)
			fill_host(&tables, graph->host_of[i], reach);
	}
	arrays_free(&tables.arrays);
	return result;
}

int up_down_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	struct up_down_labels labels;
	int result = up_down_labels_make(graph, options->root, &labels, error);

	if (result < 0)
		return result;
	result = up_down_tables_of_labels(graph, &labels, table, error);
	up_down_labels_free(&labels);
	return result;
}
