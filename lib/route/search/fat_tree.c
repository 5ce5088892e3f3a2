/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fat_tree.h"

#include <stdlib.h>
#include <string.h>

#include "topo/topology.h"

static int check_switch(const struct fat_tree *tree, uint32_t at, struct error *error)
{
	const struct route_graph *graph = tree->graph;
	const struct topology *topology = graph->topology;

	if (fat_tree_stage(tree, at) == TOPOLOGY_NO_STAGE)
		return error_set(error, EINVAL,
			"%s: switch %s has no stage; in a fat tree, stages must start at 1 next "
			"to the hosts",
			topology->name, topology->switch_at[at].name);
	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
		uint32_t to = graph->arc[arc].to;

		if (fat_tree_stage(tree, to) == fat_tree_stage(tree, at))
			return error_set(error, EINVAL,
				"%s: switches %s and %s are linked within stage %u; in a fat "
				"tree, all links must be between stages",
				topology->name, topology->switch_at[at].name,
				topology->switch_at[to].name, fat_tree_stage(tree, at));
	}
	return 0;
}

static unsigned gcd(unsigned a, unsigned b)
{
	return b == 0 ? a : gcd(b, a % b);
}

#define WEIGHT_STEPS 4 /* weight of the slowest up link, before reduction */
#define WEIGHT_MAX   64

/* Sets 'weight' for the up arcs of a switch, divided by their common divisor. Returns the sum. */
static unsigned weigh_ups(struct fat_tree *tree, uint32_t at)
{
	const struct route_graph *graph = tree->graph;
	uint32_t slowest = 0;
	unsigned common = 0, sum = 0;

	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
		if (port_set_has(tree->up[at], graph->arc[arc].port) &&
			graph->arc[arc].cost > slowest)
			slowest = graph->arc[arc].cost;
	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
		unsigned cost = graph->arc[arc].cost;
		unsigned weight = (WEIGHT_STEPS * slowest + cost / 2) / cost;

		if (!port_set_has(tree->up[at], graph->arc[arc].port))
			continue;
		tree->weight[arc] = (uint8_t)(weight < WEIGHT_MAX ? weight : WEIGHT_MAX);
		common = gcd(tree->weight[arc], common);
	}
	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
		tree->weight[arc] = common > 0 ? (uint8_t)(tree->weight[arc] / common) : 0;
		tree->mixed[at] |= tree->weight[arc] > 1;
		sum += tree->weight[arc];
	}
	return sum;
}

static void find_ups(struct fat_tree *tree)
{
	const struct route_graph *graph = tree->graph;
	uint32_t arity[FAT_TREE_STAGES] = {0};

	for (uint32_t at = 0; at < graph->switches; at++) {
		unsigned stage = fat_tree_stage(tree, at), ups;

		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			if (fat_tree_stage(tree, graph->arc[arc].to) > stage)
				tree->up[at] |= port_set_of(graph->arc[arc].port);
		ups = weigh_ups(tree, at);
		arity[stage] = ups > arity[stage] ? ups : arity[stage];
	}
	tree->divisor[0] = tree->divisor[1] = 1;
	for (unsigned stage = 2; stage < FAT_TREE_STAGES; stage++) {
		uint64_t product = (uint64_t)tree->divisor[stage - 1] *
				   (arity[stage - 1] > 0 ? arity[stage - 1] : 1);

		tree->divisor[stage] = product < UINT32_MAX ? (uint32_t)product : UINT32_MAX;
	}
}

static void sort_by_stage(const struct fat_tree *tree, uint32_t *order)
{
	uint32_t first[FAT_TREE_STAGES + 1] = {0};

	for (uint32_t at = 0; at < tree->graph->switches; at++)
		first[fat_tree_stage(tree, at) + 1]++;
	for (unsigned stage = 0; stage < FAT_TREE_STAGES; stage++)
		first[stage + 1] += first[stage];
	for (uint32_t at = 0; at < tree->graph->switches; at++)
		order[first[fat_tree_stage(tree, at)]++] = at;
}

static port_set *row_of(const struct fat_tree *tree, uint32_t at)
{
	return tree->ports + (size_t)at * tree->columns;
}

/* Adds 'port' to 'row' for all destinations that the neighbour reaches. */
static void add_port(port_set *row, const port_set *neighbour, uint32_t columns, unsigned port)
{
	const port_set bit = port_set_of(port);

	for (uint32_t i = 0; i < columns; i++)
		row[i] |= port_set_is_empty(neighbour[i]) ? PORT_SET_NONE : bit;
}

