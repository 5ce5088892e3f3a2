/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_path.h"

#include "base/rng.h"
#include "wire/frame.h"

/* Separates these draws from the algorithms' draws for the same pair. */
#define ITB_STREAM ((uint64_t)1 << 32)

/* Each port may have a prefix. */
#define ELEMENTS_ROOM (2 * ROUTE_ELEMENTS_MAX)

/* Writes the elements that lead into a host of the switch and out again. Returns their number, or 0
 * if the switch has no host. */
static unsigned absorb(
	const struct route_graph *graph, uint32_t at, struct rng *rng, uint8_t *element)
{
	uint32_t hosts = route_graph_hosts_at(graph, at), host;

	if (hosts == 0)
		return 0;
	host = graph->host_of[graph->first_host[at] + rng_below(rng, hosts)];
	hosts = route_put_port(element, graph->host_port[host]);
	element[hosts] = ROUTE_TYPE_ITB;
	return hosts + 1;
}

int route_path_refuse(const struct route_graph *graph, const char *from, const char *to,
	unsigned elements, struct error *error)
{
	return error_set(error, EINVAL,
		"%s: the path from %s to %s takes %u route elements; at most %u are allowed",
		graph->topology->name, from, to, elements, ROUTE_ELEMENTS_MAX);
}

static int refuse_hosts(const struct route_graph *graph, uint32_t source, uint32_t destination,
	unsigned elements, struct error *error)
{
	const struct topology_device *host = graph->topology->host_at;

	return route_path_refuse(graph, host[source].name, host[destination].name, elements, error);
}

/* Writes the elements of links, steps and ITB hosts. Returns their number or -EINVAL. */
static int encode(const struct route_graph *graph, const struct route_path *path, uint64_t steps,
	struct rng *rng, uint8_t *route, struct error *error)
{
	unsigned length = 0, added;

	for (unsigned i = 0; i < path->links; i++) {
		const struct route_arc *arc = &graph->arc[path->arc[i]];

		if ((steps >> i & 1) != 0)
			route[length++] = ROUTE_TYPE_STEP;
		length += route_put_port(route + length, arc->port);
		if ((path->itb >> i & 1) == 0)
			continue;
		added = absorb(graph, arc->to, rng, route + length);
		if (added == 0)
			return error_set(error, EINVAL, "%s: %s has no host to absorb messages",
				graph->topology->name, graph->topology->switch_at[arc->to].name);
		length += added;
	}
	return (int)length;
}

static int finish(const struct route_graph *graph, struct route_set *set, uint32_t source,
	uint32_t destination, uint8_t *route, unsigned length, struct error *error)
{
	int result;

	length += route_put_port(route + length, graph->host_port[destination]);
	route[length++] = ROUTE_TYPE_HOST;
	if (length > ROUTE_ELEMENTS_MAX)
		return refuse_hosts(graph, source, destination, length, error);
	result = route_set_add(set, source, destination, route, length);
	if (result == -ENOMEM)
		return route_graph_no_memory(graph, error);
	return result;
}

int route_path_add_steps(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t source, uint32_t destination, const struct route_path *path,
	uint64_t steps, struct error *error)
{
	unsigned elements = route_path_elements(path) + (unsigned)__builtin_popcountll(steps);
	uint8_t route[ELEMENTS_ROOM];
	struct rng rng;
	int length;

	if (elements > ROUTE_ELEMENTS_MAX)
		return refuse_hosts(graph, source, destination, elements, error);
	if (path->itb != 0)
		rng_init(&rng, options->seed, source, ITB_STREAM | destination);
	length = encode(graph, path, steps, &rng, route, error);
	if (length < 0)
		return length;
	return finish(graph, set, source, destination, route, (unsigned)length, error);
}

int route_path_add_layer(const struct route_graph *graph, struct route_set *set, uint32_t source,
	uint32_t destination, const struct route_path *path, unsigned layer, struct error *error)
{
	unsigned elements = route_path_elements(path), length = layer > 0;
	uint8_t route[ELEMENTS_ROOM] = {(uint8_t)(ROUTE_TYPE_LAYER | layer)};

	if (elements > ROUTE_ELEMENTS_MAX)
		return refuse_hosts(graph, source, destination, elements, error);
	length += (unsigned)encode(graph, path, 0, NULL, route + length, error);
	return finish(graph, set, source, destination, route, length, error);
}

int route_path_add(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t source, uint32_t destination, const struct route_path *path,
	struct error *error)
{
	return route_path_add_steps(graph, options, set, source, destination, path, 0, error);
}

static int add_to_host(const struct route_graph *graph, struct route_set *set, struct rng *rng,
	uint32_t from, uint32_t destination, const struct route_path *path, unsigned paths,
	struct error *error)
{
	uint8_t route[ROUTE_ALTERNATIVES_MAX][ELEMENTS_ROOM];
	int length[ROUTE_ALTERNATIVES_MAX] = {0}, result = 0;

	for (uint32_t i = graph->first_host[from]; i < graph->first_host[from + 1]; i++)
		for (unsigned k = 0; k < paths && graph->host_of[i] != destination; k++) {
			if (path[k].itb != 0 || length[k] == 0)
				length[k] = encode(graph, &path[k], 0, rng, route[k], error);
			if (length[k] < 0)
				return length[k];
			result = finish(graph, set, graph->host_of[i], destination, route[k],
				(unsigned)length[k], error);
			if (result < 0)
				return result;
		}
	return result;
}

int route_path_add_all(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, uint32_t from, uint32_t to, const struct route_path *path,
	unsigned paths, struct error *error)
{
	struct rng rng;

	for (unsigned k = 0; k < paths; k++)
		if (route_path_elements(&path[k]) > ROUTE_ELEMENTS_MAX)
			return refuse_hosts(graph, graph->host_of[graph->first_host[from]],
				graph->host_of[graph->first_host[to]],
				route_path_elements(&path[k]), error);
	rng_init(&rng, options->seed, from, ITB_STREAM | to);
	for (uint32_t i = graph->first_host[to]; i < graph->first_host[to + 1]; i++) {
		int result =
			add_to_host(graph, set, &rng, from, graph->host_of[i], path, paths, error);

		if (result < 0)
			return result;
	}
	return 0;
}
