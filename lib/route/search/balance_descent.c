/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Balances networks with too many candidates for the deletions of balance.c. The goal is the same,
 * the smallest variance of the loads:
 *
 *     for each pair: place its routes on the candidates with the smallest rise of the variance;
 *     a few more times, for each pair: remove its routes and place them again.
 *
 * One more route on an arc with n routes of cost c raises the sum of the squared utilisations,
 * weighted by the rates, by 2 n c + c. The price of a candidate is therefore the sum of these terms
 * over its arcs. */

#include <math.h>
#include <string.h>

#include "itb_routes.h"

#define PASSES 6
/* The routes of a pair are placed in at most this many equal parts. */
#define PARTS 16

struct descent {
	const struct minimal_paths *paths;
	struct balance *balance;
	uint64_t *price; /* by arc: 2 n c + c */
	struct arrays arrays;
};

static void put(struct descent *descent, const struct minimal_pair *pair, uint32_t path, int64_t by)
{
	const struct route_arc *arc = descent->paths->graph->arc;
	const uint32_t *at = pair->arc + (size_t)path * pair->links;

	for (unsigned i = 0; i < pair->links; i++)
		descent->price[at[i]] += (uint64_t)(2 * by * arc[at[i]].cost);
	descent->balance->copies[pair->first + path] += (uint32_t)by;
}

static uint64_t price_of(
	const struct descent *descent, const struct minimal_pair *pair, uint32_t path)
{
	const uint32_t *at = pair->arc + (size_t)path * pair->links;
	uint64_t price = 0;

	for (unsigned i = 0; i < pair->links; i++)
		price += descent->price[at[i]];
	return price;
}

static uint32_t cheapest(const struct descent *descent, const struct minimal_pair *pair)
{
	uint64_t min = UINT64_MAX;
	uint32_t best = 0;

	for (uint32_t i = 0; i < pair->paths; i++) {
		uint64_t price = price_of(descent, pair, i);

		best = price < min ? i : best;
		min = price < min ? price : min;
	}
	return best;
}

static void place(struct descent *descent, const struct minimal_pair *pair, uint32_t copies)
{
	const uint32_t *placed = descent->balance->copies + pair->first;
	uint32_t part = (copies + PARTS - 1) / PARTS;

	for (uint32_t i = 0; i < pair->paths; i++)
		if (placed[i] > 0)
			put(descent, pair, i, -(int64_t)placed[i]);
	for (; copies > 0; copies -= part) {
		part = part < copies ? part : copies;
		put(descent, pair, cheapest(descent, pair), part);
	}
}

/* Sorts the candidates: those with routes first, then by price. */
static void find_order(struct descent *descent, const struct minimal_pair *pair)
{
	const uint32_t *placed = descent->balance->copies + pair->first;
	uint8_t *order = descent->balance->order + pair->first;
	uint64_t price[MINIMAL_PATHS_MAX];

	for (uint8_t i = 0; i < pair->paths; i++) {
		unsigned at = i;

		price[i] = placed[i] > 0 ? 0 : price_of(descent, pair, i);
		for (; at > 0 && price[i] < price[order[at - 1]]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* Compares with a lower bound on the largest load: at least the mean, and at least the load of the
 * pairs with a single candidate. */
static double excess_of(const struct descent *descent, const uint64_t *forced)
{
	const struct route_graph *graph = descent->paths->graph;
	double routes = 0, rates = 0, max = 0, min = 0, mean;

	for (uint32_t i = 0; i < graph->arcs; i++) {
		double cost = graph->arc[i].cost;

		routes += ((double)descent->price[i] - cost) / 2 / cost;
		rates += 1 / cost;
		max = fmax(max, ((double)descent->price[i] - cost) / 2);
		min = fmax(min, ((double)forced[i] - cost) / 2);
	}
	mean = rates > 0 ? routes / rates : 0;
	return mean > 0 ? (max + mean) / (fmax(min, mean) + mean) - 1 : 0;
}

static void descend(struct descent *descent, enum route_granularity granularity, uint64_t *forced)
{
	const struct minimal_paths *paths = descent->paths;
	size_t pairs = (size_t)paths->places * paths->places;

	for (unsigned pass = 0; pass <= PASSES; pass++) {
		for (size_t i = 0; i < pairs; i++) {
			/* In the memory order of the paths. */
			size_t number = i % paths->places * paths->places + i / paths->places;
			const struct minimal_pair *pair = &paths->pair[number];

			if (pair->links == 0 || (pair->paths > 1) != (pass > 0))
				continue;
			place(descent, pair,
				granularity == ROUTE_PER_SWITCH_PAIR
					? 1
					: minimal_paths_host_pairs(paths, number));
		}
		if (pass == 0)
			memcpy(forced, descent->price, paths->graph->arcs * sizeof(*forced));
	}
	for (size_t i = 0; i < pairs; i++)
		find_order(descent, &paths->pair[i]);
}

int balance_descend(const struct minimal_paths *paths, enum route_granularity granularity,
	struct balance *balance, struct error *error)
{
	struct descent descent = {.paths = paths, .balance = balance};
	uint64_t *forced = arrays_add(&descent.arrays, paths->graph->arcs + 1u, sizeof(*forced));

	ARRAYS_ADD(&descent, price, paths->graph->arcs + 1u);
	if (descent.arrays.failed) {
		arrays_free(&descent.arrays);
		return route_graph_no_memory(paths->graph, error);
	}
	for (uint32_t i = 0; i < paths->graph->arcs; i++)
		descent.price[i] = paths->graph->arc[i].cost;
	descend(&descent, granularity, forced);
	balance->excess = excess_of(&descent, forced);
	arrays_free(&descent.arrays);
	return 0;
}
