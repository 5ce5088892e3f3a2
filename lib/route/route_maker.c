/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_maker.h"

#include "route_algorithm.h"
#include "route_set.h"

struct fill {
	const struct route_maker *maker;
	struct route_set *set;
};

static int fill_part(void *context, unsigned job, unsigned jobs, struct error *error)
{
	const struct fill *fill = context;
	const struct route_maker *maker = fill->maker;
	const struct route_graph *graph = maker->graph;
	void *scratch = NULL;
	int result = 0;

	if (maker->scratch_create != NULL && (scratch = maker->scratch_create(maker)) == NULL)
		return route_graph_no_memory(graph, error);
	for (uint32_t to = job; to < graph->hosts; to += jobs)
		for (uint32_t from = 0; from < graph->hosts && result == 0; from++)
			if (from != to && graph->host_switch[from] != ROUTE_GRAPH_NONE &&
				graph->host_switch[to] != ROUTE_GRAPH_NONE)
				result = maker->add(maker, scratch, fill->set, from, to, error);
	if (scratch != NULL)
		maker->scratch_destroy(scratch);
	return result;
}

int route_maker_fill(route_maker_fn make, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error)
{
	struct route_maker *maker;
	int result = make(graph, options, set, &maker, error);
	struct fill fill = {.set = set};

	if (result < 0)
		return result;
	fill.maker = maker;
	if (route_options_allow(options, route_set_vc_rule(set)))
		result = route_jobs_run(options->jobs, fill_part, &fill, error);
	maker->destroy(maker);
	return result;
}
