/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The result of smart-routing: the paths of each pair of switches, and the number of routes between
 * their hosts on each path. */

#include <stdbool.h>
#include <stdint.h>

#include "route/route_algorithm.h"
#include "route/route_graph.h"
#include "route/route_path.h"

/* Candidate paths of smart-routing: for each ordered pair of switches with hosts the shortest ones
 * over allowed turns (all of them, or a sample above a limit). The pair's routes are distributed
 * over these paths. */

/* The turns that routes may use. A turn arrives at a switch on one arc and leaves on another; it is
 * one channel dependency. Turning back into the same link is never allowed. All other turns between
 * two arcs of a spanning tree are kept (turns_forbid() refuses them). A path along the tree needs
 * only these turns, so all pairs stay connected, however many turns are forbidden. The kept turns
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

/* Allows all turns except turning back. Returns 0 (then call turns_fini()) or -ENOMEM. */
int turns_init(struct turns *turns, const struct route_graph *graph);
void turns_fini(struct turns *turns);

/* Returns the turn from arc 'in' to arc 'out', which must leave the switch where 'in' ends. */
static inline uint32_t turns_number(const struct turns *turns, uint32_t in, uint32_t out)
{
	const struct route_graph *graph = turns->graph;

	return turns->first[in] + out - graph->first_arc[graph->arc[in].to];
}

/* Forbids a turn. Returns false, without effect, if the turn must be kept. */
bool turns_forbid(struct turns *turns, uint32_t turn);

struct smart_pair {
	uint32_t source, destination; /* switches */
	uint32_t routes;              /* number to distribute over the paths */
	uint32_t weight;              /* pairs of hosts per route */
	uint32_t first_path;          /* index; the paths end where the next pair's start */
};

struct smart_paths {
	uint32_t pairs, paths;
	struct smart_pair *pair; /* [pairs + 1]; the last has only first_path */
	uint32_t *first_arc;     /* path p: arc[first_arc[p]] to arc[first_arc[p + 1] - 1] */
	uint32_t *arc;
	uint32_t path_room, arc_room;
	bool large; /* above SMART_EXACT_PAIRS or SMART_EXACT_PATHS: solve approximately */
};

/* Limits of the exact linear program. With more pairs of switches, or more paths per path that a
 * pair may have, one program takes seconds; where a pair may have few paths, dozens of programs are
 * solved. (Irregular networks of 64 switches of degree 4 have 7,000 paths if a pair may have 8; a
 * torus of 8x8 has 19,000.) */
#define SMART_EXACT_PAIRS 4096
#define SMART_EXACT_PATHS 1024

/* Finds at most 'limit' paths per pair, drawn from options->seed if there are more. Disconnected
 * pairs are skipped. Returns 0, and the caller calls smart_paths_fini(); -ENOMEM; or -EINVAL if a
 * path does not fit into a frame. */
int smart_paths_find(struct smart_paths *paths, const struct turns *turns,
	const struct route_options *options, uint32_t limit, struct error *error);
void smart_paths_fini(struct smart_paths *paths);

/* Appends a path of 'links' arcs, for callers that fill a set of paths themselves. Returns its
 * arcs, which the caller writes; NULL if out of memory. */
uint32_t *smart_paths_append(struct smart_paths *paths, uint32_t links);

struct smart_plan {
	struct smart_paths paths;
	uint32_t *count; /* by path: number of routes on it; a pair's counts add up to its routes */
	double excess;   /* as in route_set_excess() */
	struct route_path *path; /* by path: the same as a route_path, without ITBs */
	struct arrays arrays;    /* owns the two arrays above */
};

/* Maximum number of candidate shortest paths per pair. With detours, fewer suffice, because detours
 * add the missing paths, and the program is solved many times. */
#define SMART_PATHS_MAX         32
#define SMART_PATHS_MAX_DETOURS 8

