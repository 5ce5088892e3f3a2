/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "route/search/dimension_order.h"

/* Oblivious routing in grids, as source routes from which each message uses one at random.
 *
 *     valiant     in dimension order to a switch drawn from the seed, and from there to the
 *                 destination (Valiant, Brebner, STOC 1981); as many routes per pair as requested
 *     dor-o1turn  in dimension order, with the first dimension first or last: in two dimensions xy
 *                 or yx (Seo, Ali, Lim, Rafique, Thottethodi, "Near-Optimal Worst-Case Throughput
 *                 Routing for Two-Dimensional Mesh Networks", ISCA 2005)
 *
 * No deadlock. Every route is one or two dimension-order paths, each of which has its own VC
 * classes (VC_STEPS_HALVES), and classes never fall along a path; dor.c has the proof for one path.
 * A route with the first dimension last enters the second half where that dimension starts. In the
 * paper it has its own VC from the first link on, which needs as many VCs. */

#define STREAM ((uint64_t)0x646f7272 << 32)

struct pairs {
	struct route_maker maker;
	struct dimension_order order;
};

struct route {
	struct route_path path;
	uint64_t steps;
};

/* Builds a route through 'middle'. Returns false if there is none that fits into a frame. */
static bool join(const struct dimension_order *order, uint32_t from, uint32_t middle, uint32_t to,
	unsigned parity, struct route *route)
{
	struct route_path rest;
	unsigned links;

	if (!dimension_order_find(order, from, middle, parity, &route->path) ||
		!dimension_order_find(order, middle, to, parity, &rest))
		return false;
	links = route->path.links;
	if (links + rest.links >= ROUTE_LINKS_MAX)
		return false;
	memcpy(&route->path.arc[links], rest.arc, rest.links * sizeof(*rest.arc));
	route->path.links += rest.links;
	route->steps = links > 0 && rest.links > 0 ? (uint64_t)1 << links : 0;
	return true;
}

static int add(const struct route_maker *maker, struct route_set *set, uint32_t source,
	uint32_t destination, const struct route *route, struct error *error)
{
	return route_path_add_steps(maker->graph, maker->options, set, source, destination,
		&route->path, route->steps, error);
}

/* Limit on draws per requested route; small grids have fewer different routes. */
#define DRAWS 4

static bool is_new(const struct route *route, const struct route *found, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (found[i].path.links == route->path.links && found[i].steps == route->steps &&
			memcmp(found[i].path.arc, route->path.arc,
				route->path.links * sizeof(*route->path.arc)) == 0)
			return false;
	return true;
}

static int add_valiant(const struct route_maker *maker, void *scratch, struct route_set *set,
	uint32_t source, uint32_t destination, struct error *error)
{
	const struct dimension_order *order = &((const struct pairs *)maker)->order;
	uint32_t from = maker->graph->host_switch[source];
	uint32_t to = maker->graph->host_switch[destination];
	unsigned parity = dimension_order_parity(order, source, destination), count = 0;
	unsigned wanted = from == to ? 1 : maker->options->alternatives;
	struct route found[ROUTE_ALTERNATIVES_MAX];
	struct rng rng;
	int result = 0;

	rng_init(&rng, maker->options->seed, source, STREAM | destination);
	for (unsigned i = 0; i < DRAWS * wanted && count < wanted && result == 0; i++) {
		uint32_t middle = (uint32_t)rng_below(&rng, maker->graph->switches);

		if (from == to)
			middle = to;
		if (!join(order, from, middle, to, parity, &found[count]) ||
			!is_new(&found[count], found, count))
			continue;
		result = add(maker, set, source, destination, &found[count++], error);
	}
	/* All paths through drawn switches may be broken or too long. */
	if (count == 0 && result == 0 && join(order, from, to, to, parity, &found[0]))
		result = add(maker, set, source, destination, &found[0], error);
	return result;
}

/* Returns the switch where a path that takes the first dimension last enters this dimension, which
 * is where the usual path in the opposite direction leaves it. */
static uint32_t corner(
	const struct dimension_order *order, uint32_t from, uint32_t to, unsigned parity)
{
	struct route_path back;
	uint32_t at = to;

	if (!dimension_order_find(order, to, from, parity, &back) || back.links > ROUTE_LINKS_MAX)
		return to;
	for (unsigned i = 0; i < back.links; i++) {
		uint32_t next = order->grid.graph->arc[back.arc[i]].to;

		if (route_grid_place(&order->grid, next, 0) ==
			route_grid_place(&order->grid, at, 0))
			break;
		at = next;
	}
	return at;
}

static int add_o1turn(const struct route_maker *maker, void *scratch, struct route_set *set,
	uint32_t source, uint32_t destination, struct error *error)
{
	const struct dimension_order *order = &((const struct pairs *)maker)->order;
	uint32_t from = maker->graph->host_switch[source];
	uint32_t to = maker->graph->host_switch[destination];
	unsigned parity = dimension_order_parity(order, source, destination);
	struct route route;
	int result = 0;

	if (join(order, from, to, to, parity, &route))
		result = add(maker, set, source, destination, &route, error);
	if (result == 0 && maker->options->alternatives > 1 &&
		join(order, from, corner(order, from, to, parity), to, parity, &route) &&
		route.steps != 0)
		result = add(maker, set, source, destination, &route, error);
	return result;
}

static void destroy(struct route_maker *maker)
{
	struct pairs *pairs = (struct pairs *)maker;

	dimension_order_free(&pairs->order);
	free(pairs);
}

static int use_rule(const struct dimension_order *order, struct route_set *set)
{
	struct vc_rule *rule =
		dimension_order_rule(order, dimension_order_has_rings(order) ? 4 : 2, true);

	if (rule == NULL)
		return -ENOMEM;
	rule->steps = VC_STEPS_HALVES;
	route_set_use_vc_rule(set, rule);
	return 0;
}

static int make(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error)
{
	struct pairs *pairs = calloc(1, sizeof(*pairs));
	int result;

	*maker = NULL;
	if (pairs == NULL)
		return route_graph_no_memory(graph, error);
	result = dimension_order_make(&pairs->order, graph, options, error);
	if (result < 0) {
		free(pairs);
		return result;
	}
	pairs->maker = (struct route_maker){.graph = graph, .options = options, .destroy = destroy};
	if (use_rule(&pairs->order, set) < 0) {
		destroy(&pairs->maker);
		return route_graph_no_memory(graph, error);
	}
	*maker = &pairs->maker;
	return 0;
}

static int make_valiant(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error)
{
	int result = make(graph, options, set, maker, error);

	if (result == 0)
		(*maker)->add = add_valiant;
	return result;
}

static int make_o1turn(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error)
{
	int result = make(graph, options, set, maker, error);

	if (result == 0)
		(*maker)->add = add_o1turn;
	return result;
}

static int valiant_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	return route_maker_fill(make_valiant, graph, options, set, error);
}

static int o1turn_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	return route_maker_fill(make_o1turn, graph, options, set, error);
}

const struct route_algorithm route_valiant = {
	.name = "valiant",
	.summary =
		"grids: dor to a random switch and from there to the destination; each message draws one of 10 routes",
	.deadlock_free = true,
	.vc_classes = true,
	.alternatives = ROUTE_ALTERNATIVES_MAX,
	.selector = "random",
	.routes = valiant_routes,
};

const struct route_algorithm route_dor_o1turn = {
	.name = "dor-o1turn",
	.summary = "grids: dor with the first dimension first or last, at random for each message",
	.deadlock_free = true,
	.vc_classes = true,
	.alternatives = 2,
	.selector = "random",
	.routes = o1turn_routes,
};
