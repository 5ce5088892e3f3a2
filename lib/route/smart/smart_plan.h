/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The result of smart-routing: for each pair of switches its paths, and the number of routes
 * between their hosts on each. */

#include <stdbool.h>
#include <stdint.h>

#include "route/route_algorithm.h"
#include "route/route_graph.h"
#include "route/route_path.h"

/* The candidate paths of smart-routing: for each ordered pair of switches with hosts the shortest
 * ones over allowed turns (all of them, or a sample above a limit). smart_plan.h distributes the
 * pair's routes among them. */

/* The turns that routes may take. A turn leaves a switch by one arc after arriving on another; it
 * is one channel dependency. Turning back into the same link is never allowed. All other turns
 * between two arcs of a spanning tree are kept (turns_forbid() refuses them): a path along the tree
 * needs only these, so all pairs stay connected, however many turns are forbidden. The kept turns
 * alone close no cycle, because a cycle without turning back would be a cycle of the tree.
 *
 * Turns are numbered. Arc a has turns first[a] to first[a + 1] - 1, in the order of the arcs that
 * leave its end. */

struct turns {
	const struct route_graph *graph;
	uint32_t turns;
	uint32_t *first;
	bool *allowed; /* by turn */
	bool *kept;    /* by turn */
	struct arrays arrays;
};

/* Allows all turns except turning back. -ENOMEM; on success the caller calls turns_fini(). */
int turns_init(struct turns *turns, const struct route_graph *graph);
void turns_fini(struct turns *turns);

/* The turn from arc 'in' to arc 'out', which leaves the switch where 'in' ends. */
static inline uint32_t turns_number(const struct turns *turns, uint32_t in, uint32_t out)
{
	const struct route_graph *graph = turns->graph;

	return turns->first[in] + out - graph->first_arc[graph->arc[in].to];
}

/* Returns false, without effect, if the turn must be kept. */
bool turns_forbid(struct turns *turns, uint32_t turn);

struct smart_pair {
	uint32_t source, destination; /* switches */
	uint32_t routes;              /* to distribute over the paths */
	uint32_t weight;              /* pairs of hosts per route */
	uint32_t first_path;          /* its paths end where the next pair's begin */
};

struct smart_paths {
	uint32_t pairs, paths;
	struct smart_pair *pair; /* pairs + 1 of them, the last for first_path only */
	uint32_t *first_arc;     /* path p has arc[first_arc[p]] .. arc[first_arc[p + 1] - 1] */
	uint32_t *arc;
	uint32_t path_room, arc_room;
	bool large; /* it had more paths when smart_paths_find() ended */
};

/* With more pairs of switches, or paths per path that a pair may have, a linear program takes
 * seconds. Where pairs may have few, there are dozens of programs. (Irregular networks of 64
 * switches of degree 4 have 7,000 paths if a pair may have 8; a torus of 8x8 has 19,000.) */
#define SMART_EXACT_PAIRS 4096
#define SMART_EXACT_PATHS 1024

/* At most 'limit' paths per pair, drawn by options->seed if there are more. Disconnected pairs are
 * left out. -ENOMEM; -EINVAL if a path does not fit into a frame. On success the caller calls
 * smart_paths_fini(). */
int smart_paths_find(struct smart_paths *paths, const struct turns *turns,
	const struct route_options *options, uint32_t limit, struct error *error);
void smart_paths_fini(struct smart_paths *paths);

/* For callers that fill a set of paths themselves: adds a path of 'links' arcs, which the caller
 * writes. Returns NULL if out of memory. */
uint32_t *smart_paths_append(struct smart_paths *paths, uint32_t links);

struct smart_plan {
	struct smart_paths paths;
	uint32_t *count; /* by path: number of routes on it; a pair's add up to its routes */
	double excess;   /* route_set_excess() */
	struct route_path *path; /* by path: the same in the form of route_path.h, without ITBs */
	struct arrays arrays;    /* these two */
};

/* Candidate shortest paths per pair. With detours fewer suffice, because they add the missing ones,
 * and the program is solved many times. */
