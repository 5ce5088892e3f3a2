/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The judge of all routes. It knows no algorithm and shares no code with any: it replays every
 * route over the topology link by link, as switches and interfaces would, and rebuilds the channel
 * dependency graph from what it saw. In-transit buffers end a dependency at the host that absorbs.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fault.h"
#include "route_set.h"
#include "route_table.h"
#include "topology.h"

struct route_report {
	uint64_t pairs;       /* ordered pairs of different hosts */
	uint64_t routes;      /* valid ones; of a table: pairs that it connects */
	uint64_t unconnected; /* pairs without a valid route */
	uint64_t invalid;     /* routes that do not lead from their source to their destination */
	bool connected;
	bool deadlock_free;
	/* Of the routes between hosts on different switches; links between switches count. */
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
	/* A cycle of dependencies as ports by which the channels leave; length 0 if there is none.
	 */
	struct topology_port *cycle;
	uint32_t cycle_length;
	/* The first thing that is wrong, in words; empty if nothing is. */
	char evidence[256];
};

/* Judges all routes of a set, or all walks through tables from every host to every other. 0 with
 * the report filled (route_report_free), however bad the routes are; -EINVAL if the set or table is
 * not of this topology's size; -ENOMEM. */
int route_verify_set(const struct topology *topology, const struct route_set *set,
	struct route_report *report, struct fault *fault);
int route_verify_table(const struct topology *topology, const struct route_table *table,
	struct route_report *report, struct fault *fault);
void route_report_free(struct route_report *report);

/* Connected, every route valid, no cycle. */
static inline bool route_report_good(const struct route_report *report)
{
	return report->connected && report->deadlock_free && report->invalid == 0;
}
