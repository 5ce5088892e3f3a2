/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "route/search/legal_routes.h"
#include "up_down.h"

/* minhop: a random shortest route for each pair, not deadlock-free; the reference for the other
 * algorithms. It runs the search for legal routes without restrictions: all arcs are down. */
static int minhop_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	bool *up = calloc(graph->arcs + 1u, sizeof(*up));
	int result;

	if (up == NULL)
		return route_graph_no_memory(graph, error);
	result = legal_routes_fill(graph, up, options, set, error);
	free(up);
	return result;
}

static int minhop_pairs(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error)
{
	return legal_routes_pairs(NULL, graph, options, maker, error);
}

/* Computes tables likewise. If all arcs are down, rule 1 of up_down_tables.c selects a shortest
 * path, over the arc with the smallest load if several are equal, and rule 2 never applies. */
static int minhop_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	struct up_down_labels labels;
	int result;

	if (!up_down_labels_init(graph, &labels)) {
		result = route_graph_no_memory(graph, error);
	} else {
		for (uint32_t at = 0; at < graph->switches; at++)
			labels.order[at] = at;
		result = up_down_tables_of_labels(graph, &labels, table, error);
	}
	up_down_labels_free(&labels);
	return result;
}

const struct route_algorithm route_minhop = {
	.name = "minhop",
	.summary = "a random shortest path for each pair; not deadlock-free, a reference",
	.routes = minhop_routes,
	.pairs = minhop_pairs,
	.tables = minhop_tables,
};
