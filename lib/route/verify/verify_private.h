/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of this folder only. The verifier collects, destination by destination, what
 * routes and tables do. */

#include "channel_graph.h"
#include "route_verify.h"

#define VERIFY_NO_WAY UINT32_MAX

/* Scratch space for the tables' entries of a destination. */
struct table_walk {
	uint32_t *hops;    /* by switch: links to the destination by primary ports */
	uint32_t *path;    /* switches on the route */
	uint64_t *flow;    /* by switch: sources whose packets pass */
	double *rate;      /* by switch: the sum of their rates */
	uint32_t *by_hops; /* switches that arrive, the farthest first */
	uint32_t *count;   /* scratch space of the counting sort */
	uint64_t *inner;   /* by switch, a set: its ports that lead to switches */
	uint64_t *ports;   /* all ports that packets to the destination may use */
	uint64_t *onward;  /* ports among those that lead to switches */
	uint8_t last_port; /* the destination's port at its switch */
	bool *reached;     /* by switch, or by node if there are classes */
	uint32_t *queue;   /* by switch or node, likewise */
	/* By node, if there are classes. */
	uint32_t *alike; /* the first node to which the rule does the same */
	bool *followed;  /* the same for such first nodes */
	uint32_t *node;  /* those that were reached */
	uint64_t (*ways)[VC_TURNS];
	struct arrays arrays; /* all of these */
};

struct verifier {
	const struct topology *topology;
	struct channel_graph *channels;
	struct route_report *report;
	uint64_t *load;     /* by channel: routes over it */
	double *demand;     /* by channel: uniform traffic (bps), times the hosts minus one */
	uint32_t *distance; /* by switch: links to 'centre', the destination's switch */
	uint32_t centre;
	uint32_t *queue;               /* switches to visit */
	bool *answered;                /* by source: a route to the current destination exists */
	uint64_t links, minimal, itbs; /* sums over routes between different switches */
	struct table_walk *walk;       /* scratch space for tables */
	struct arrays arrays;
};

/* The switch of a host, VERIFY_NO_WAY if none. */
static inline uint32_t verify_host_switch(const struct verifier *verifier, uint32_t host)
{
	uint32_t out = verifier->channels->host_out[host];

	if (out == CHANNEL_NONE || verifier->channels->to[out].kind != DEVICE_SWITCH)
		return VERIFY_NO_WAY;
	return verifier->channels->to[out].device;
}

/* The rate of a host's link. */
static inline double verify_host_rate(const struct verifier *verifier, uint32_t host)
{
	const struct topology *topology = verifier->topology;

	return (double)topology->link_at[topology->host_link[host]].rate_bps;
}

/* Reports an invalid route; if 'source' is VERIFY_NO_WAY, it is invalid from any source. */
void verify_report_invalid(struct verifier *verifier, uint32_t source, uint32_t destination,
	const char *reason, struct topology_port place);

/* Counts a valid route to the destination of verifier->distance, from a host of this switch. */
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

/* The set of the switch's ports that lead to switches. */
const uint64_t *verify_inner_ports(const struct verifier *verifier, uint32_t at);

/* Follows all paths through the tables to this destination, including alternatives. */
void verify_tables(
	struct verifier *verifier, const struct route_table *table, uint32_t destination);
/* The dependencies of these paths. */
void verify_follow(
	struct verifier *verifier, const struct route_table *table, uint32_t destination);
void verify_follow_prepare(struct verifier *verifier);
/* The scratch space. -ENOMEM. */
int verify_walk_create(struct verifier *verifier);
void verify_walk_destroy(struct verifier *verifier);
