/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "dimension_order.h"

#include <stdlib.h>

#include "base/port_set.h"
#include "base/rng.h"

#define TURNED_BY_PORT 0x5555555555555555u

/* Appends arcs from 'at' in one direction. The length may exceed the limit; route_path_add() then
 * refuses the path. Returns the switch reached, or ROUTE_GRAPH_NONE if a link is missing. */
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

/* Appends the links from 'at' to the position of 'to' in one dimension. */
static uint32_t cross(const struct dimension_order *order, uint32_t at, uint32_t to, unsigned dim,
	unsigned parity, struct route_path *path)
{
	const struct route_grid *grid = &order->grid;
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
		back = (parity + (unsigned)here + (unsigned)(order->turned >> dim)) & 1;
	end = go(grid, at, dim, back, back ? period - on : on, path);
	if (end != ROUTE_GRAPH_NONE)
		return end;
	path->links = links;
	return go(grid, at, dim, !back, back ? on : period - on, path);
}

bool dimension_order_find(const struct dimension_order *order, uint32_t at, uint32_t to,
	unsigned parity, struct route_path *path)
{
	path->links = 0;
	path->itb = 0;
	if (order->grid.piece[at] != order->grid.piece[to])
		return false;
	for (unsigned dim = 0; dim < order->grid.dims && at != ROUTE_GRAPH_NONE; dim++)
		at = cross(order, at, to, dim, parity, path);
	return at == to;
}

/* Returns the number of positions in a dimension; 0 if it lacks links. */
static uint32_t extent_of(const struct route_grid *grid, unsigned dim)
{
	uint32_t switches = grid->graph->switches;
	int32_t last = 0;

	for (uint32_t at = 0; at < switches; at++)
		last = route_grid_place(grid, at, dim) > last ? route_grid_place(grid, at, dim)
							      : last;
	for (uint32_t at = 0; at < switches; at++)
		for (unsigned back = 0; back < 2; back++)
			if (route_grid_arc(grid, at, dim, back) == ROUTE_GRAPH_NONE &&
				(grid->period[dim] != 0 ||
					route_grid_place(grid, at, dim) != (back ? 0 : last)))
				return 0;
	return (uint32_t)last + 1;
}

bool dimension_order_is_whole(const struct dimension_order *order, unsigned *longest)
{
	const struct route_grid *grid = &order->grid;
	uint64_t cells = 1;

	*longest = 0;
	for (uint32_t at = 0; at < grid->graph->switches; at++)
		if (grid->piece[at] != grid->piece[0])
			return false;
	for (unsigned dim = 0; dim < grid->dims && cells <= grid->graph->switches; dim++) {
		uint32_t extent = extent_of(grid, dim);

		cells *= extent;
		*longest += grid->period[dim] != 0 || extent == 0 ? extent / 2 : extent - 1;
	}
	return cells == grid->graph->switches;
}

unsigned dimension_order_links(const struct dimension_order *order, uint32_t at, uint32_t to)
{
	const struct route_grid *grid = &order->grid;
	unsigned links = 0;

	for (unsigned dim = 0; dim < grid->dims; dim++) {
		uint32_t on = (uint32_t)abs(
			route_grid_place(grid, to, dim) - route_grid_place(grid, at, dim));
		uint32_t round = grid->period[dim] - on; /* wraps to a large value without a ring */

		links += on < round ? on : round;
	}
	return links;
}

bool dimension_order_has_rings(const struct dimension_order *order)
{
	for (unsigned dim = 0; dim < order->grid.dims; dim++)
		if (order->grid.period[dim] != 0)
			return true;
	return false;
}

static void add_port(const struct dimension_order *order, uint32_t at, unsigned dim, unsigned back,
	struct vc_rule *rule)
{
	uint32_t arc = route_grid_arc(&order->grid, at, dim, back);
	uint32_t period = order->grid.period[dim], last = back ? 0 : period - 1;
	unsigned port;

	if (arc == ROUTE_GRAPH_NONE)
		return;
	port = order->grid.graph->arc[arc].port;
	rule->ring[(size_t)at * VC_RULE_PORTS + port] = (uint8_t)dim;
	if (period != 0 && (uint32_t)route_grid_place(&order->grid, at, dim) == last)
		rule->dateline[at] |= BIT64(port);
}

struct vc_rule *dimension_order_rule(
	const struct dimension_order *order, uint8_t classes, bool rows)
{
	uint32_t switches = order->grid.graph->switches;
	struct vc_rule *rule = vc_rule_create(switches, classes);

	for (uint32_t at = 0; rule != NULL && at < switches; at++)
		for (unsigned dim = 0; dim < order->grid.dims; dim++)
			for (unsigned back = 0; back < 2 && (rows || order->grid.period[dim] != 0);
				back++)
				add_port(order, at, dim, back, rule);
	return rule;
}

static uint8_t *rank_hosts(const struct route_graph *graph)
{
	uint8_t *rank = calloc(graph->hosts + 1u, sizeof(*rank));

	for (uint32_t at = 0; rank != NULL && at < graph->switches; at++)
		for (uint32_t i = graph->first_host[at]; i < graph->first_host[at + 1]; i++)
			rank[graph->host_of[i]] = (i - graph->first_host[at]) & 1;
	return rank;
}

int dimension_order_make(struct dimension_order *order, const struct route_graph *graph,
	const struct route_options *options, struct error *error)
{
	struct rng rng;
	int result;

	*order = (struct dimension_order){.turned = 0};
	result = route_grid_make(&order->grid, graph, error);
	if (result < 0)
		return result;
	rng_init(&rng, options->seed, 0, 0);
	order->turned = options->ties == ROUTE_TIES_PORT ? TURNED_BY_PORT : rng_next(&rng);
	order->rank = rank_hosts(graph);
	if (order->rank != NULL)
		return 0;
	dimension_order_free(order);
	return route_graph_no_memory(graph, error);
}

void dimension_order_free(struct dimension_order *order)
{
	free(order->rank);
	order->rank = NULL;
	route_grid_free(&order->grid);
}
