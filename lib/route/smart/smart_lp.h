/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The linear program of smart-routing: divides each pair's traffic among its paths so that the load
 * of the most loaded arc is minimal, a load being traffic times the arc's cost (route_graph.h).
 * Only smart_lp.c uses the solver (COIN-OR Clp). The solver is deterministic, and so is the result.
 * smart_detours.c adds paths to it, smart_share.c rounds its result to whole routes, and
 * smart_cycles.c forbids turns that close cycles. */

#include "smart_paths.h"

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
