/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "route/route_set.h"
#include "route/search/dimension_order.h"

/* Dimension order (Dally and Seitz, 1987; e-cube in hypercubes): a message completes its path in
 * dimension 0, then in dimension 1, and so on. In each ring it takes the shorter direction.
 *
 * No deadlock. Dependencies between dimensions only lead to higher ones. Within a row they keep
 * their direction and end at the row's end. Within a ring (vc_rule.h) the channels before the
 * dateline are used in class 0, the dateline and later ones in class 1. A path within a ring is
 * shorter than the ring, so it crosses the dateline, the link between its last position and
 * position 0, at most once: no channel of class 1 is followed by the dateline.
 *
 * Failures. If the shorter direction is broken, the message takes the other direction of the same
 * ring. The proof still holds: this path is also shorter than the ring and crosses the dateline at
 * most once. If both directions are broken, the pair has no route.
 *
 * Ties in rings of even size are broken as in dimension_order.h; in a ring of 4n switches every
 * link carries equally many paths. Tables do not depend on the source host, and use the parity of
 * the first host of its switch; their paths are also shortest, because one hop further there is no
 * tie. */

struct dor {
	struct route_maker maker;
	struct dimension_order order;
};

static int add_pair(const struct route_maker *maker, void *scratch, struct route_set *set,
	uint32_t source, uint32_t destination, struct error *error)
{
	const struct dor *dor = (const struct dor *)maker;
	const struct route_graph *graph = maker->graph;
	struct route_path path;

	if (!dimension_order_find(&dor->order, graph->host_switch[source],
		    graph->host_switch[destination],
		    dimension_order_parity(&dor->order, source, destination), &path))
		return 0;
	return route_path_add(graph, maker->options, set, source, destination, &path, error);
}

static uint32_t row(const struct route_maker *maker, uint32_t host)
{
	return dimension_order_row(&((const struct dor *)maker)->order, host);
}

static unsigned elements(const struct route_maker *maker, uint32_t from, uint32_t to)
{
	return dimension_order_links(&((const struct dor *)maker)->order, from, to) + 2;
}

static void destroy(struct route_maker *maker)
{
	struct dor *dor = (struct dor *)maker;

	dimension_order_free(&dor->order);
	free(dor);
}

struct tables {
	struct dimension_order order;
	struct route_table *table;
};

static void fill_entries(const struct tables *tables, uint32_t at, uint32_t to)
{
	const struct dimension_order *order = &tables->order;
	const struct route_graph *graph = order->grid.graph;
	uint8_t *row_of_switch = route_table_row(tables->table, at), port[2];

	for (unsigned parity = 0; parity < 2; parity++) {
		struct route_path path;
		bool found = dimension_order_find(order, at, to, parity, &path) && path.links > 0;

		port[parity] = found ? graph->arc[path.arc[0]].port : ROUTE_TABLE_NONE;
	}
	for (uint32_t i = graph->first_host[to]; i < graph->first_host[to + 1]; i++) {
		uint32_t host = graph->host_of[i];

		row_of_switch[host] = at == to ? graph->host_port[host] : port[order->rank[host]];
	}
}

static int fill_tables(void *context, unsigned job, unsigned jobs, struct error *error)
{
	const struct tables *tables = context;
	const struct route_graph *graph = tables->order.grid.graph;

	for (uint32_t at = job; at < graph->switches; at += jobs)
		for (uint32_t to = 0; to < graph->switches; to++)
			if (route_graph_hosts_at(graph, to) > 0)
				fill_entries(tables, at, to);
	return 0;
}

/* Sets up the order. '*rule' remains NULL without rings. On failure the order is empty. */
static int make_order(struct dimension_order *order, const struct route_graph *graph,
	const struct route_options *options, struct vc_rule **rule, struct error *error)
{
	int result = dimension_order_make(order, graph, options, error);

	*rule = NULL;
	if (result < 0 || !dimension_order_has_rings(order))
		return result;
	*rule = dimension_order_rule(order, 2, false);
	if (*rule != NULL)
		return 0;
	dimension_order_free(order);
	return route_graph_no_memory(graph, error);
}

static int dor_pairs(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error)
{
	struct dor *dor = calloc(1, sizeof(*dor));
	struct vc_rule *rule;
	unsigned longest;
	int result;

	*maker = NULL;
	if (dor == NULL)
		return route_graph_no_memory(graph, error);
	result = make_order(&dor->order, graph, options, &rule, error);
	if (result < 0) {
		free(dor);
		return result;
	}
	route_set_use_vc_rule(set, rule);
	dor->maker = (struct route_maker){
		.graph = graph,
		.options = options,
		.complete = dimension_order_is_whole(&dor->order, &longest) &&
			    longest <= ROUTE_LINKS_USUAL,
		.add = add_pair,
		.row = row,
		.elements = elements,
		.destroy = destroy,
	};
	*maker = &dor->maker;
	return 0;
}

static int dor_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	return route_maker_fill(dor_pairs, graph, options, set, error);
}

static int dor_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	struct tables tables = {.table = table};
	int result = make_order(&tables.order, graph, options, &table->vc_rule, error);

	if (result < 0)
		return result;
	if (route_options_allow(options, table->vc_rule))
		result = route_jobs_run(options->jobs, fill_tables, &tables, error);
	dimension_order_free(&tables.order);
	return result;
}

const struct route_algorithm route_dor = {
	.name = "dor",
	.vc_classes = true,
	.ties = true,
	.summary = "dimension order for meshes, tori and hypercubes, with dateline VCs",
	.deadlock_free = true,
	.routes = dor_routes,
	.pairs = dor_pairs,
	.tables = dor_tables,
};
