/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

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

/* Ranks the connected group of switches without hosts around this one; 'queue' has those ranked so
 * far, by rank. */
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