static void descend(struct fat_tree *tree, uint32_t at)
{
	const struct route_graph *graph = tree->graph;

	for (uint32_t i = graph->first_host[at]; i < graph->first_host[at + 1]; i++)
		row_of(tree, at)[tree->column[at]] |=
			port_set_of(graph->host_port[graph->host_of[i]]);
	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
		if (!port_set_has(tree->up[at], graph->arc[arc].port))
			add_port(row_of(tree, at), row_of(tree, graph->arc[arc].to), tree->columns,
				graph->arc[arc].port);
}

/* Adds the up ports of a row. The rows above are complete; this row only has descending paths. */
static void climb(struct fat_tree *tree, uint32_t at, port_set *ups)
{
	const struct route_graph *graph = tree->graph;
	port_set *row = row_of(tree, at);

	memset(ups, 0, tree->columns * sizeof(*ups));
	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
		if (port_set_has(tree->up[at], graph->arc[arc].port))
			add_port(ups, row_of(tree, graph->arc[arc].to), tree->columns,
				graph->arc[arc].port);
	for (uint32_t i = 0; i < tree->columns; i++)
		row[i] = port_set_is_empty(row[i]) ? ups[i] : row[i];
}

static int fill_rows(struct fat_tree *tree)
{
	uint32_t switches = tree->graph->switches;
	struct arrays scratch = {0};
	uint32_t *order = arrays_add(&scratch, switches, sizeof(*order));
	port_set *ups = arrays_add(&scratch, tree->columns, sizeof(*ups));
	int result = scratch.failed ? -ENOMEM : 0;

	if (result == 0) {
		sort_by_stage(tree, order);
		for (uint32_t i = 0; i < switches; i++)
			descend(tree, order[i]);
		for (uint32_t i = switches; i-- > 0;)
			climb(tree, order[i], ups);
	}
	arrays_free(&scratch);
	return result;
}

/* Returns the switch of a host, even if its link has failed; ROUTE_GRAPH_NONE: unknown. */
static uint32_t home_of(const struct route_graph *graph, uint32_t host)
{
	uint32_t at = graph->host_switch[host];

	return at != ROUTE_GRAPH_NONE ? at : graph->topology->host_at[host].home - 1;
}

/* Ranks the hosts by switch. In listings, the numbers of hosts need not follow the switches, and
 * the formula distributes the hosts of a switch over its links only if their numbers are
 * consecutive. A host's failed link changes no other host's rank. */
static int rank_hosts(struct fat_tree *tree)
{
	const struct route_graph *graph = tree->graph;
	uint32_t *next = calloc(graph->switches + 1u, sizeof(*next)), last = ROUTE_GRAPH_NONE;

	if (next == NULL)
		return -ENOMEM;
	for (uint32_t host = 0; host < graph->hosts; host++) {
		uint32_t home = home_of(graph, host);

		tree->rank[host] = host;
		if (home == ROUTE_GRAPH_NONE)
			continue;
		tree->scattered |= home != last && next[home + 1] > 0;
		next[home + 1]++;
		last = home;
	}
	for (uint32_t at = 0; at < graph->switches; at++)
		next[at + 1] += next[at];
	for (uint32_t host = 0; tree->scattered && host < graph->hosts; host++)
		if (home_of(graph, host) != ROUTE_GRAPH_NONE)
			tree->rank[host] = next[home_of(graph, host)]++;
	free(next);
	return 0;
}

int fat_tree_make(struct fat_tree *tree, const struct route_graph *graph, struct error *error)
{
	int result =
		topology_check_ports(graph->topology, PORT_SET_LIMIT, "sets of ports up", error);

	*tree = (struct fat_tree){.graph = graph};
	for (uint32_t at = 0; at < graph->switches && result == 0; at++)
		result = check_switch(tree, at, error);
	if (result < 0)
		return result;
	ARRAYS_ADD(tree, column, graph->switches + 1u);
	ARRAYS_ADD(tree, up, graph->switches + 1u);
	ARRAYS_ADD(tree, mixed, graph->switches + 1u);
	ARRAYS_ADD(tree, weight, graph->arcs + 1u);
	ARRAYS_ADD(tree, rank, graph->hosts + 1u);
	if (tree->arrays.failed)
		goto err;
	for (uint32_t at = 0; at < graph->switches; at++)
		tree->column[at] =
			route_graph_hosts_at(graph, at) > 0 ? tree->columns++ : ROUTE_GRAPH_NONE;
	find_ups(tree);
	ARRAYS_ADD(tree, ports, (size_t)graph->switches * tree->columns + 1);
	if (tree->ports != NULL && rank_hosts(tree) == 0 && fill_rows(tree) == 0)
		return 0;
err:
	fat_tree_free(tree);
	return route_graph_no_memory(graph, error);
}

