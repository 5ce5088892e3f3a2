/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A topology in the form that routing algorithms use: the switches with their outgoing arcs in one
 * array, and the switch of each host. An arc is one direction of a link between two switches, and
 * stores the index of its opposite. Parallel links are separate arcs. Hosts are not nodes, because
 * no route passes through a host (except in-transit buffers, which end a dependency).
 *
 * Built once per computation, then constant; any thread may read it. */

#include <stdint.h>

#include "base/arrays.h"
#include "base/weft_error.h"
#include "topo/topology.h"

#define ROUTE_GRAPH_NONE UINT32_MAX

struct route_arc {
	uint32_t to;   /* switch at the far end */
	uint32_t back; /* opposite arc */
	uint8_t port;  /* output port of the switch that the arc leaves */
	/* Cost of a route over this arc, for balancing: 1 or more, and inversely proportional to
	 * the rate. It is 1 if all links have the same rate. */
	uint16_t cost;
};

/* Upper bound on the cost of the fastest links. That cost is otherwise the smallest for which all
 * costs are integers. */
#define ROUTE_GRAPH_COST_FASTEST_MAX 8

struct route_graph {
	const struct topology *topology; /* for names; must outlive the graph */
	uint32_t switches, hosts, arcs;
	uint32_t *first_arc; /* switch s: arcs first_arc[s] to first_arc[s + 1] - 1, by port */
	struct route_arc *arc;
	uint32_t cost_fastest; /* cost of an arc with the highest rate */
	uint32_t *host_switch; /* [hosts]: the switch, or ROUTE_GRAPH_NONE */
	uint8_t *host_port;    /* [hosts]: the switch's port to the host */
	uint32_t *first_host;  /* switch s: from host_of[first_host[s]] on */
	uint32_t *host_of;     /* hosts sorted by switch, then by number */
	struct arrays arrays;  /* owns all arrays above */
};

/* Builds the graph of a finished topology. Returns NULL with errno ENOMEM if out of memory. */
struct route_graph *route_graph_create(const struct topology *topology);
void route_graph_destroy(struct route_graph *graph);

/* Breadth-first search from switch 'root' over all switches whose distance (in links) is
 * ROUTE_GRAPH_NONE. Sets their distances, and appends them to 'order' at '*count' in the order of
 * discovery, starting with 'root'. */
void route_graph_spread(const struct route_graph *graph, uint32_t root, uint32_t *distance,
	uint32_t *order, uint32_t *count);

/* Sets an error for lack of memory for the topology's routes. Returns -ENOMEM. */
int route_graph_no_memory(const struct route_graph *graph, struct error *error);

static inline uint32_t route_graph_hosts_at(const struct route_graph *graph, uint32_t at)
{
	return graph->first_host[at + 1] - graph->first_host[at];
}

/* Returns the arc that leaves switch 'at' through this port, which must lead to a switch. */
static inline uint32_t route_graph_arc_of_port(
	const struct route_graph *graph, uint32_t at, unsigned port)
{
	uint32_t arc = graph->first_arc[at];

	while (graph->arc[arc].port != port)
		arc++;
	return arc;
}

/* Lengths of shortest paths, in links between switches, for switches that weigh paths by length
 * (lib/switch/detour.h). Constant once created; any thread may read it. */

struct route_lengths {
	uint32_t switches, hosts;
	uint32_t *host_switch; /* [hosts]; 'switches' or above: none */
	uint8_t *links; /* [from * switches + to]; UINT8_MAX: at least that many, or no path */
	struct arrays arrays;
};

/* Returns NULL with errno ENOMEM if out of memory. */
struct route_lengths *route_lengths_create(const struct topology *topology);
void route_lengths_destroy(struct route_lengths *lengths);

/* Returns the length from a switch to a host's switch; UINT8_MAX if the topology lacks either. */
static inline unsigned route_lengths_to(
	const struct route_lengths *lengths, uint32_t from, uint32_t host)
{
	uint32_t to = host < lengths->hosts ? lengths->host_switch[host] : UINT32_MAX;

	return from < lengths->switches && to < lengths->switches
		       ? lengths->links[(size_t)from * lengths->switches + to]
		       : UINT8_MAX;
}
