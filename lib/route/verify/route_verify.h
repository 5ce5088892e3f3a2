/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The verifier of all routes. It shares no code with the algorithms: it replays every route over
 * the topology link by link, as switches and interfaces would, and builds the channel dependency
 * graph from the replay. In-transit buffers end a dependency at the host that absorbs. If routes
 * use VC classes, the verifier applies their rule as the switches do. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "route/route_set.h"
#include "route/route_table.h"
#include "topo/topology.h"

/* Source routes or destination tables; the other member is NULL. */
struct route_subject {
	const struct route_set *set;
	const struct route_table *table;
};

/* A channel, named by its output port, and a VC class in it. */
struct route_channel {
	struct topology_port from;
	uint8_t vc_class;
};

struct route_report {
	uint64_t pairs;       /* ordered pairs of different hosts */
	uint64_t routes;      /* valid routes; for a table, connected pairs */
	uint64_t unconnected; /* pairs without a valid route */
	uint64_t unreachable; /* pairs that the topology does not connect */
	uint64_t invalid;     /* routes that do not lead from source to destination, and alternative
				 ports of tables that lead nowhere */
	unsigned vc_classes;  /* 1 if routes use no classes */
	bool connected;
	bool deadlock_free;
	/* Routes between hosts on different switches; only links between switches are counted. */
	uint64_t far_routes;
	double minimal_fraction;  /* share of routes that are as short as the topology allows */
	double mean_switch_links; /* 0 without such routes */
	unsigned max_switch_links;
	double itbs_mean;
	unsigned itbs_max;
	/* Routes per channel between switches. */
	struct {
		uint64_t min, max;
		double mean, stddev;
	} link_load;
#define ROUTE_REPORT_HOT 8
	/* Load if all hosts send the same share of their link's rate, equally to all other hosts
	 * and over all routes of a pair. Unknown for several subjects, and without routes. */
	struct {
		bool known;
		double bound;              /* share at which the first channel is full */
		struct topology_port full; /* sending port of this channel */
		/* The most loaded channels if all hosts sent at their full rate. */
		unsigned hot_channels;
		struct {
			struct topology_port from;
			double load; /* relative to the channel's rate; above 1: overload */
		} hot[ROUTE_REPORT_HOT];
		double *load; /* by topology_way_at(); NULL if out of memory */
	} uniform;
	/* A cycle of dependencies; length 0: none. */
	struct route_channel *cycle;
	uint32_t cycle_length;
	/* Description of the first error; "": none. */
	char evidence[256];
};

/* Verifies the union of all routes, and of all paths through tables, including alternative ports,
 * from every host to every other host: everything that may be in the network at the same time.
 * Pairs are counted once; routes and link load are added up. For tables, the paths of primary ports
 * count as routes. Returns 0 with the report filled in (route_report_free), however bad the routes
 * are; -EINVAL if a set or table does not match the topology's size, or VC rules differ; or
 * -ENOMEM. */
int route_verify(const struct topology *topology, const struct route_subject *subjects,
	unsigned count, struct route_report *report, struct error *error);
/* Like route_verify(), for one set of routes. */
int route_verify_set(const struct topology *topology, const struct route_set *set,
	struct route_report *report, struct error *error);
void route_report_free(struct route_report *report);

/* Returns true if all pairs are connected, every route is valid and there is no cycle. */
static inline bool route_report_good(const struct route_report *report)
{
	return report->connected && report->deadlock_free && report->invalid == 0;
}

/* Writes the name of channel i of the cycle: "s0:3", with classes "s0:3/1". */
void route_report_channel_name(const struct topology *topology, const struct route_report *report,
	uint32_t i, char *out, size_t size);