/* Balances the traffic over the shortest paths with allowed turns. With 'detours', also uses longer
 * paths that lower the largest load by at least as much as they raise the mean. Returns 0, and the
 * caller calls smart_plan_fini(); otherwise, with error set, -ENOMEM, -EINVAL if a path does not
 * fit into a frame, or -EIO if the solver fails. */
int smart_plan_make(struct smart_plan *plan, const struct turns *turns,
	const struct route_options *options, bool detours, struct error *error);
void smart_plan_fini(struct smart_plan *plan);

/* Adds the routes of all pairs of hosts along plan->path. Each pair gets its assigned path, and up
 * to options->alternatives - 1 others between the same switches. Returns 0 or -ENOMEM. */
int smart_plan_add_routes(const struct smart_plan *plan, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error);

/* Forbids turns until the allowed ones close no cycle, in rounds, with the smallest loss of
 * balance. 'turns' comes from turns_init(). Returns 0, -ENOMEM, -EINVAL if a path does not fit into
 * a frame, or -EIO if the solver fails. */
int smart_break_cycles(
	struct turns *turns, const struct route_options *options, struct error *error);

/* The linear program of smart-routing: divides each pair's traffic among its paths to minimise the
 * maximum load. The load of an arc is its traffic times its cost (route_graph.h). Only smart_lp.c
 * uses the solver (COIN-OR Clp), which is deterministic. smart_detours.c adds paths, smart_share.c
 * rounds the result to whole routes, and smart_cycles.c forbids turns that close cycles. */

/* Prices at the optimum (dual values), per host pair. */
struct smart_prices {
	double *arc;  /* by arc: price of using it */
	double *pair; /* by pair: price of any of its paths */
};

/* Solves the program. 'flow' receives the number of host pairs that each path carries, in general
 * not an integer; the flows of a pair add up to routes * weight. 'prices' may be NULL. Returns 0,
 * -ENOMEM, or -EIO if the solver fails. */
int smart_lp_balance(const struct smart_paths *paths, const struct route_graph *graph, double *flow,
	struct smart_prices *prices, struct error *error);

/* An approximate, much faster solution. Its prices still bound the optimum: for any division of the
 * traffic, largest plus mean load is at least the sum over all pairs of their traffic times the
 * price of their cheapest path. Returns 0 or -ENOMEM. */
int smart_descent_balance(const struct smart_paths *paths, const struct route_graph *graph,
	double *flow, struct smart_prices *prices, struct error *error);

/* Calls smart_descent_balance() if paths->large, otherwise smart_lp_balance(). */
int smart_balance(const struct smart_paths *paths, const struct route_graph *graph, double *flow,
	struct smart_prices *prices, struct error *error);

/* Adds the cheapest path over allowed turns of each pair whose arcs are cheaper than the pair's
 * paths (column generation), unless it does not fit into a frame. Sets '*added' to the number of
 * paths added, and '*bound' to the bound of smart_descent_balance(). Returns 0 or -ENOMEM. */
int smart_detours_add(struct smart_paths *paths, const struct turns *turns,
	const struct smart_prices *prices, uint32_t *added, double *bound);

/* Sets 'count' to the number of its pair's routes on each path, close to 'flow'; the counts of a
 * pair add up to its routes. Returns 0 or -ENOMEM. */
int smart_share(const struct smart_paths *paths, const struct route_graph *graph,
	const double *flow, uint32_t *count);

/* Performs one round for a balance over shortest paths. Considers the turns in use by the cost of
 * forbidding them, the most expensive first; a turn that closes a cycle with more expensive or kept
 * turns is a candidate. Forbids at most 'max' (at least 1) of the cheapest candidates, and sets
 * '*forbidden' to their number. Without candidates, the turns in use close no cycle. The remaining
 * turns are then allowed or forbidden such that all allowed turns close no cycle and no other turn
 * could be added. Returns 0 or -ENOMEM. */
int smart_cycles_break(struct turns *turns, const struct smart_paths *paths, const double *flow,
	uint32_t max, uint32_t *forbidden);