/* Measures the paths of a switch that start upwards, or those that start downwards. The neighbours
 * in that direction must have been measured. Returns false if lengths differ, or exceed 'max'. */
static bool measure_row(struct fat_tree *tree, uint32_t at, bool climbing, unsigned max)
{
	const struct route_graph *graph = tree->graph;
	const port_set *ports = row_of(tree, at);
	uint8_t *own = tree->links + (size_t)at * tree->columns;

	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
		const uint8_t *next = tree->links + (size_t)graph->arc[arc].to * tree->columns;
		unsigned port = graph->arc[arc].port;

		if (port_set_has(tree->up[at], port) != climbing)
			continue;
		for (uint32_t i = 0; i < tree->columns; i++) {
			if (!port_set_has(ports[i], port))
				continue;
			if (next[i] > max || (own[i] != 0 && own[i] != next[i] + 1))
				return false;
			own[i] = next[i] + 1;
		}
	}
	return true;
}

static bool measures(const struct fat_tree *tree)
{
	for (uint32_t at = 0; at < tree->graph->switches; at++)
		if (tree->column[at] != ROUTE_GRAPH_NONE &&
			memchr(tree->links + (size_t)at * tree->columns, 0, tree->columns) != NULL)
			return false;
	return true;
}

bool fat_tree_measure(struct fat_tree *tree, unsigned max)
{
	uint32_t switches = tree->graph->switches;
	uint32_t *order = arrays_add(&tree->arrays, switches, sizeof(*order));
	bool good = true;

	ARRAYS_ADD(tree, links, (size_t)switches * tree->columns + 1);
	if (tree->arrays.failed)
		return false;
	sort_by_stage(tree, order);
	for (uint32_t at = 0; at < switches; at++)
		if (tree->column[at] != ROUTE_GRAPH_NONE)
			tree->links[(size_t)at * tree->columns + tree->column[at]] = 1;
	for (uint32_t i = 0; i < switches && good; i++)
		good = measure_row(tree, order[i], false, max);
	for (uint32_t i = switches; i-- > 0 && good;)
		good = measure_row(tree, order[i], true, max);
	return good && measures(tree);
}

void fat_tree_free(struct fat_tree *tree)
{
	arrays_free(&tree->arrays);
}

/* --- mod k --- */

static unsigned nth_port(port_set set, uint32_t n)
{
	while (n-- > 0)
		set = port_set_rest(set);
	return port_set_first(set);
}

static uint32_t quotient(const struct fat_tree *tree, uint32_t at, uint32_t host)
{
	return tree->rank[host] / tree->divisor[fat_tree_stage(tree, at)];
}

/* Returns the index in 'set' of the port for a number; a port counts as often as its weight. */
static uint32_t weighted_place(
	const struct fat_tree *tree, uint32_t at, port_set set, uint32_t number)
{
	const struct route_graph *graph = tree->graph;
	uint32_t sum = 0, place = 0;

	for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
		if (port_set_has(set, graph->arc[arc].port))
			sum += tree->weight[arc];
	number %= sum;
	for (uint32_t arc = graph->first_arc[at];; arc++) {
		if (!port_set_has(set, graph->arc[arc].port))
			continue;
		if (number < tree->weight[arc])
			return place;
		number -= tree->weight[arc];
		place++;
	}
}

unsigned mod_k_up(
	const struct fat_tree *tree, uint32_t at, port_set set, uint32_t host, uint32_t shift)
{
	uint32_t count = port_set_count(set), place = quotient(tree, at, host);

	if (tree->mixed[at])
		place = weighted_place(tree, at, set, place);
	return nth_port(set, (place + shift) % count);
}

unsigned mod_k_down(const struct fat_tree *tree, uint32_t at, port_set set, uint32_t host)
{
	const struct route_arc *arc = tree->graph->arc;
	uint32_t below = 0;

	if (port_set_is_empty(port_set_rest(set)))
		return port_set_first(set);
	PORT_SET_EACH(rest, set) {
		unsigned port = port_set_first(rest);
		uint32_t down = route_graph_arc_of_port(tree->graph, at, port);

		below = arc[down].to;
		if (mod_k_up(tree, below, tree->up[below], host, 0) == arc[arc[down].back].port)
			return port;
	}
	return nth_port(set, quotient(tree, below, host) % port_set_count(set));
}
