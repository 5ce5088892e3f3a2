/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>
#include <string.h>

#include "route/route_path.h"
#include "route/route_set.h"
#include "route/search/fat_tree.h"

/* D-mod-K (Zahavi, "Fat-Trees Routing and Node Ordering Providing Contention Free Traffic for MPI
 * Global Collectives", JPDC 2012; the deterministic routing under ARN and AFI). At level l, 0 at
 * the leaves, a packet for host D that must go up takes up port floor(D / K^l) mod K, counted from
 * 0 by port number. There is one path down. Each switch below the top therefore has equally many
 * destinations on all up ports, and all packets for D come down through the same switches: shift
 * permutations load every link equally.
 *
 * Choices beyond the paper: after a failure the formula counts over the up ports that still lead to
 * D. Among parallel links down, it selects the link that the switch below would choose on the path
 * up to D (with K links up the formula distributes the destinations over them). If that link has
 * failed, it uses the same quotient.
 *
 * D is the number of the host or, if the hosts of a switch are not numbered consecutively, as in
 * many listings, its index among the hosts sorted by switch.
 *
 * If the rates of the up links differ, ports are selected in proportion to their rates.
 *
 * Alternatives are all ports that lead to D without going up after down (fat_tree.h). */

/* Tables. A run is a set of consecutive hosts of one switch. Adjacent runs for which a switch has
 * equal ports are filled as one; in an intact tree, two or three remain in the row of a leaf. */
struct run {
	uint32_t first, end; /* range of hosts */
	uint32_t to;         /* their switch */
};

struct tables {
	const struct fat_tree *tree;
	struct route_table *table;
	struct run *run;
	uint32_t runs;
};

static int list_runs(struct tables *tables)
{
	const struct route_graph *graph = tables->tree->graph;

	tables->run = calloc(graph->hosts + 1u, sizeof(*tables->run));
	if (tables->run == NULL)
		return -ENOMEM;
	for (uint32_t host = 0; host < graph->hosts; host++) {
		uint32_t to = graph->host_switch[host];
		struct run *last = &tables->run[tables->runs - (tables->runs > 0)];

		if (to == ROUTE_GRAPH_NONE)
			continue;
		if (tables->runs > 0 && last->end == host && last->to == to)
			last->end++;
		else
			tables->run[tables->runs++] = (struct run){host, host + 1, to};
	}
	return 0;
}

/* Computes floor(host / divisor) mod count without division. 'set' has at least two ports. */
static void fill_up(const struct tables *tables, uint32_t at, port_set set, uint32_t first,
	uint32_t end, uint8_t *row)
{
	uint32_t divisor = tables->tree->divisor[fat_tree_stage(tables->tree, at)];
	uint32_t count = 0, digit, left = divisor - first % divisor;
	uint8_t port[TOPOLOGY_PORTS_MAX];

	bool each = tables->tree->mixed[at] || tables->tree->scattered;

	for (uint32_t host = first; each && host < end; host++)
		row[host] = (uint8_t)mod_k_up(tables->tree, at, set, host, 0);
	if (each)
		return;
	PORT_SET_EACH(rest, set)
		port[count++] = (uint8_t)port_set_first(rest);
	digit = first / divisor % count;
	for (uint32_t host = first; host < end; host++) {
		row[host] = port[digit];
		if (--left > 0)
			continue;
		left = divisor;
		digit = digit + 1 < count ? digit + 1 : 0;
	}
}

static void fill_own(const struct tables *tables, uint32_t at)
{
	const struct route_graph *graph = tables->tree->graph;
	uint8_t *row = route_table_row(tables->table, at);
	port_set *sets = (port_set *)route_table_alternatives(tables->table, at);

	for (uint32_t i = graph->first_host[at]; i < graph->first_host[at + 1]; i++) {
		uint32_t host = graph->host_of[i];

		row[host] = graph->host_port[host];
		sets[host] = port_set_of(row[host]);
	}
}

/* Fills the entries of hosts on other switches, all reached through the ports of 'set'. */
static void fill_run(
	const struct tables *tables, uint32_t at, port_set set, uint32_t first, uint32_t end)
{
	uint8_t *row = route_table_row(tables->table, at);
	port_set *sets = (port_set *)route_table_alternatives(tables->table, at);

	for (uint32_t host = first; host < end; host++)
		sets[host] = set;
	if (port_set_is_empty(port_set_rest(set)))
		memset(row + first, (int)port_set_first(set), end - first);
	else if (!port_set_is_empty(set & tables->tree->up[at]))
		fill_up(tables, at, set, first, end, row);
	else
		for (uint32_t host = first; host < end; host++)
			row[host] = (uint8_t)mod_k_down(tables->tree, at, set, host);
}

static void fill_switch(const struct tables *tables, uint32_t at)
{
	const struct run *run = tables->run;
	uint32_t i = 0;

	while (i < tables->runs) {
		port_set set = fat_tree_ports(tables->tree, at, run[i].to);
		uint32_t first = i++;

		while (i < tables->runs && run[i].first == run[i - 1].end &&
			port_set_equal(fat_tree_ports(tables->tree, at, run[i].to), set))
			i++;
		if (!port_set_is_empty(set) && run[first].to != at)
			fill_run(tables, at, set, run[first].first, run[i - 1].end);
	}
	fill_own(tables, at);
}

