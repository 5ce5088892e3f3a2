/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "legal_routes.h"
#include "topo/topology_levels.h"

/* Separates this draw from all others of the seed. */
#define ROOT_STREAM UINT64_C(0x726f6f74)

/* Separates these draws from those for pairs, whose devices are hosts or switches. */
#define RANK_DEVICE UINT64_MAX
#define NO_RANK     UINT32_MAX

static void shuffle(const struct route_graph *graph, uint64_t seed, uint32_t *order)
{
	struct rng rng;

	rng_init(&rng, seed, RANK_DEVICE, 0);
	for (uint32_t i = 0; i < graph->switches; i++) {
		uint32_t at = (uint32_t)rng_below(&rng, i + 1u);

		order[i] = order[at];
		order[at] = i;
	}
}

/* Ranks the connected group of switches without hosts around 'start'. 'queue' lists the ranked
 * switches by rank. */
static void rank_group(const struct route_graph *graph, uint32_t start, uint32_t *rank,
	uint32_t *queue, uint32_t *ranked)
{
	uint32_t head = *ranked;

	rank[start] = *ranked;
	queue[(*ranked)++] = start;
	for (; head < *ranked; head++)
		for (uint32_t arc = graph->first_arc[queue[head]];
			arc < graph->first_arc[queue[head] + 1]; arc++) {
			uint32_t to = graph->arc[arc].to;

			if (rank[to] != NO_RANK || route_graph_hosts_at(graph, to) > 0)
				continue;
			rank[to] = *ranked;
			queue[(*ranked)++] = to;
		}
}

uint32_t *switch_rank_make(const struct route_graph *graph, uint64_t seed)
{
	uint32_t *rank = malloc((graph->switches + 1u) * sizeof(*rank)), ranked = 0;
	struct arrays scratch = {0};
	uint32_t *order = arrays_add(&scratch, graph->switches, sizeof(*order));
	uint32_t *queue = arrays_add(&scratch, graph->switches, sizeof(*queue));

	if (rank == NULL || scratch.failed) {
		free(rank);
		arrays_free(&scratch);
		errno = ENOMEM;
		return NULL;
	}
	memset(rank, 0xFF, graph->switches * sizeof(*rank));
	shuffle(graph, seed, order);
	for (uint32_t i = 0; i < graph->switches; i++)
		if (route_graph_hosts_at(graph, order[i]) == 0 && rank[order[i]] == NO_RANK)
			rank_group(graph, order[i], rank, queue, &ranked);
	for (uint32_t i = 0; i < graph->switches; i++)
		if (route_graph_hosts_at(graph, order[i]) > 0)
			rank[order[i]] = ranked++;
	arrays_free(&scratch);
	return rank;
}

struct chooser {
	const struct route_graph *graph;
	const struct route_algorithm *algorithm;
	bool *up;
	struct legal_search *search;
	uint32_t *distance, *queue;
	struct arrays arrays;
};

/* Smaller values mean a better root. */
struct cost {
	uint64_t missed; /* unreachable pairs or switches */
	uint64_t first, second;
};

static bool cheaper(const struct cost *a, const struct cost *b)
{
	if (a->missed != b->missed)
		return a->missed < b->missed;
	return a->first != b->first ? a->first < b->first : a->second < b->second;
}

static void add_destination(struct chooser *chooser, uint32_t to, struct cost *cost)
{
	const struct route_graph *graph = chooser->graph;
	uint64_t hosts = route_graph_hosts_at(graph, to);

	if (hosts == 0)
		return;
	legal_search_run(chooser->search, to);
	for (uint32_t at = 0; at < graph->switches; at++) {
		uint64_t pairs = hosts * route_graph_hosts_at(graph, at);

		if (pairs > 0 && legal_search_count(chooser->search, at) > 0)
			cost->first += pairs * legal_search_links(chooser->search, at);
	}
}

static int cost_of_labels(
	struct chooser *chooser, uint32_t root, struct cost *cost, struct error *error)
{
	const struct route_graph *graph = chooser->graph;
	int result = chooser->algorithm->label(graph, root, chooser->up, error);

	for (uint32_t to = 0; to < graph->switches && result == 0; to++)
		add_destination(chooser, to, cost);
	return result;
}

