/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdbool.h>
#include <stdlib.h>

#include "bits.h"
#include "rng.h"
#include "route_grid.h"
#include "route_jobs.h"
#include "route_path.h"

/*
 * Dimension order (Dally and Seitz, 1987; e-cube in hypercubes): a message completes its path in
 * dimension 0, then in dimension 1, and so on, in each ring the shorter way around.
 *
 * No deadlock. Dependencies between dimensions lead to higher ones only. Within a row they keep
 * their direction and end at the row's end. Within a ring (vc_rule.h) the channels before the
 * dateline are used in class 0, the dateline and those after it in class 1. A path within a ring is
 * shorter than the ring, so it crosses the dateline, the link between its last position and
 * position 0, at most once: no channel of class 1 is followed by the dateline's.
 *
 * Failures. If the shorter way is broken the message goes the other way around the same ring. The
 * proof still holds: that way too is shorter than the ring and crosses the dateline at most once.
 * If it is broken as well, the pair has no route.
 *
 * In rings of even size both ways to the opposite switch are equally long. A parity chooses: the
 * positions of the two hosts at their switches, the position in the ring where the message starts,
 * and a bit of the seed for each dimension. So every ring gets half of them in each direction, in a
 * ring of 4n switches the same number on every link. Tables do not know the source host and treat
 * it as the first of its switch; their paths are shortest too, because one step further there is no
 * tie.
 */

struct dor {
	const struct route_grid *grid;
	const struct route_options *options;
	struct route_set *set;
	struct route_table *table;
	uint64_t turned; /* by dimension: the seed's bit */
	const uint8_t
		*rank; /* of hosts: the last bit of the position among those of their switch */
};

/* Appends arcs from 'at' in one direction; the length may exceed the limit, which route_path_add()
 * refuses. The switch reached, or ROUTE_GRAPH_NONE if a link is missing. */
static uint32_t go(const struct route_grid *grid, uint32_t at, unsigned dim, unsigned back,
	uint32_t steps, struct route_path *path)
{
	while (steps-- > 0) {
		uint32_t arc = route_grid_arc(grid, at, dim, back);

		if (arc == ROUTE_GRAPH_NONE)
			return ROUTE_GRAPH_NONE;
		if (path->links < ROUTE_LINKS_MAX)
			path->arc[path->links] = arc;
		path->links++;
		at = grid->graph->arc[arc].to;
	}
	return at;
}

/* From 'at' to the position of 'to' in one dimension. */
static uint32_t cross(const struct dor *dor, uint32_t at, uint32_t to, unsigned dim,
	unsigned parity, struct route_path *path)
{
	const struct route_grid *grid = dor->grid;
	int32_t here = route_grid_place(grid, at, dim), there = route_grid_place(grid, to, dim);
	uint32_t period = grid->period[dim], on, links = path->links, end;
	unsigned back;

	if (here == there)
		return at;
	if (period == 0)
		return go(grid, at, dim, there < here, (uint32_t)abs(there - here), path);
	on = (uint32_t)(there < here ? there + (int32_t)period - here : there - here);
	back = on > period - on;
	if (2 * on == period)
		back = (parity + (unsigned)here + (unsigned)(dor->turned >> dim)) & 1;
	end = go(grid, at, dim, back, back ? period - on : on, path);
	if (end != ROUTE_GRAPH_NONE)
		return end;
	path->links = links;
	return go(grid, at, dim, !back, back ? on : period - on, path);
}

/* False if both ways are broken. */
static bool find_way(
	const struct dor *dor, uint32_t at, uint32_t to, unsigned parity, struct route_path *path)
{
	path->links = 0;
	path->itb = 0;
	if (dor->grid->piece[at] != dor->grid->piece[to])
		return false;
	for (unsigned dim = 0; dim < dor->grid->dims && at != ROUTE_GRAPH_NONE; dim++)
		at = cross(dor, at, to, dim, parity, path);
	return at == to;
}

static int add_destination(const struct dor *dor, uint32_t destination, struct fault *fault)
{
	const struct route_graph *graph = dor->grid->graph;
	uint32_t to = graph->host_switch[destination];

	for (uint32_t source = 0; source < graph->hosts; source++) {
		uint32_t at = graph->host_switch[source];
		unsigned parity = dor->rank[source] + dor->rank[destination];
		struct route_path path;
		int result;

		if (source == destination || at == ROUTE_GRAPH_NONE ||
			!find_way(dor, at, to, parity, &path))
			continue;
		result = route_path_add(
			graph, dor->options, dor->set, source, destination, &path, fault);
		if (result < 0)
			return result;
	}
	return 0;
}

