/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The routes of a whole fabric as configured in a run file, and the VCs of its traffic. They depend
 * only on files and topology, so they are equal on both clocks and in all processes of a lab. */

#include "experiment/run/run_config.h"
#include "queuing/queuing.h"
#include "route/route_algorithm.h"
#include "route/route_graph.h"
#include "route/route_set.h"
#include "route/route_table.h"

struct fabric_routes {
	/* Routes for routing.mode source, or tables for mode table. */
	struct route_set *set;
	struct route_table *table;
	struct route_blocks *blocks;   /* 'table' as shared blocks; NULL: switches read its rows */
	bool itbs;                     /* on some routes, intermediate hosts re-inject messages */
	bool extra_long;               /* some routes have more than FRAME_ROUTE_USUAL elements */
	uint8_t sl_to_vc[16];          /* VC of each service level if 'queuing' is NULL */
	struct route_lengths *lengths; /* NULL: no switch compares path lengths */
	struct queuing *queuing;       /* NULL: messages keep their service levels */
};

/* Returns the run file's options for its algorithm, except the root. */
struct route_options fabric_routes_options(const struct run_config *run);
/* Adds the root, if an algorithm of the run needs one. Returns 0, -EINVAL or -ENOMEM. */
int fabric_routes_find_root(const struct run_config *run, const struct topology *topology,
	struct route_options *options, struct error *error);
/* Computes the routes, or loads 'routing.file'. Returns 0, or -errno with error set: -EINVAL if the
 * algorithm does not guarantee freedom from deadlock, or if the algorithm or queuing scheme does
 * not support the topology, leaves pairs without a route, or needs unsupported features of
 * interfaces or switches; -ENOMEM. */
int fabric_routes_compute(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error);
/* Like fabric_routes_compute(), without 'lengths' (NULL), which only switches read. */
int fabric_routes_find(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error);
/* Prepares for routes from a mapper: sets the queuing scheme and what the algorithm determines. */
int fabric_routes_init_mapped(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error);
/* Lets the switches of a fabric in one process share the equal parts of a large table. Call at most
 * once. Returns 0 or -ENOMEM. */
int fabric_routes_share(struct fabric_routes *routes);
void fabric_routes_free(struct fabric_routes *routes);

/* Sets the VC of each service level, for switches and interfaces. */
void fabric_routes_map_sl(const struct fabric_routes *routes, uint8_t sl_to_vc[16]);

/* Calls 'tell' with one line if data uses fewer VCs than switch.vcs. The line names the key that
 * would use the others. */
typedef void fabric_routes_tell_fn(void *ctx, const char *text);
void fabric_routes_warn_vcs(const struct fabric_routes *routes, const struct run_config *run,
	fabric_routes_tell_fn *tell, void *ctx);

/* Returns the VC classes of the routes in use, or NULL if there are none. */
const struct vc_rule *fabric_routes_vc_rule(const struct fabric_routes *routes);