static void cost_of_distance(struct chooser *chooser, uint32_t root, struct cost *cost)
{
	uint32_t switches = chooser->graph->switches, count = 0;

	memset(chooser->distance, 0xFF, switches * sizeof(*chooser->distance));
	route_graph_spread(chooser->graph, root, chooser->distance, chooser->queue, &count);
	for (uint32_t i = 0; i < count; i++) {
		cost->first = chooser->distance[chooser->queue[i]];
		cost->second += cost->first;
	}
	cost->missed = switches - count;
}

static bool is_candidate(
	const struct route_graph *graph, enum route_root_choice choice, uint32_t at)
{
	return choice != ROUTE_ROOT_DEFAULT || graph->topology->switch_at[at].stage == 1;
}

static int choose_cheapest(
	struct chooser *chooser, enum route_root_choice choice, uint32_t *root, struct error *error)
{
	struct cost min = {.missed = UINT64_MAX};
	int result = 0;

	for (uint32_t at = 0; at < chooser->graph->switches && result == 0; at++) {
		struct cost cost = {0};

		if (!is_candidate(chooser->graph, choice, at))
			continue;
		cost_of_distance(chooser, at, &cost);
		if (choice == ROUTE_ROOT_BEST) {
			cost.first = cost.second = 0;
			result = cost_of_labels(chooser, at, &cost, error);
		}
		if (result == 0 && cheaper(&cost, &min)) {
			min = cost;
			*root = at;
		}
	}
	return result;
}

static int chooser_init(struct chooser *chooser, const struct route_graph *graph)
{
	chooser->graph = graph;
	ARRAYS_ADD(chooser, up, graph->arcs + 1u);
	ARRAYS_ADD(chooser, distance, graph->switches + 1u);
	ARRAYS_ADD(chooser, queue, graph->switches + 1u);
	if (chooser->up != NULL)
		chooser->search = legal_search_create(graph, chooser->up);
	return chooser->search == NULL || chooser->arrays.failed ? -ENOMEM : 0;
}

int route_root_choose(const struct topology *topology, const struct route_algorithm *algorithm,
	enum route_root_choice choice, uint64_t seed, uint32_t *root, struct error *error)
{
	struct chooser chooser = {.algorithm = algorithm};
	struct route_graph *graph;
	struct rng rng;
	int result;

	if (topology->switches == 0)
		return error_set(
			error, EINVAL, "%s: there is no switch for the root", topology->name);
	if (choice == ROUTE_ROOT_RANDOM) {
		rng_init(&rng, seed, 0, ROOT_STREAM);
		*root = (uint32_t)rng_below(&rng, topology->switches);
		return 0;
	}
	*root = 0;
	if (choice == ROUTE_ROOT_DEFAULT && !topology_has_levels(topology))
		return 0;
	graph = route_graph_create(topology);
	result = graph == NULL ? -ENOMEM : chooser_init(&chooser, graph);
	if (result == 0)
		result = choose_cheapest(&chooser, choice, root, error);
	else
		error_set(error, ENOMEM, "%s: not enough memory to choose a root", topology->name);
	legal_search_destroy(chooser.search);
	arrays_free(&chooser.arrays);
	route_graph_destroy(graph);
	return result;
}

int route_root_find(const struct topology *topology, const struct route_algorithm *algorithm,
	const char *text, uint64_t seed, uint32_t *root, struct error *error)
{
	static const char *const names[] = {[ROUTE_ROOT_BEST] = "best",
		[ROUTE_ROOT_CENTRE] = "centre",
		[ROUTE_ROOT_RANDOM] = "random"};
	int32_t found;

	if (text == NULL || text[0] == '\0')
		return route_root_choose(
			topology, algorithm, ROUTE_ROOT_DEFAULT, seed, root, error);
	found = topology_find_switch(topology, text);
	if (found >= 0) {
		*root = (uint32_t)found;
		return 0;
	}
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0)
			return route_root_choose(
				topology, algorithm, (enum route_root_choice)i, seed, root, error);
	return error_set(
		error, EINVAL, "'%s': expected 'best', 'centre', 'random' or a switch name", text);
}