static int fill_tables(void *context, unsigned job, unsigned jobs, struct error *error)
{
	const struct tables *tables = context;

	for (uint32_t at = job; at < tables->table->switches; at += jobs)
		fill_switch(tables, at);
	return 0;
}

static int dmodk_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	struct fat_tree tree;
	struct tables tables = {.tree = &tree, .table = table};
	int result = fat_tree_make(&tree, graph, error);

	if (result < 0)
		return result;
	if (route_table_add_alternatives(table, PORT_SET_WORDS) < 0 || list_runs(&tables) < 0)
		result = route_graph_no_memory(graph, error);
	else
		result = route_jobs_run(options->jobs, fill_tables, &tables, error);
	free(tables.run);
	fat_tree_free(&tree);
	return result;
}

/* Source routes. The first follows the tables. Route number i of a pair is defined by the digits of
 * i, whose bases are the numbers of up ports along the path, starting with the leaf. Each digit is
 * the offset of the port taken from D-mod-K's up port. Different numbers differ in some digit, so
 * their routes differ at some switch, and the first few diverge as early as possible. */

/* Follows route 'number'. Returns false if there is no such route, or no path. */
static bool walk(const struct fat_tree *tree, uint32_t at, uint32_t host, uint32_t number,
	struct route_path *path)
{
	uint32_t to = tree->graph->host_switch[host];

	path->links = 0;
	path->itb = 0;
	while (at != to) {
		port_set set = fat_tree_ports(tree, at, to);
		uint32_t arc;

		if (port_set_is_empty(set))
			return false;
		if (!port_set_is_empty(set & tree->up[at])) {
			uint32_t count = port_set_count(set);

			arc = route_graph_arc_of_port(
				tree->graph, at, mod_k_up(tree, at, set, host, number % count));
			number /= count;
		} else {
			arc = route_graph_arc_of_port(
				tree->graph, at, mod_k_down(tree, at, set, host));
		}
		/* route_path_add() refuses longer paths. */
		if (path->links < ROUTE_LINKS_MAX)
			path->arc[path->links] = arc;
		path->links++;
		at = tree->graph->arc[arc].to;
	}
	return number == 0;
}

struct pairs {
	struct route_maker maker;
	struct fat_tree tree;
};

static int add_pair(const struct route_maker *maker, void *scratch, struct route_set *set,
	uint32_t source, uint32_t destination, struct error *error)
{
	const struct pairs *pairs = (const struct pairs *)maker;
	const struct route_options *options = maker->options;
	const struct route_graph *graph = maker->graph;
	uint32_t at = graph->host_switch[source], to = graph->host_switch[destination];
	/* In a degraded tree, a number may be too large after some first hops only. */
	uint32_t tries = at == to ? 1 : 4 * options->alternatives;
	unsigned added = 0;
	int result = 0;

	for (uint32_t i = 0; i < tries && added < options->alternatives && result == 0; i++) {
		struct route_path path;

		if (!walk(&pairs->tree, at, destination, i, &path))
			continue;
		result = route_path_add(graph, options, set, source, destination, &path, error);
		added++;
	}
	return result;
}

/* All hosts of a leaf have the same routes. */
static uint32_t row(const struct route_maker *maker, uint32_t host)
{
	return maker->graph->host_switch[host];
}

static unsigned elements(const struct route_maker *maker, uint32_t from, uint32_t to)
{
	return fat_tree_elements(&((const struct pairs *)maker)->tree, from, to);
}

static void destroy(struct route_maker *maker)
{
	struct pairs *pairs = (struct pairs *)maker;

	fat_tree_free(&pairs->tree);
	free(pairs);
}

static int dmodk_pairs(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error)
{
	struct pairs *pairs = calloc(1, sizeof(*pairs));
	int result;

	*maker = NULL;
	if (pairs == NULL)
		return route_graph_no_memory(graph, error);
	result = fat_tree_make(&pairs->tree, graph, error);
	if (result < 0) {
		free(pairs);
		return result;
	}
	pairs->maker = (struct route_maker){
		.graph = graph,
		.options = options,
		.complete = options->on_demand && fat_tree_measure(&pairs->tree, ROUTE_LINKS_USUAL),
		.add = add_pair,
		.row = row,
		.elements = elements,
		.destroy = destroy,
	};
	*maker = &pairs->maker;
	return 0;
}

static int dmodk_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	return route_maker_fill(dmodk_pairs, graph, options, set, error);
}

#ifndef PORT_SET_WIDE
extern const struct route_algorithm route_dmodk_wide;
#endif

const struct route_algorithm route_dmodk = {
#ifndef PORT_SET_WIDE
	.wide = &route_dmodk_wide,
#endif
	.name = "dmodk",
	.summary = "D-mod-K for fat trees: up port floor(D / K^level) mod K, one path down",
	.deadlock_free = true,
	.adaptive = true,
	.routes = dmodk_routes,
	.pairs = dmodk_pairs,
	.tables = dmodk_tables,
};
