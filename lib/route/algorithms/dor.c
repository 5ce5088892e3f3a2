/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "dimension_order.h"
#include "route_jobs.h"

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
 * Ties in rings of even size go by dimension_order.h; in a ring of 4n switches every link gets the
 * same number. Tables do not know the source host and treat it as the first of its switch; their
 * paths are shortest too, because one step further there is no tie.
 */

struct dor {
	struct dimension_order order;
	const struct route_options *options;
	struct route_set *set;
	struct route_table *table;
};

static int add_destination(const struct dor *dor, uint32_t destination, struct fault *fault)
{
	const struct route_graph *graph = dor->order.grid.graph;
	uint32_t to = graph->host_switch[destination];

	for (uint32_t source = 0; source < graph->hosts; source++) {
		uint32_t at = graph->host_switch[source];
		unsigned parity = dimension_order_parity(&dor->order, source, destination);
		struct route_path path;
		int result;

		if (source == destination || at == ROUTE_GRAPH_NONE ||
			!dimension_order_find(&dor->order, at, to, parity, &path))
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
	const struct route_graph *graph = dor->order.grid.graph;
	int result = 0;

	for (uint32_t to = job; to < graph->hosts && result == 0; to += jobs)
		if (graph->host_switch[to] != ROUTE_GRAPH_NONE)
			result = add_destination(dor, to, fault);
	return result;
}

static void fill_entries(const struct dor *dor, uint32_t at, uint32_t to)
{
	const struct route_graph *graph = dor->order.grid.graph;
	uint8_t *row = route_table_row(dor->table, at), port[2];

	for (unsigned parity = 0; parity < 2; parity++) {
		struct route_path path;
		bool found =
			dimension_order_find(&dor->order, at, to, parity, &path) && path.links > 0;

		port[parity] = found ? graph->arc[path.arc[0]].port : ROUTE_TABLE_NONE;
	}
	for (uint32_t i = graph->first_host[to]; i < graph->first_host[to + 1]; i++) {
		uint32_t host = graph->host_of[i];

		row[host] = at == to ? graph->host_port[host] : port[dor->order.rank[host]];
	}
}

static int fill_tables(void *context, unsigned job, unsigned jobs, struct fault *fault)
{
	const struct dor *dor = context;
	const struct route_graph *graph = dor->order.grid.graph;

	(void)fault;
	for (uint32_t at = job; at < graph->switches; at += jobs)
		for (uint32_t to = 0; to < graph->switches; to++)
			if (route_graph_hosts_at(graph, to) > 0)
				fill_entries(dor, at, to);
	return 0;
}

static int compute(struct dor *dor, const struct route_graph *graph, struct fault *fault)
{
	struct vc_rule *rule = NULL;
	bool rings;
	int result = dimension_order_make(&dor->order, graph, dor->options->seed, fault);

	if (result < 0)
		return result;
	rings = dimension_order_has_rings(&dor->order);
	if (rings)
		rule = dimension_order_rule(&dor->order, 2, false);
	if (rings && rule == NULL) {
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
	dimension_order_free(&dor->order);
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
