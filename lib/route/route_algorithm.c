/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_algorithm.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "topo/topology.h"

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

#define X(name) &route_##name,
static const void *const algorithms[] = {ROUTE_ALGORITHMS(X)};
#undef X

const struct name_table route_algorithms = WORD_LIST(algorithms);

static int check_request(const struct topology *topology, const struct route_algorithm *algorithm,
	const struct route_options *options, bool able, const char *what, struct error *error)
{
	if (!able)
		return error_set(
			error, EINVAL, "%s: the algorithm has no %s", algorithm->name, what);
	if (topology->switches > 0 && options->root >= topology->switches)
		return error_set(error, EINVAL,
			"%s: the root, switch %u, does not exist; it must be from 0 to %u",
			topology->name, options->root, topology->switches - 1);
	if (options->alternatives > ROUTE_ALTERNATIVES_MAX)
		return error_set(error, EINVAL,
			"there are too many alternatives: %u; at most %u "
			"are allowed",
			options->alternatives, ROUTE_ALTERNATIVES_MAX);
	if (options->radius > ROUTE_RADIUS_MAX)
		return error_set(error, EINVAL,
			"the radius is too large: %u links; at most %u are allowed",
			options->radius, ROUTE_RADIUS_MAX);
	return 0;
}

static void note_origin(struct route_origin *origin, const struct topology *topology,
	const struct route_algorithm *algorithm, const struct route_options *options)
{
	snprintf(origin->topology, sizeof(origin->topology), "%s", topology->name);
	snprintf(origin->algorithm, sizeof(origin->algorithm), "%s", algorithm->name);
	if (algorithm->label != NULL && topology->switches > 0)
		snprintf(origin->root, sizeof(origin->root), "%s",
			topology->switch_at[options->root].name);
	origin->seed = options->seed;
}

static bool all_attached(const struct route_graph *graph)
{
	for (uint32_t host = 0; host < graph->hosts; host++)
		if (graph->host_switch[host] == ROUTE_GRAPH_NONE)
			return false;
	return true;
}

/* Makes the set compute its routes on demand if the algorithm can do so in this network. */
static int use_demand(struct route_graph *graph, const struct route_algorithm *algorithm,
	const struct route_options *options, struct route_set *set, struct error *error)
{
	struct route_options *own = malloc(sizeof(*own));
	struct route_demand *demand;
	struct route_maker *maker;
	int result;

	if (own == NULL)
		return route_graph_no_memory(graph, error);
	*own = *options;
	result = algorithm->pairs(graph, own, set, &maker, error);
	if (result == 0 && maker->complete) {
		demand = route_demand_create(set, maker, graph, own);
		if (demand != NULL) {
			route_set_use_demand(set, demand);
			return 0;
		}
		result = route_graph_no_memory(graph, error);
	}
	if (maker != NULL)
		maker->destroy(maker);
	free(own);
	return result;
}

/* On success a set with routes on demand owns the graph. */
static int compute_set(struct route_graph **graph, const struct route_algorithm *algorithm,
	const struct route_options *options, struct route_set *set, struct error *error)
{
	int result = 0;

	if (options->on_demand && algorithm->pairs != NULL && all_attached(*graph))
		result = use_demand(*graph, algorithm, options, set, error);
	if (route_set_is_on_demand(set))
		*graph = NULL;
	else if (result == 0)
		result = algorithm->routes(*graph, options, set, error);
	return result;
}

/* Fills the set or the table, whichever is not NULL. */
static int compute(const struct topology *topology, const struct route_algorithm *algorithm,
	const struct route_options *options, struct route_set *set, struct route_table *table,
	struct error *error)
{
	struct route_graph *graph = route_graph_create(topology);
	struct route_options complete = *options;
	int result;

	if (algorithm->wide != NULL && topology_max_ports(topology) > TOPOLOGY_PORTS_RUN)
		algorithm = algorithm->wide;
	if (complete.alternatives == 0)
		complete.alternatives = algorithm->alternatives;
	if (complete.alternatives == 0)
		complete.alternatives = 1;
	if (complete.radius == 0)
		complete.radius = 1;
	if (graph == NULL || (set == NULL && table == NULL))
		result = error_set(
			error, ENOMEM, "%s: not enough memory for the routes", topology->name);
	else if (set != NULL)
		result = compute_set(&graph, algorithm, &complete, set, error);
	else
		result = algorithm->tables(graph, &complete, table, error);
	if (result == 0)
		note_origin(set != NULL ? route_set_origin(set) : &table->origin, topology,
			algorithm, options);
	route_graph_destroy(graph);
	return result;
}

struct route_set *route_compute(const struct topology *topology,
	const struct route_algorithm *algorithm, const struct route_options *options, int *result,
	struct error *error)
{
	struct route_set *set = NULL;
	int code = check_request(
		topology, algorithm, options, algorithm->routes != NULL, "source routes", error);

	if (code == 0) {
		set = route_set_create(topology->hosts);
		code = compute(topology, algorithm, options, set, NULL, error);
	}
	if (result != NULL)
		*result = code;
	if (code == 0)
		return set;
	route_set_destroy(set);
	return NULL;
}

struct route_table *route_compute_table(const struct topology *topology,
	const struct route_algorithm *algorithm, const struct route_options *options, int *result,
	struct error *error)
{
	struct route_table *table = NULL;
	int code = check_request(topology, algorithm, options, algorithm->tables != NULL,
		"destination tables", error);

	if (code == 0) {
		table = route_table_create(topology->switches, topology->hosts);
		code = compute(topology, algorithm, options, NULL, table, error);
	}
	if (result != NULL)
		*result = code;
	if (code == 0)
		return table;
	route_table_destroy(table);
	return NULL;
}