static int fill_routes(void *context, unsigned job, unsigned jobs, struct fault *fault)
{
	const struct dor *dor = context;
	const struct route_graph *graph = dor->grid->graph;
	int result = 0;

	for (uint32_t to = job; to < graph->hosts && result == 0; to += jobs)
		if (graph->host_switch[to] != ROUTE_GRAPH_NONE)
			result = add_destination(dor, to, fault);
	return result;
}

static void fill_entries(const struct dor *dor, uint32_t at, uint32_t to)
{
	const struct route_graph *graph = dor->grid->graph;
	uint8_t *row = route_table_row(dor->table, at), port[2];

	for (unsigned parity = 0; parity < 2; parity++) {
		struct route_path path;
		bool found = find_way(dor, at, to, parity, &path) && path.links > 0;

		port[parity] = found ? graph->arc[path.arc[0]].port : ROUTE_TABLE_NONE;
	}
	for (uint32_t i = graph->first_host[to]; i < graph->first_host[to + 1]; i++) {
		uint32_t host = graph->host_of[i];

		row[host] = at == to ? graph->host_port[host] : port[dor->rank[host]];
	}
}

static int fill_tables(void *context, unsigned job, unsigned jobs, struct fault *fault)
{
	const struct dor *dor = context;
	const struct route_graph *graph = dor->grid->graph;

	(void)fault;
	for (uint32_t at = job; at < graph->switches; at += jobs)
		for (uint32_t to = 0; to < graph->switches; to++)
			if (route_graph_hosts_at(graph, to) > 0)
				fill_entries(dor, at, to);
	return 0;
}

/* The forward links from the last position of a ring to position 0 are the datelines. NULL with
 * errno. */
static struct vc_rule *make_rule(const struct route_grid *grid)
{
	struct vc_rule *rule = vc_rule_create(grid->graph->switches, 2);

	for (uint32_t at = 0; rule != NULL && at < grid->graph->switches; at++)
		for (unsigned dim = 0; dim < grid->dims; dim++) {
			uint32_t period = grid->period[dim];

			for (unsigned back = 0; back < 2 && period != 0; back++) {
				uint32_t arc = route_grid_arc(grid, at, dim, back);
				uint32_t last = back ? 0 : period - 1;
				unsigned port;

				if (arc == ROUTE_GRAPH_NONE)
					continue;
				port = grid->graph->arc[arc].port;
				rule->ring[(size_t)at * TOPOLOGY_PORTS_MAX + port] = (uint8_t)dim;
				if ((uint32_t)route_grid_place(grid, at, dim) == last)
					rule->dateline[at] |= BIT64(port);
			}
		}
	return rule;
}

static bool has_rings(const struct route_grid *grid)
{
	for (unsigned dim = 0; dim < grid->dims; dim++)
		if (grid->period[dim] != 0)
			return true;
	return false;
}

static uint8_t *rank_hosts(const struct route_graph *graph)
{
	uint8_t *rank = calloc(graph->hosts + 1u, sizeof(*rank));

	for (uint32_t at = 0; rank != NULL && at < graph->switches; at++)
		for (uint32_t i = graph->first_host[at]; i < graph->first_host[at + 1]; i++)
			rank[graph->host_of[i]] = (i - graph->first_host[at]) & 1;
	return rank;
}

static int compute(struct dor *dor, const struct route_graph *graph, struct fault *fault)
{
	struct route_grid grid;
	struct vc_rule *rule = NULL;
	uint8_t *rank = NULL;
	struct rng rng;
	int result = route_grid_make(&grid, graph, fault);

	if (result < 0)
		return result;
	rng_init(&rng, dor->options->seed, 0, 0);
	dor->turned = rng_next(&rng);
	dor->grid = &grid;
	dor->rank = rank = rank_hosts(graph);
	if (has_rings(&grid))
		rule = make_rule(&grid);
	if (rank == NULL || (has_rings(&grid) && rule == NULL)) {
		vc_rule_destroy(rule);
		result = route_graph_no_memory(graph, fault);
		goto out;
	}
	if (dor->set != NULL)
		route_set_use_vc_rule(dor->set, rule);
	else
		dor->table->vc_rule = rule;
	result = route_jobs_run(
		dor->options->jobs, dor->set != NULL ? fill_routes : fill_tables, dor, fault);
out:
	free(rank);
	route_grid_free(&grid);
	return result;
}

static int dor_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct fault *fault)
{
	struct dor dor = {.options = options, .set = set};

	return compute(&dor, graph, fault);
}

static int dor_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct fault *fault)
{
	struct dor dor = {.options = options, .table = table};

	return compute(&dor, graph, fault);
}

const struct route_algorithm route_dor = {
	.name = "dor",
	.vc_classes = true,
	.summary = "dimension order for meshes, tori and hypercubes, with dateline VCs",
	.deadlock_free = true,
	.routes = dor_routes,
	.tables = dor_tables,
};
