/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The routes of a whole fabric as configured in a run file, and the VCs of their traffic; the same
 * on both clocks and in every process of a lab, because they depend on files and topology alone. */

#include "experiment/run/run_config.h"
#include "queuing/queuing.h"
#include "route/route_algorithm.h"
#include "route/route_lengths.h"
#include "route/route_set.h"
#include "route/route_table.h"

struct fabric_routes {
	/* One of the two, by routing.mode. */
	struct route_set *set;
	struct route_table *table;
	struct route_blocks
		*blocks;      /* the table in blocks that switches share; NULL: they read rows */
	bool itbs;            /* on some routes, intermediate hosts re-inject messages */
	bool extra_long;      /* some have more than FRAME_ROUTE_USUAL elements */
	uint8_t sl_to_vc[16]; /* for classes of the traffic; without a queuing scheme */
	struct route_lengths *lengths; /* NULL: no switch weighs paths with them */
	struct queuing *queuing;       /* NULL: service levels are the messages' own, all in VC 0 */
};

/* The run file's options for its algorithm, for any clock and any mapper; without the root. */
struct route_options fabric_routes_options(const struct run_config *run);
/* Adds the root, if an algorithm of the run has one. -EINVAL, -ENOMEM. */
int fabric_routes_find_root(const struct run_config *run, const struct topology *topology,
	struct route_options *options, struct error *error);
/* Computes the routes, or loads 'routing.file'. Returns 0, or with error set: -EINVAL for an
 * algorithm that does not guarantee freedom from deadlock, or an algorithm or queuing scheme that
 * does not support this topology, leaves pairs without a route, or needs what interfaces and
 * switches do not have yet; -ENOMEM. */
int fabric_routes_compute(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error);
/* Leaves routes to a mapper, but not the queuing scheme: the rest of the above, as far as it
 * follows from the algorithm's name. */
int fabric_routes_init_mapped(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error);
/* Lets the switches share the equal parts of a large table, for a whole fabric in one process. Call
 * it once. Returns 0 or -ENOMEM. */
int fabric_routes_share(struct fabric_routes *routes);
void fabric_routes_free(struct fabric_routes *routes);

/* The VC of each service level, for switches and interfaces. */
void fabric_routes_map_sl(const struct fabric_routes *routes, uint8_t sl_to_vc[16]);

/* The VC classes of the routes in use; NULL if they have none. */
const struct vc_rule *fabric_routes_vc_rule(const struct fabric_routes *routes);
