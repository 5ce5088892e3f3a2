/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "itb_routes.h"

#include <errno.h>
#include <stdlib.h>

#include "cycle_break.h"
#include "route/route_graph.h"
#include "wire/frame.h"

/* Space for an ITB's host, with the high prefix of its port, after each link. */
#define ELEMENTS_ROOM (4 * ROUTE_ELEMENTS_MAX)

struct bridge {
	struct route_graph *graph;
	struct acyclic *acyclic; /* NULL: no ITBs are added */
	uint32_t *load;          /* [hosts]: routes for which the host absorbs */
	struct error *error;
};

/* A copy in progress. */
struct copy {
	uint8_t element[ELEMENTS_ROOM];
	unsigned length, added;
	uint32_t at, arc; /* current switch; arc of arrival, ROUTE_GRAPH_NONE: from a host */
};

/* Appends the elements into the host with the smallest load of the switch and out again. Returns
 * false if the switch has no host. */
static bool absorb(struct bridge *bridge, struct copy *copy)
{
	const struct route_graph *graph = bridge->graph;
	uint32_t first = graph->first_host[copy->at], end = graph->first_host[copy->at + 1];
	uint32_t host;

	if (first == end)
		return false;
	host = graph->host_of[first];
	for (uint32_t i = first + 1; i < end; i++)
		if (bridge->load[graph->host_of[i]] < bridge->load[host])
			host = graph->host_of[i];
	bridge->load[host]++;
	copy->length += route_put_port(&copy->element[copy->length], graph->host_port[host]);
	copy->element[copy->length++] = ROUTE_TYPE_ITB;
	copy->arc = ROUTE_GRAPH_NONE;
	return true;
}

/* Appends the next link between switches, whose elements start at '*at', and moves '*at' to its
 * last element. Returns false if an ITB is needed, but the switch has no host. */
static bool follow(struct bridge *bridge, struct copy *copy, const uint8_t *route, unsigned *at)
{
	unsigned first = *at;
	uint32_t next = route_graph_arc_of_port(bridge->graph, copy->at, route_port(route, at));

	if (copy->arc != ROUTE_GRAPH_NONE && bridge->acyclic != NULL &&
		!acyclic_add(bridge->acyclic, copy->arc, next)) {
		if (!absorb(bridge, copy))
			return false;
		copy->added++;
	}
	for (; first <= *at; first++)
		copy->element[copy->length++] = route[first];
	copy->arc = next;
	copy->at = bridge->graph->arc[next].to;
	return true;
}

static bool copy_route(struct bridge *bridge, struct copy *copy, uint32_t source,
	const uint8_t *route, unsigned length)
{
	unsigned last = length - 2 - (length > 2 && route_is_high(route[length - 3])), i;
	bool good = true;

	*copy = (struct copy){.at = bridge->graph->host_switch[source], .arc = ROUTE_GRAPH_NONE};
	for (i = 0; i < last && good; i++) {
		unsigned after = i + 1 + route_is_high(route[i]);

		if (route[i] == ROUTE_TYPE_STEP || route_is_layer(route[i])) {
			copy->element[copy->length++] = route[i];
		} else if (route[after] == ROUTE_TYPE_ITB) {
			good = absorb(bridge, copy);
			i = after;
		} else {
			good = follow(bridge, copy, route, &i);
		}
	}
	for (; good && i < length; i++)
		copy->element[copy->length++] = route[i];
	return good;
}

static int refuse(const struct bridge *bridge, uint32_t source, uint32_t destination)
{
	const struct topology_device *host = bridge->graph->topology->host_at;

	return error_set(bridge->error, EBUSY,
		"the route from %s to %s needs in-transit buffers that cannot be placed",
		host[source].name, host[destination].name);
}

/* Copies the routes of a pair. Without 'made', only accepts their dependencies, which must be
 * acyclic. */
static int copy_pair(struct bridge *bridge, uint32_t source, uint32_t destination,
	const struct route_set *from, struct route_set *made, uint64_t *added)
{
	const uint8_t *route;
	unsigned length;
	int result = 0;

	for (unsigned i = 0; result == 0 &&
			     (route = route_set_get(from, source, destination, i, &length)) != NULL;
		i++) {
		struct copy copy;

		if (!copy_route(bridge, &copy, source, route, length) ||
			copy.length > ROUTE_ELEMENTS_MAX || (made == NULL && copy.added > 0))
			return refuse(bridge, source, destination);
		if (made == NULL)
			continue;
		*added += copy.added > 0;
		result = route_set_add(made, source, destination, copy.element, copy.length);
	}
	return result;
}

static int copy_all(struct bridge *bridge, const struct route_set *from, struct route_set *made,
	uint64_t *added)
{
	uint32_t hosts = route_set_hosts(from);
	int result = 0;

	for (uint32_t to = 0; to < hosts; to++)
		for (uint32_t source = 0; source < hosts && result == 0; source++)
			if (source != to)
				result = copy_pair(bridge, source, to, from, made, added);
	return result;
}

static bool is_plain(const struct route_set *set)
{
	return set == NULL || (route_set_vc_rule(set) == NULL && route_set_parts(set, 0) == NULL);
}

int itb_bridge_make(const struct topology *topology, const struct route_set *former,
	const struct route_set *next, struct route_set **made, uint64_t *added, struct error *error)
{
	struct bridge bridge = {.graph = route_graph_create(topology),
		.load = calloc(topology->hosts + 1u, sizeof(*bridge.load)),
		.error = error};
	int result = -ENOMEM;

	*added = 0;
	*made = route_set_create(route_set_hosts(next));
	if (bridge.graph != NULL && former != NULL)
		bridge.acyclic = acyclic_create(bridge.graph);
	if (!is_plain(former) || !is_plain(next))
		result =
			error_set(error, EBUSY, "routes with VC classes, or of several algorithms");
	else if (*made != NULL && bridge.graph != NULL && bridge.load != NULL &&
		 (former == NULL || bridge.acyclic != NULL))
		result = 0;
	if (result == 0 && former != NULL)
		result = copy_all(&bridge, former, NULL, added);
	if (result == 0)
		result = copy_all(&bridge, next, *made, added);
	if (result < 0) {
		route_set_destroy(*made);
		*made = NULL;
	} else {
		*route_set_origin(*made) = *route_set_origin_const(next);
	}
	acyclic_destroy(bridge.acyclic);
	route_graph_destroy(bridge.graph);
	free(bridge.load);
	return result;
}