#define SMART_PATHS_MAX         32
#define SMART_PATHS_MAX_DETOURS 8

/* Balances the traffic over the shortest paths with allowed turns and, if 'detours', over longer
 * ones that lower the largest load by at least as much as they raise the mean. Negative code and
 * 'error': -ENOMEM, -EINVAL if a path does not fit into a frame, -EIO if the solver fails. On
 * success the caller calls smart_plan_fini(). */
int smart_plan_make(struct smart_plan *plan, const struct turns *turns,
	const struct route_options *options, bool detours, struct error *error);
void smart_plan_fini(struct smart_plan *plan);

/* Adds the routes of all pairs of hosts along plan->path. Each pair gets its assigned path, and up
 * to options->alternatives - 1 of the others between the same switches. May return -ENOMEM. */
int smart_plan_add_routes(const struct smart_plan *plan, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error);

/* Forbids turns until the allowed ones close no cycle, round by round at the lowest cost for the
 * balance. 'turns' comes from turns_init(). -ENOMEM; -EINVAL if a path does not fit into a frame;
 * -EIO if the solver fails. */
int smart_break_cycles(
	struct turns *turns, const struct route_options *options, struct error *error);

/* The linear program of smart-routing: divides each pair's traffic among its paths to minimize the
 * maximum load. The load on an arc is its traffic times its cost (route_graph.h).
 * Only smart_lp.c uses the solver (COIN-OR Clp). The solver is deterministic, and so is the result.
 * smart_detours.c adds paths to it, smart_share.c rounds its result to whole routes, and
 * smart_cycles.c forbids turns that close cycles. */

/* Prices at the optimum (dual values). */
struct smart_prices {
	double *arc;  /* by arc: for a pair of hosts that uses it */
	double *pair; /* by pair: for a pair of hosts on any path */
};

/* 'flow' gets for each path the number of host pairs that it carries, in general not a whole
 * number; a pair's flows add up to routes * weight. 'prices' may be NULL. -ENOMEM; -EIO if the
 * solver fails. */
int smart_lp_balance(const struct smart_paths *paths, const struct route_graph *graph, double *flow,
	struct smart_prices *prices, struct error *error);

/* An approximate, much faster solution. The prices still bound the optimum: no division of the
 * traffic has a smaller sum of largest and mean load than the sum over all pairs of their traffic
 * times the price of their cheapest path. May return -ENOMEM. */
int smart_descent_balance(const struct smart_paths *paths, const struct route_graph *graph,
	double *flow, struct smart_prices *prices, struct error *error);

/* smart_lp_balance(), or smart_descent_balance() if paths->large. */
int smart_balance(const struct smart_paths *paths, const struct route_graph *graph, double *flow,
	struct smart_prices *prices, struct error *error);

/* Adds for each pair the cheapest path over allowed turns if the program could use it (column
 * generation: its arcs are cheaper than the pair's paths); 'added' is their number. Paths that do
 * not fit into a frame are not added. '*bound' becomes the bound of smart_balance(). May return
 * -ENOMEM. */
int smart_detours_add(struct smart_paths *paths, const struct turns *turns,
	const struct smart_prices *prices, uint32_t *added, double *bound);

/* 'count' gets for each path the number of its pair's routes on it, close to 'flow'; a pair's
 * counts add up to its routes. May return -ENOMEM. */
int smart_share(const struct smart_paths *paths, const struct route_graph *graph,
	const double *flow, uint32_t *count);

/* One round, for a balance over shortest paths. Takes the turns in use by the cost of forbidding
 * them, the most expensive first; those that close a cycle with more expensive or kept ones are
 * candidates. Forbids the cheapest candidates, at most 'max' (more than 0); '*forbidden' is their
 * number. Without candidates the turns in use close no cycle; then it allows or forbids all others
 * so that the allowed ones together close no cycle and no other one could be added. May return
 * -ENOMEM. */
int smart_cycles_break(struct turns *turns, const struct smart_paths *paths, const double *flow,
	uint32_t max, uint32_t *forbidden);
