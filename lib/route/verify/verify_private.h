/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What the files of the verifier share (route_verify.c, route_replay.c, route_walk.c); nobody else
 * includes it. A judge collects, destination by destination, what routes and tables do.
 */

#include "channel_graph.h"
#include "route_verify.h"

#define JUDGE_NO_WAY UINT32_MAX

struct judge {
	const struct topology *topology;
	struct channel_graph *channels;
	struct route_report *report;
	uint64_t *load;     /* by channel: routes over it */
	uint32_t *distance; /* by switch: links to 'centre', the destination's switch */
	uint32_t centre;
	uint32_t *queue; /* of switches */
	bool *answered;  /* by source: something leads from it to the destination at hand */
	uint64_t links, minimal, itbs; /* sums over the far routes */
	struct table_walk *walk;       /* work space of route_walk.c */
};

/* The switch of a host, JUDGE_NO_WAY if it hangs on none. */
static inline uint32_t judge_host_switch(const struct judge *judge, uint32_t host)
{
	uint32_t out = judge->channels->host_out[host];

	if (out == CHANNEL_NONE || judge->channels->to[out].kind != DEVICE_SWITCH)
		return JUDGE_NO_WAY;
	return judge->channels->to[out].device;
}

/* Only the first finding is kept as evidence. */
void judge_note(struct judge *judge, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A route is not what it should be; of any source if that is JUDGE_NO_WAY. */
void judge_note_invalid(struct judge *judge, uint32_t source, uint32_t destination,
	const char *reason, struct topology_port place);

/* A valid route to the destination of judge->distance, from a host of this switch. */
static inline void judge_count(
	struct judge *judge, uint32_t source_switch, unsigned links, unsigned itbs)
{
	struct route_report *report = judge->report;

	report->routes++;
	if (itbs > report->itbs_max)
		report->itbs_max = itbs;
	if (judge->distance[source_switch] == 0)
		return;
	report->far_routes++;
	judge->links += links;
	judge->itbs += itbs;
	if (links == judge->distance[source_switch])
		judge->minimal++;
	if (links > report->max_switch_links)
		report->max_switch_links = links;
}

/* All routes of the set to this destination. */
void judge_routes(struct judge *judge, const struct route_set *set, uint32_t destination);

/* The switch's ports that lead to switches. */
uint64_t judge_inner_ports(const struct judge *judge, uint32_t at);

/* All ways through the tables to this destination, alternatives included. */
void judge_tables(struct judge *judge, const struct route_table *table, uint32_t destination);
/* Their work space. -ENOMEM. */
int judge_walk_create(struct judge *judge);
void judge_walk_destroy(struct judge *judge);
