/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "smart_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/search/cycle_break.h"

/* Weight, in the cost of a forbidden turn, of pairs that have another path of the same length. If
 * all paths of a pair use the turn, the pair would need longer paths, and its traffic has weight 1;
 * otherwise only the balance suffers. (On irregular networks of 16 to 64 switches 0.3 gives 1 %
 * more minimal routes than 1 or 0.05, and the smallest loads.) */
#define SPARED 0.3
/* Smaller values are rounding errors of the solver. */
#define FLOW_MIN 1e-6

struct offer {
	uint32_t turn, in, out;
	double cost; /* cost of forbidding the turn */
};

struct tally {
	uint32_t paths; /* number of the pair's paths with the turn */
	double flow;
};

struct breaking {
	const struct turns *turns;
	struct acyclic *acyclic;
	bool *accepted; /* by turn: it is in 'acyclic' */
	double *cost;   /* by turn */
	struct tally *tally;
	struct offer *offer;
	uint32_t offers;
	struct arrays arrays;
};

static bool breaking_init(struct breaking *breaking, const struct turns *turns)
{
	size_t all = turns->turns;

	*breaking = (struct breaking){
		.turns = turns,
		.acyclic = acyclic_create(turns->graph),
	};
	ARRAYS_ADD(breaking, accepted, all);
	ARRAYS_ADD(breaking, cost, all);
	ARRAYS_ADD(breaking, tally, all);
	ARRAYS_ADD(breaking, offer, all);
	return breaking->acyclic != NULL && !breaking->arrays.failed;
}

static void breaking_fini(struct breaking *breaking)
{
	acyclic_destroy(breaking->acyclic);
	arrays_free(&breaking->arrays);
}

static void tally_path(
	struct breaking *breaking, const struct smart_paths *paths, uint32_t path, double flow)
{
	for (uint32_t i = paths->first_arc[path]; i + 1 < paths->first_arc[path + 1]; i++) {
		struct tally *tally = &breaking->tally[turns_number(
			breaking->turns, paths->arc[i], paths->arc[i + 1])];

		tally->paths++;
		tally->flow += flow;
	}
}

/* Adds the pair's tallies for the turns on the path to the costs, and clears the tallies. */
static void cost_path(struct breaking *breaking, const struct smart_paths *paths, uint32_t path,
	uint32_t paths_of_pair)
{
	for (uint32_t i = paths->first_arc[path]; i + 1 < paths->first_arc[path + 1]; i++) {
		uint32_t turn = turns_number(breaking->turns, paths->arc[i], paths->arc[i + 1]);
		struct tally *tally = &breaking->tally[turn];

		breaking->cost[turn] +=
			tally->paths == paths_of_pair ? tally->flow : SPARED * tally->flow;
		*tally = (struct tally){0};
	}
}

static void find_costs(
	struct breaking *breaking, const struct smart_paths *paths, const double *flow)
{
	for (uint32_t pair = 0; pair < paths->pairs; pair++) {
		uint32_t first = paths->pair[pair].first_path;
		uint32_t end = paths->pair[pair + 1].first_path;

		for (uint32_t p = first; p < end; p++)
			tally_path(breaking, paths, p, flow[p] > FLOW_MIN ? flow[p] : 0);
		for (uint32_t p = first; p < end; p++)
			cost_path(breaking, paths, p, end - first);
	}
}

static int compare_offers(const void *a, const void *b)
{
	const struct offer *left = a, *right = b;

	if (left->cost != right->cost)
		return left->cost > right->cost ? -1 : 1;
	return left->turn < right->turn ? -1 : left->turn > right->turn;
}

/* Accepts the kept turns, and lists all others, except those back into the same link, the most
 * expensive first. */
static void make_offers(struct breaking *breaking)
{
	const struct turns *turns = breaking->turns;
	const struct route_graph *graph = turns->graph;

	for (uint32_t in = 0; in < graph->arcs; in++) {
		uint32_t at = graph->arc[in].to;

		for (uint32_t out = graph->first_arc[at]; out < graph->first_arc[at + 1]; out++) {
			uint32_t turn = turns_number(turns, in, out);

			if (turns->kept[turn])
				breaking->accepted[turn] = acyclic_add(breaking->acyclic, in, out);
			else if (out != graph->arc[in].back)
				breaking->offer[breaking->offers++] =
					(struct offer){turn, in, out, breaking->cost[turn]};
		}
	}
	qsort(breaking->offer, breaking->offers, sizeof(*breaking->offer), compare_offers);
}

/* Accepts each offer that closes no cycle; without 'all', considers only turns in use. Moves the
 * refused ones to the front, in the same order, and returns their number. */
static uint32_t sift(struct breaking *breaking, bool all)
{
	uint32_t refused = 0;

	for (uint32_t i = 0; i < breaking->offers; i++) {
		struct offer offer = breaking->offer[i];

		if (!all && offer.cost == 0)
			break;
		if (acyclic_add(breaking->acyclic, offer.in, offer.out))
			breaking->accepted[offer.turn] = true;
		else
			breaking->offer[refused++] = offer;
	}
	return refused;
}

int smart_cycles_break(struct turns *turns, const struct smart_paths *paths, const double *flow,
	uint32_t max, uint32_t *forbidden)
{
	struct breaking breaking;
	uint32_t refused;

	*forbidden = 0;
	if (!breaking_init(&breaking, turns)) {
		breaking_fini(&breaking);
		return -ENOMEM;
	}
	find_costs(&breaking, paths, flow);
	make_offers(&breaking);
	refused = sift(&breaking, false);
	for (; *forbidden < max && *forbidden < refused; ++*forbidden)
		turns_forbid(turns, breaking.offer[refused - 1 - *forbidden].turn);
	if (refused == 0) {
		sift(&breaking, true);
		memcpy(turns->allowed, breaking.accepted, turns->turns * sizeof(*turns->allowed));
	}
	breaking_fini(&breaking);
	return 0;
}
