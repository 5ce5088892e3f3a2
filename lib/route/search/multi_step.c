/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fat_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"

/* Paths are rebuilt when needed, because most candidates are never used. */
struct candidate {
	uint32_t key; /* order among equal candidates */
	uint32_t in[2];
	uint8_t links, steps;
};

/* The switches within the radius of a switch, which is the first. */
struct ball {
	uint32_t *at;
	uint32_t count;
	uint32_t centre;
};

struct multi_step {
	const struct dimension_order *order;
	unsigned radius;
	unsigned parity;     /* parity of the current pair */
	struct ball near[2]; /* around the pair's source and destination */
	uint64_t *used;      /* by arc: number of the last pair that used its link */
	uint64_t *seen;      /* by switch: number of the last walk that passed it */
	uint64_t pair, walk; /* numbers of the current pair and walk, from 1 */
	struct candidate *candidate;
	size_t candidates, room;
	struct arrays arrays; /* owns all but the candidates */
};

struct multi_step *multi_step_create(const struct dimension_order *order, unsigned radius)
{
	const struct route_graph *graph = order->grid.graph;
	struct multi_step *search = calloc(1, sizeof(*search));

	if (search == NULL)
		return NULL;
	search->order = order;
	search->radius = radius;
	ARRAYS_ADD(search, near[0].at, graph->switches + 1u);
	ARRAYS_ADD(search, near[1].at, graph->switches + 1u);
	ARRAYS_ADD(search, used, graph->arcs + 1u);
	ARRAYS_ADD(search, seen, graph->switches + 1u);
	search->near[0].centre = search->near[1].centre = ROUTE_GRAPH_NONE;
	if (!search->arrays.failed)
		return search;
	multi_step_destroy(search);
	errno = ENOMEM;
	return NULL;
}

void multi_step_destroy(struct multi_step *search)
{
	if (search == NULL)
		return;
	arrays_free(&search->arrays);
	free(search->candidate);
	free(search);
}

/* Fills the ball with a breadth-first search. */
static void fill_ball(struct multi_step *search, struct ball *ball, uint32_t centre)
{
	const struct route_graph *graph = search->order->grid.graph;
	uint32_t head = 0, end;

	if (ball->centre == centre)
		return;
	ball->centre = ball->at[0] = centre;
	ball->count = 1;
	search->seen[centre] = ++search->walk;
	for (unsigned links = 0; links < search->radius; links++)
		for (end = ball->count; head < end; head++) {
			uint32_t at = ball->at[head];

			for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1];
				arc++) {
				uint32_t to = graph->arc[arc].to;

				if (search->seen[to] == search->walk)
					continue;
				search->seen[to] = search->walk;
				ball->at[ball->count++] = to;
			}
		}
}

/* Appends one step. Returns false if there is no path, or it exceeds 'max' or does not fit. */
static bool append(const struct multi_step *search, uint32_t from, uint32_t to, unsigned max,
	struct multi_step_path *built)
{
	struct route_path *path = &built->path, step;

	if (!dimension_order_find(search->order, from, to, search->parity, &step) ||
		step.links > max || step.links > ROUTE_LINKS_MAX - path->links)
		return false;
	if (path->links > 0)
		built->steps |= (uint64_t)1 << path->links;
	memcpy(path->arc + path->links, step.arc, step.links * sizeof(*step.arc));
	path->links += step.links;
	return true;
}

static bool visits_once(struct multi_step *search, const struct route_path *path)
{
	const struct route_graph *graph = search->order->grid.graph;

	search->seen[search->near[0].centre] = ++search->walk;
	for (unsigned i = 0; i < path->links; i++) {
		uint64_t *seen = &search->seen[graph->arc[path->arc[i]].to];

		if (*seen == search->walk)
			return false;
		*seen = search->walk;
	}
	return true;
}

/* Builds the path through two switches; a switch that is an end of the path counts as absent.
 * Returns false if the two are not a candidate. */
static bool build(struct multi_step *search, const uint32_t in[2], struct multi_step_path *built)
{
	uint32_t from = search->near[0].centre, to = search->near[1].centre;

	built->steps = 0;
	built->path.links = 0;
	built->path.itb = 0;
	if (in[0] == to || in[1] == from || in[0] == in[1])
		return false;
	if (in[0] != from && !append(search, from, in[0], search->radius, built))
		return false;
	if (!append(search, in[0], in[1], ROUTE_LINKS_MAX, built))
		return false;
	if (in[1] != to && !append(search, in[1], to, search->radius, built))
		return false;
	return route_path_elements(&built->path) + (unsigned)__builtin_popcountll(built->steps) <=
		       ROUTE_ELEMENTS_MAX &&
	       visits_once(search, &built->path);
}

static bool is_free(const struct multi_step *search, const struct route_path *path)
{
	for (unsigned i = 0; i < path->links; i++)
		if (search->used[path->arc[i]] == search->pair)
			return false;
	return true;
}

static void take(struct multi_step *search, const struct route_path *path)
{
	const struct route_graph *graph = search->order->grid.graph;

	for (unsigned i = 0; i < path->links && i < ROUTE_LINKS_MAX; i++)
		search->used[path->arc[i]] = search->used[graph->arc[path->arc[i]].back] =
			search->pair;
}

static bool make_room(struct multi_step *search)
{
	size_t room = (size_t)search->near[0].count * search->near[1].count;
	struct candidate *larger;

	if (room <= search->room)
		return true;
	larger = realloc(search->candidate, room * sizeof(*larger));
	if (larger == NULL)
		return false;
	search->candidate = larger;
	search->room = room;
	return true;
}

/* Collects the candidates that share no link with the first path. */
static void collect(struct multi_step *search, struct rng *rng)
{
	struct multi_step_path built;

	search->candidates = 0;
	for (uint32_t i = 0; i < search->near[0].count; i++)
		for (uint32_t k = 0; k < search->near[1].count; k++) {
			struct candidate next = {
				.in = {search->near[0].at[i], search->near[1].at[k]}};

			if (!build(search, next.in, &built) || !is_free(search, &built.path))
				continue;
			next.key = rng != NULL ? (uint32_t)rng_next(rng)
					       : (uint32_t)search->candidates;
			next.links = (uint8_t)built.path.links;
			next.steps = (uint8_t)__builtin_popcountll(built.steps);
			search->candidate[search->candidates++] = next;
		}
}

static int compare(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->links != b->links)
		return a->links < b->links ? -1 : 1;
	if (a->steps != b->steps)
		return a->steps < b->steps ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return memcmp(a->in, b->in, sizeof(a->in));
}

int multi_step_find(struct multi_step *search, uint32_t from, uint32_t to, unsigned parity,
	struct rng *rng, unsigned wanted, struct multi_step_path *found)
{
	unsigned count = 0;

	search->pair++;
	search->parity = parity;
	fill_ball(search, &search->near[0], from);
	fill_ball(search, &search->near[1], to);
	found[0].steps = 0;
	if (dimension_order_find(search->order, from, to, parity, &found[0].path))
		take(search, &found[count++].path);
	if (count >= wanted)
		return (int)count;
	if (!make_room(search))
		return -ENOMEM;
	collect(search, rng);
	qsort(search->candidate, search->candidates, sizeof(*search->candidate), compare);
	/* The set of used links only grows, so a single pass in order always finds the shortest
	 * remaining path. */
	for (size_t i = 0; i < search->candidates && count < wanted; i++)
		if (build(search, search->candidate[i].in, &found[count]) &&
			is_free(search, &found[count].path))
			take(search, &found[count++].path);
	return (int)count;
}
