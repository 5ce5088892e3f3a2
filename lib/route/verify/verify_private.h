/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of this folder. The verifier processes one destination at a time. */

#include "channel_graph.h"
#include "route_verify.h"

#define VERIFY_NO_WAY UINT32_MAX

/* Scratch space for the table entries of a destination. */
struct table_walk {
	uint32_t *hops;    /* by switch: links to the destination through primary ports */
	uint32_t *path;    /* switches on the route */
	uint64_t *flow;    /* by switch: number of sources whose packets pass */
	double *rate;      /* by switch: sum of their rates */
	uint32_t *by_hops; /* switches with a path, the farthest first */
	uint32_t *count;   /* scratch space of the counting sort */
	uint64_t *inner;   /* by switch, a set: ports to switches */
	uint64_t *ports;   /* by switch, a set: ports that packets to the destination may use */
	uint64_t *onward;  /* by switch, a set: the ports in 'ports' that lead to switches */
	uint8_t last_port; /* port to the destination at its switch */
	bool *reached;     /* by switch, or by node if there are classes */
	uint32_t *queue;   /* switches or nodes, likewise */
	/* By node, if there are classes. */
	uint32_t *alike; /* first node that the rule treats equally */
	bool *followed;  /* that first node was followed */
	uint32_t *node;  /* the reached nodes */
	uint64_t (*ways)[VC_TURNS];
	struct arrays arrays; /* owns all arrays above */
};

struct verifier {
	const struct topology *topology;
	struct channel_graph *channels;
	struct route_report *report;
	uint64_t *load; /* by channel: number of routes */
	double *demand; /* by channel: uniform traffic (bps), times the number of hosts minus 1 */
	uint32_t *distance; /* by switch: links to 'centre', the switch of the destination */
	uint32_t centre;
	uint32_t *queue;               /* switches to visit */
	bool *answered;                /* by source: a route to the current destination was found */
	uint64_t links, minimal, itbs; /* sums over routes between different switches */
	struct table_walk *walk;       /* scratch space for tables */
	struct arrays arrays;
};

/* Returns the switch of a host; VERIFY_NO_WAY if there is none. */
static inline uint32_t verify_host_switch(const struct verifier *verifier, uint32_t host)
{
	uint32_t out = verifier->channels->host_out[host];

	if (out == CHANNEL_NONE || verifier->channels->to[out].kind != DEVICE_SWITCH)
		return VERIFY_NO_WAY;
	return verifier->channels->to[out].device;
}

/* Returns the rate of a host's link. */
static inline double verify_host_rate(const struct verifier *verifier, uint32_t host)
{
	const struct topology *topology = verifier->topology;

	return (double)topology->link_at[topology->host_link[host]].rate_bps;
}

/* Reports an invalid route; VERIFY_NO_WAY stands for any source. */
void verify_report_invalid(struct verifier *verifier, uint32_t source, uint32_t destination,
	const char *reason, struct topology_port place);

/* Counts a valid route from a host of this switch to the current destination. */
static inline void verify_count(
	struct verifier *verifier, uint32_t source_switch, unsigned links, unsigned itbs)
{
	struct route_report *report = verifier->report;

	report->routes++;
	if (itbs > report->itbs_max)
		report->itbs_max = itbs;
	if (verifier->distance[source_switch] == 0)
		return;
	report->far_routes++;
	verifier->links += links;
	verifier->itbs += itbs;
	if (links == verifier->distance[source_switch])
		verifier->minimal++;
	if (links > report->max_switch_links)
		report->max_switch_links = links;
}

/* Replays all routes of the set to this destination. */
void verify_routes(struct verifier *verifier, const struct route_set *set, uint32_t destination);

/* Returns the set of a switch's ports that lead to switches. */
const uint64_t *verify_inner_ports(const struct verifier *verifier, uint32_t at);

/* Follows all paths through the tables to this destination, including alternatives. */
void verify_tables(
	struct verifier *verifier, const struct route_table *table, uint32_t destination);
/* Adds the dependencies of these paths. */
void verify_follow(
	struct verifier *verifier, const struct route_table *table, uint32_t destination);
void verify_follow_prepare(struct verifier *verifier);
/* Allocates the scratch space. Returns 0 or -ENOMEM. */
int verify_walk_create(struct verifier *verifier);
void verify_walk_destroy(struct verifier *verifier);
