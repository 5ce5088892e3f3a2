/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The verifier of all routes. It knows no algorithm and shares no code with any: it replays every
 * route over the topology link by link, as switches and interfaces would, and builds the channel
 * dependency graph from the replay. In-transit buffers end a dependency at the host that absorbs;
 * if routes use VC classes, it applies their rule as the switches do. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "route/route_set.h"
#include "route/route_table.h"
#include "topo/topology.h"

/* Source routes or destination tables; the other is NULL. */
struct route_subject {
	const struct route_set *set;
	const struct route_table *table;
};

/* A channel, named by its output port, and the VC class in it. */
struct route_channel {
	struct topology_port from;
	uint8_t vc_class;
};

struct route_report {
	uint64_t pairs;       /* ordered pairs of different hosts */
	uint64_t routes;      /* valid ones; for a table, connected pairs */
	uint64_t unconnected; /* pairs without a valid route */
	uint64_t unreachable; /* those among them that the topology itself does not connect */
	uint64_t invalid;     /* routes that do not lead from their source to their destination, and
				 alternative ports of tables that lead nowhere */
	unsigned vc_classes;  /* 1 if routes use no classes */
	bool connected;
	bool deadlock_free;
	/* Routes between hosts on different switches; links between switches count. */
	uint64_t far_routes;
	double minimal_fraction;  /* routes as short as the topology allows */
	double mean_switch_links; /* 0 if there is none */
	unsigned max_switch_links;
	double itbs_mean;
	unsigned itbs_max;
	/* Routes per channel between switches. */
	struct {
		uint64_t min, max;
		double mean, stddev;
	} link_load;
#define ROUTE_REPORT_HOT 8
	/* All hosts send the same share of their link's rate, equally to all other hosts and over
	 * all routes of a pair. Unknown for several subjects and without routes. */
	struct {
		bool known;
		double bound;              /* the share that the first full channel allows */
		struct topology_port full; /* where this channel begins */
		/* The most loaded channels if all hosts could send at their rate. */
		unsigned hot_channels;
		struct {
			struct topology_port from;
			double load; /* relative to the channel's rate; above 1: more than it
					carries */
		} hot[ROUTE_REPORT_HOT];
		double *load; /* load of each channel, by topology_way_at(); NULL without memory */
	} uniform;
	/* A cycle of dependencies; length 0 if none. */
	struct route_channel *cycle;
	uint32_t cycle_length;
	/* Description of the first error; empty if none. */
	char evidence[256];
};

/* Verifies the union of all routes, and of all paths through tables, including alternative ports,
 * from every host to every other: everything that may be in the network at the same time. Pairs
 * count once, routes and link load in total; for tables, the paths of primary ports count as
 * routes. Returns 0 with the report filled in (route_report_free), however bad the routes are;
 * -EINVAL if a set or table does not match the topology's size or the VC rules differ; or
 * -ENOMEM. */
int route_verify(const struct topology *topology, const struct route_subject *subjects,
	unsigned count, struct route_report *report, struct error *error);
/* The same for one set or table. */
int route_verify_set(const struct topology *topology, const struct route_set *set,
	struct route_report *report, struct error *error);
void route_report_free(struct route_report *report);

/* Connected, every route valid, no cycle. */
static inline bool route_report_good(const struct route_report *report)
{
	return report->connected && report->deadlock_free && report->invalid == 0;
}

/* Channel i of the cycle: "s0:3", with classes "s0:3/1". */
void route_report_channel_name(const struct topology *topology, const struct route_report *report,
	uint32_t i, char *out, size_t size);
