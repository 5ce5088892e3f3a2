/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The candidates of the algorithms that balance routes: up to ten minimal paths for every ordered
 * pair of switches that have hosts (the thesis' section 3.2.3). If there are more, ten are drawn at
 * random with equal probability.
 *
 * Constant once made; any thread may read it. */

#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "route/route_algorithm.h"
#include "route/route_graph.h"
#include "route/route_path.h"

#define MINIMAL_PATHS_MAX ROUTE_ALTERNATIVES_MAX
/* If the pairs of a network would have more candidates in total, each pair has fewer, but at least
 * two: a choice between two balances nearly as well, and the time grows with the number of
 * candidates. */
#define MINIMAL_PATHS_ALL (UINT32_C(1) << 21)

/* The paths of one pair; none if it is disconnected, one of 0 links within a switch. */
struct minimal_pair {
	const uint32_t *arc; /* path i: arc[i * links] .. arc[i * links + links - 1] */
	uint32_t first;      /* number of the pair's first path among all paths */
	uint8_t paths, links;
};

struct minimal_paths {
	const struct route_graph *graph;
	uint32_t places;           /* switches with hosts */
	uint8_t limit;             /* per pair */
	uint32_t *switch_of;       /* by place */
	uint32_t *place_of;        /* by switch; ROUTE_GRAPH_NONE without hosts */
	struct minimal_pair *pair; /* [place from * places + place to] */
	uint32_t paths;            /* total over all pairs */
	uint32_t **column;         /* by place: arcs of all paths that lead there */
	struct arrays arrays;      /* all of these but the columns */
};

/* options->seed draws, options->jobs threads. -ENOMEM; -EINVAL if minimal paths do not fit into a
 * frame. On success the caller frees. */
int minimal_paths_make(const struct route_graph *graph, const struct route_options *options,
	struct minimal_paths *paths, struct error *error);
void minimal_paths_free(struct minimal_paths *paths);

/* Pairs of hosts on the two switches of the pair, including a host with itself. */
static inline uint32_t minimal_paths_host_pairs(const struct minimal_paths *paths, size_t pair)
{
	uint32_t from = paths->switch_of[pair / paths->places];
	uint32_t to = paths->switch_of[pair % paths->places];

	return route_graph_hosts_at(paths->graph, from) * route_graph_hosts_at(paths->graph, to);
}
