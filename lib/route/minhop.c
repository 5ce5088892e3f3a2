/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "legal_routes.h"

/*
 * minhop: a random shortest route for each pair, without any promise about deadlock: the reference
 * that the others are measured against. It is the search for legal routes where nothing is
 * forbidden, which is what it means to call every arc a down arc.
 */
static int minhop_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct fault *fault)
{
	bool *up = calloc(graph->arcs + 1u, sizeof(*up));
	int result;

	if (up == NULL)
		return fault_set(
			fault, ENOMEM, "%s: no memory for its routes", graph->topology->name);
	result = legal_routes_fill(graph, up, options, set, fault);
	free(up);
	return result;
}

const struct route_algorithm route_minhop = {
	.name = "minhop",
	.summary = "a random shortest path for each pair; not deadlock-free, a reference",
	.routes = minhop_routes,
};
