/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The common part of the algorithms that first choose among minimal paths and then place in-transit
 * buffers (the thesis' section 3.2.3): which pair of hosts takes which path, balanced or at random,
 * and the order in which the paths get their ITBs. They differ in the rule for ITBs. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/weft_error.h"
#include "route/route_algorithm.h"
#include "route/route_graph.h"
#include "route/route_path.h"
#include "route/route_set.h"
#include "topo/topology.h"

/* The candidates of the algorithms that balance routes: up to ten minimal paths for every ordered
 * pair of switches that have hosts (the thesis' section 3.2.3). If there are more, ten are drawn at
 * random with equal probability.
 *
 * Constant once made; any thread may read it. */

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

struct itb_rule {
	/* Sets the ITBs of a path; returns false if it is unusable. The answer must not change
	 * later. */
	bool (*place)(void *context, struct route_path *path);
	/* Finds a path with its ITBs for a pair of switches (by number) whose paths are all
	 * unusable. -ENOENT: none fits into a frame; -ENOMEM. */
	int (*find)(void *context, const struct minimal_paths *paths, size_t pair,
		struct route_path *path);
	void *context;
};

/* Adds the routes of all pairs of hosts to the set: options->alternatives different ones, or all if
 * there are fewer. Paths get their ITBs in the order of the pairs of hosts, by source, then by
 * destination; second choices after all first ones, and so on. Errors as for
 * route_algorithm.routes. */
int itb_routes_fill(const struct route_graph *graph, const struct route_options *options,
	bool balanced, const struct itb_rule *rule, struct route_set *set, struct error *error);

/* Path i of the pair, without ITBs. */
struct route_path itb_routes_path(const struct minimal_paths *paths, size_t pair, unsigned i);

/* Balancing (the thesis' section 3.2.3, figure 54). A map counts the routes over every channel
 * between switches, initially of all candidates of all pairs. Each step deletes the route
 * whose deletion leaves the smallest standard deviation of the map, until every pair has one route
 * left. If several routes qualify, the first one in a table in random order is removed
 * (balance_lane.h).
 *
 * Pairs of hosts on the same two switches have the same candidates and are indistinguishable. So a
 * candidate has as many copies as there are such pairs, and as many copies as pairs remain; their
 * assignment to pairs is drawn afterwards. */

struct balance {
	uint32_t *copies; /* by path: remaining copies; for a pair of switches as many as it has
			     pairs of hosts, or one (ROUTE_PER_SWITCH_PAIR); 0 within a switch */
	uint8_t *order;   /* by path: order[first + i] is the i-th candidate in order of preference:
			     remaining ones, then the others, the last deleted first */
	double excess;    /* route_set_excess(); negative: deleted as above */
	struct arrays arrays;
};

/* -ENOMEM; -EINVAL for a network too large to count its routes. On success the caller frees. */
int balance_make(const struct minimal_paths *paths, enum route_granularity granularity,
	struct balance *balance, struct error *error);
void balance_free(struct balance *balance);
/* balance_descent.c: fills zeroed arrays of 'balance', for networks with many candidates. May
 * return -ENOMEM. */
int balance_descend(const struct minimal_paths *paths, enum route_granularity granularity,
	struct balance *balance, struct error *error);

/* Draws different routes of a pair without listing all: routes are identified by ranks 0 .. count -
 * 1 (legal_routes.h), and all sets of ranks are equally likely. */

/* Draws 'wanted' <= ROUTE_ALTERNATIVES_MAX different ranks, or all 'count' if there are fewer;
 * returns the number. A larger draw from the same generator starts with the same ranks. */
unsigned rank_draw(struct rng *rng, uint64_t count, unsigned wanted, uint64_t *ranks);

/* Copies of routes with different in-transit buffers: other hosts absorb, and routes that replace
 * others get more ITBs where necessary. Each ITB of a copy is at the host of its switch that
 * absorbs for the fewest routes so far, in the order of the pairs. (The algorithms draw hosts at
 * random.)
 *
 * A bridge lets new routes be used while packets with former ones are in flight. The former
 * routes' dependencies are accepted first. Then, route by route, each new dependency that would
 * close a cycle with accepted ones is replaced by an ITB (cycle_break.h). The union is
 * deadlock-free. So is the union of the bridge and the new routes, whose dependencies include those
 * in the bridge. */

/* If 'former' is NULL, only places the ITBs that 'next' has. Returns 0 with '*made', and in
 * '*added' the number of routes that got ITBs; -EBUSY with error set: a switch without hosts would
 * have to absorb, a route would be too long, or routes have VC classes or parts; -ENOMEM. */
int itb_bridge_make(const struct topology *topology, const struct route_set *former,
	const struct route_set *next, struct route_set **made, uint64_t *added,
	struct error *error);
