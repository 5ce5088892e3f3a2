/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The common part of the algorithms that first choose among minimal paths and then place in-transit
 * buffers (the thesis' section 3.2.3). It assigns a path to each pair of hosts, balanced or at
 * random, and defines the order in which paths get their ITBs. The algorithms' ITB rules differ. */

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

/* Candidates of the algorithms that balance routes: up to ten minimal paths for every ordered pair
 * of switches with hosts (the thesis' section 3.2.3). If there are more, ten are drawn at random
 * with equal probability.
 *
 * Constant once created; any thread may read it. */

#define MINIMAL_PATHS_MAX ROUTE_ALTERNATIVES_MAX
/* Maximum number of candidates of a network. Above it, each pair has fewer, but at least two: a
 * choice between two balances nearly as well, and the time grows with their number. */
#define MINIMAL_PATHS_ALL (UINT32_C(1) << 21)

/* Paths of one pair: none if it is disconnected, one of 0 links within a switch. */
struct minimal_pair {
	const uint32_t *arc; /* path i: arc[i * links] to arc[i * links + links - 1] */
	uint32_t first;      /* index of the pair's first path among all paths */
	uint8_t paths, links;
};

struct minimal_paths {
	const struct route_graph *graph;
	uint32_t places;           /* number of switches with hosts */
	uint8_t limit;             /* maximum paths per pair */
	uint32_t *switch_of;       /* by place */
	uint32_t *place_of;        /* by switch; ROUTE_GRAPH_NONE without hosts */
	struct minimal_pair *pair; /* [place from * places + place to] */
	uint32_t paths;            /* number over all pairs */
	uint32_t **column;         /* by place: arcs of all paths to it */
	struct arrays arrays;      /* owns all but the columns */
};

/* Draws the paths with options->seed, in options->jobs threads. Returns 0, and the caller frees the
 * paths; -ENOMEM; or -EINVAL if minimal paths do not fit into a frame. */
int minimal_paths_make(const struct route_graph *graph, const struct route_options *options,
	struct minimal_paths *paths, struct error *error);
void minimal_paths_free(struct minimal_paths *paths);

/* Returns the number of host pairs on the pair's switches, including a host with itself. */
static inline uint32_t minimal_paths_host_pairs(const struct minimal_paths *paths, size_t pair)
{
	uint32_t from = paths->switch_of[pair / paths->places];
	uint32_t to = paths->switch_of[pair % paths->places];

	return route_graph_hosts_at(paths->graph, from) * route_graph_hosts_at(paths->graph, to);
}

struct itb_rule {
	/* Sets the ITBs of a path. Returns false if the path is unusable. The answer for a path
	 * must not change later. */
	bool (*place)(void *context, struct route_path *path);
	/* Finds a path with ITBs for a pair of switches (by index) whose candidates are all
	 * unusable. Returns 0, -ENOMEM, or -ENOENT if no path fits into a frame. */
	int (*find)(void *context, const struct minimal_paths *paths, size_t pair,
		struct route_path *path);
	void *context;
};

/* Adds the routes of all pairs of hosts to the set: options->alternatives different ones, or all if
 * there are fewer. Paths get their ITBs in the order of host pairs, by source, then by destination;
 * second choices follow after all first ones, and so on. Errors as for route_algorithm.routes. */
int itb_routes_fill(const struct route_graph *graph, const struct route_options *options,
	bool balanced, const struct itb_rule *rule, struct route_set *set, struct error *error);

/* Returns path i of the pair, without ITBs. */
struct route_path itb_routes_path(const struct minimal_paths *paths, size_t pair, unsigned i);

/* Balancing (the thesis' section 3.2.3, figure 54). A map counts the routes over every channel
 * between switches, initially of all candidates of all pairs. Each step deletes the route whose
 * deletion leaves the smallest standard deviation of the map, until every pair has one route left.
 * If several routes qualify, the first in a randomly ordered table is deleted (balance_lane.h).
 *
 * Pairs of hosts on the same two switches have the same candidates and are interchangeable. A
 * candidate therefore initially has one copy per such pair, and one copy per pair remains in total.
 * These copies are assigned to pairs at random afterwards. */

struct balance {
	uint32_t *copies; /* by path: remaining copies. A pair of switches has one per pair of
			     hosts, or one (ROUTE_PER_SWITCH_PAIR); 0 within a switch */
	uint8_t *order;   /* by path: order[first + i] is the i-th candidate in order of preference:
			     remaining ones, then deleted ones, the last deleted first */
	double excess;    /* as in route_set_excess(); negative: unknown */
	struct arrays arrays;
};

/* Balances the routes. Returns 0, and the caller frees the result; -ENOMEM; or -EINVAL if the
 * network is too large to count its routes. */
int balance_make(const struct minimal_paths *paths, enum route_granularity granularity,
	struct balance *balance, struct error *error);
void balance_free(struct balance *balance);
/* Fills the zeroed arrays of 'balance', for networks with many candidates (balance_descent.c).
 * Returns 0 or -ENOMEM. */
int balance_descend(const struct minimal_paths *paths, enum route_granularity granularity,
	struct balance *balance, struct error *error);

/* Draws different routes of a pair without listing all of them: routes are identified by ranks 0 to
 * count - 1 (legal_routes.h), and all sets of ranks are equally likely. */

/* Draws 'wanted' different ranks, at most ROUTE_ALTERNATIVES_MAX, or all 'count' if there are
 * fewer. Returns their number. A larger draw from the same state starts with the same ranks. */
unsigned rank_draw(struct rng *rng, uint64_t count, unsigned wanted, uint64_t *ranks);

/* Copies routes with different in-transit buffers: the absorbing hosts change, and routes that
 * replace others get more ITBs where necessary. Each ITB of a copy is at the host of its switch
 * that absorbs for the fewest routes so far, in the order of the pairs. (The algorithms draw hosts
 * at random.)
 *
 * A bridge lets new routes be used while packets with former routes are in flight. The former
 * routes' dependencies are accepted first. Then, route by route, each new dependency that would
 * close a cycle with accepted ones is replaced with an ITB (cycle_break.h). The union is
 * deadlock-free. The union of the bridge and the new routes is also deadlock-free, because the
 * dependencies of the new routes include the bridge's. */

/* Creates the copy. If 'former' is NULL, only assigns hosts to the ITBs of 'next'. Returns 0 with
 * '*made' set and the number of routes that got ITBs in '*added'; -ENOMEM; or -EBUSY with error set
 * if a switch without hosts would have to absorb, a route would be too long, or routes have VC
 * classes or parts. */
int itb_bridge_make(const struct topology *topology, const struct route_set *former,
	const struct route_set *next, struct route_set **made, uint64_t *added,
	struct error *error);
