/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "smart_plan.h"

#include <math.h>

/* Replaces the largest load with the norm of order POWER + 1 of the loads, which is convex and
 * smooth. The price of an arc is the derivative of the norm. For each pair, traffic moves from the
 * path with the highest price to the path with the lowest; the amount is a Newton step. */
#define POWER  31
#define SWEEPS 15
/* The descent ends when a sweep reduces the largest load by less than this share. */
#define GAIN_MIN 1e-4

struct descent {
	const struct smart_paths *paths;
	const struct route_graph *graph;
	double *load;  /* by arc: traffic times cost, 1 for the fastest arcs */
	double *cost;  /* by arc */
	double *price; /* by arc: marginal cost of one unit of traffic */
	double scale;  /* the largest load at the start of a sweep */
	struct arrays arrays;
};

static void price_arc(struct descent *descent, uint32_t arc)
{
	double t = descent->load[arc] / descent->scale;
	double t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;

	descent->price[arc] = descent->cost[arc] * t8 * t8 * t8 * t4 * t2 * t;
}

static void put(struct descent *descent, uint32_t path, double flow)
{
	const struct smart_paths *paths = descent->paths;

	for (uint32_t i = paths->first_arc[path]; i < paths->first_arc[path + 1]; i++)
		descent->load[paths->arc[i]] += flow * descent->cost[paths->arc[i]];
}

static double price_of(const struct descent *descent, uint32_t path)
{
	const struct smart_paths *paths = descent->paths;
	uint32_t from = paths->first_arc[path], to = paths->first_arc[path + 1];
	double sum = (double)(to - from) / descent->graph->arcs;

	for (uint32_t i = from; i < to; i++)
		sum += descent->price[paths->arc[i]];
	return sum;
}

/* Returns the second derivative along a path. */
static double slope_of(const struct descent *descent, uint32_t path)
{
	const struct smart_paths *paths = descent->paths;
	double sum = 0;

	for (uint32_t i = paths->first_arc[path]; i < paths->first_arc[path + 1]; i++) {
		uint32_t arc = paths->arc[i];

		if (descent->load[arc] > 0)
			sum += POWER * descent->price[arc] * descent->cost[arc] /
			       descent->load[arc];
	}
	return sum;
}

static void move(struct descent *descent, uint32_t path, double amount, double *flow)
{
	const struct smart_paths *paths = descent->paths;

	flow[path] += amount;
	put(descent, path, amount);
	for (uint32_t i = paths->first_arc[path]; i < paths->first_arc[path + 1]; i++)
		price_arc(descent, paths->arc[i]);
}

static void improve(struct descent *descent, uint32_t pair, double *flow)
{
	const struct smart_pair *at = &descent->paths->pair[pair];
	uint32_t best = at->first_path, worst = UINT32_MAX;
	double min = HUGE_VAL, max = -HUGE_VAL, slope, amount;

	for (uint32_t p = at->first_path; p < at[1].first_path; p++) {
		double price = price_of(descent, p);

		if (price < min) {
			min = price;
			best = p;
		}
		if (flow[p] > 0 && price > max) {
			max = price;
			worst = p;
		}
	}
	if (worst == UINT32_MAX || worst == best || max <= min)
		return;
	slope = slope_of(descent, worst) + slope_of(descent, best);
	amount = slope > 0 ? fmin((max - min) / slope, flow[worst]) : flow[worst];
	move(descent, worst, -amount, flow);
	move(descent, best, amount, flow);
}

static double largest_load(const struct descent *descent)
{
	double max = 0;

	for (uint32_t arc = 0; arc < descent->graph->arcs; arc++)
		max = fmax(max, descent->load[arc]);
	return max;
}

static void sweep_all(struct descent *descent, double *flow)
{
	const struct smart_paths *paths = descent->paths;
	double before = HUGE_VAL;

	for (unsigned sweep = 0; sweep < SWEEPS; sweep++) {
		descent->scale = largest_load(descent);
		if (descent->scale == 0 || descent->scale > before * (1 - GAIN_MIN))
			break;
		before = descent->scale;
		for (uint32_t arc = 0; arc < descent->graph->arcs; arc++)
			price_arc(descent, arc);
		for (uint32_t pair = 0; pair < paths->pairs; pair++)
			if (paths->pair[pair + 1].first_path - paths->pair[pair].first_path > 1)
				improve(descent, pair, flow);
	}
}

/* Computes the derivatives of the norm, scaled so that they bound the optimum (smart_plan.h). */
static void read_prices(const struct descent *descent, struct smart_prices *prices)
{
	const struct smart_paths *paths = descent->paths;
	uint32_t arcs = descent->graph->arcs;
	double sum = 0;

	for (uint32_t arc = 0; arc < arcs; arc++)
		sum += descent->price[arc] / descent->cost[arc];
	for (uint32_t arc = 0; arc < arcs; arc++)
		prices->arc[arc] = 1.0 / arcs + (sum > 0 ? descent->price[arc] / sum : 0);
	for (uint32_t pair = 0; pair < paths->pairs; pair++) {
		double min = HUGE_VAL;

		for (uint32_t p = paths->pair[pair].first_path;
			p < paths->pair[pair + 1].first_path; p++) {
			double price = 0;

			for (uint32_t i = paths->first_arc[p]; i < paths->first_arc[p + 1]; i++)
				price += prices->arc[paths->arc[i]];
			min = fmin(min, price);
		}
		prices->pair[pair] = min;
	}
}

static void spread(struct descent *descent, double *flow)
{
	const struct smart_paths *paths = descent->paths;

	for (uint32_t pair = 0; pair < paths->pairs; pair++) {
		const struct smart_pair *at = &paths->pair[pair];

		for (uint32_t p = at->first_path; p < at[1].first_path; p++) {
			flow[p] = (double)at->routes * at->weight /
				  (at[1].first_path - at->first_path);
			put(descent, p, flow[p]);
		}
	}
}

int smart_descent_balance(const struct smart_paths *paths, const struct route_graph *graph,
	double *flow, struct smart_prices *prices, struct error *error)
{
	struct descent descent = {.paths = paths, .graph = graph};

	ARRAYS_ADD(&descent, load, graph->arcs + 1u);
	ARRAYS_ADD(&descent, cost, graph->arcs + 1u);
	ARRAYS_ADD(&descent, price, graph->arcs + 1u);
	if (descent.arrays.failed) {
		arrays_free(&descent.arrays);
		return route_graph_no_memory(graph, error);
	}
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		descent.cost[arc] = (double)graph->arc[arc].cost / graph->cost_fastest;
	spread(&descent, flow);
	sweep_all(&descent, flow);
	if (prices != NULL)
		read_prices(&descent, prices);
	arrays_free(&descent.arrays);
	return 0;
}

int smart_balance(const struct smart_paths *paths, const struct route_graph *graph, double *flow,
	struct smart_prices *prices, struct error *error)
{
	return paths->large ? smart_descent_balance(paths, graph, flow, prices, error)
			    : smart_lp_balance(paths, graph, flow, prices, error);
}
