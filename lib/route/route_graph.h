/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A topology in the form that routing algorithms use: the switches with their outgoing arcs in one
 * array, and the switch of each host. An arc is one direction of a link between two switches and
 * knows its opposite. Parallel links are separate arcs. Hosts are not nodes, because no route
 * passes through one (except in-transit buffers, which end a dependency).
 *
 * Built once per computation, then constant; any thread may read it. */

#include <stdint.h>

#include "base/arrays.h"
#include "base/weft_error.h"
#include "topo/topology.h"

#define ROUTE_GRAPH_NONE UINT32_MAX

struct route_arc {
	uint32_t to;   /* switch at the far end */
	uint32_t back; /* the opposite arc */
	uint8_t port;  /* output port of its switch */
	/* Cost of a route over this arc, for balancing: inverse to the rate, 1 or more; 1 if all
	 * links have the same rate. */
	uint16_t cost;
};

/* Upper bound on the cost of the fastest links, which is otherwise the smallest with which all
 * costs are whole numbers. */
#define ROUTE_GRAPH_COST_FASTEST_MAX 8

struct route_graph {
	const struct topology *topology; /* for names; outlives the graph */
	uint32_t switches, hosts, arcs;
	uint32_t *first_arc; /* switch s has first_arc[s] .. first_arc[s + 1] - 1, by port */
	struct route_arc *arc;
	uint32_t cost_fastest; /* cost of an arc with the highest rate */
	uint32_t *host_switch; /* switch of a host, ROUTE_GRAPH_NONE if none */
	uint8_t *host_port;    /* the switch's port there */
	uint32_t *first_host;  /* switch s has host_of[first_host[s]] .. [first_host[s + 1] - 1] */
	uint32_t *host_of;     /* hosts by switch, then by number */
	struct arrays arrays;  /* all of these */
};

/* Built from a finished topology. Returns NULL with errno ENOMEM if out of memory. */
struct route_graph *route_graph_create(const struct topology *topology);
void route_graph_destroy(struct route_graph *graph);

/* Breadth first from switch 'root' over all switches whose distance (in links) is ROUTE_GRAPH_NONE:
 * sets it, and appends them to order[*count], .. in the order of discovery, 'root' first. */
void route_graph_spread(const struct route_graph *graph, uint32_t root, uint32_t *distance,
	uint32_t *order, uint32_t *count);

/* Returns -ENOMEM with 'error': no memory for the routes of this topology. */
int route_graph_no_memory(const struct route_graph *graph, struct error *error);

static inline uint32_t route_graph_hosts_at(const struct route_graph *graph, uint32_t at)
{
	return graph->first_host[at + 1] - graph->first_host[at];
}

/* The arc that leaves switch 'at' by this port, which leads to a switch. */
static inline uint32_t route_graph_arc_of_port(
	const struct route_graph *graph, uint32_t at, unsigned port)
{
	uint32_t arc = graph->first_arc[at];

	while (graph->arc[arc].port != port)
		arc++;
	return arc;
}
