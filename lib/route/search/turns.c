/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "turns.h"

#include <errno.h>

/* Breadth first from the first switch of each component; marks both arcs of each tree link. */
static void find_tree(const struct route_graph *graph, bool *reached, uint32_t *queue, bool *tree)
{
	for (uint32_t root = 0; root < graph->switches; root++) {
		uint32_t head = 0, tail = 0;

		if (reached[root])
			continue;
		reached[root] = true;
		for (queue[tail++] = root; head < tail; head++) {
			uint32_t at = queue[head];

			for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1];
				arc++) {
				uint32_t to = graph->arc[arc].to;

				if (reached[to])
					continue;
				reached[to] = tree[arc] = tree[graph->arc[arc].back] = true;
				queue[tail++] = to;
			}
		}
	}
}

static void number_turns(struct turns *turns)
{
	const struct route_graph *graph = turns->graph;

	for (uint32_t arc = 0; arc < graph->arcs; arc++) {
		uint32_t to = graph->arc[arc].to;

		turns->first[arc] = turns->turns;
		turns->turns += graph->first_arc[to + 1] - graph->first_arc[to];
	}
	turns->first[graph->arcs] = turns->turns;
}

static void allow_turns(struct turns *turns, const bool *tree)
{
	const struct route_graph *graph = turns->graph;

	for (uint32_t in = 0; in < graph->arcs; in++) {
		uint32_t at = graph->arc[in].to;

		for (uint32_t out = graph->first_arc[at]; out < graph->first_arc[at + 1]; out++) {
			uint32_t turn = turns_number(turns, in, out);

			turns->allowed[turn] = graph->arc[in].back != out;
			turns->kept[turn] = turns->allowed[turn] && tree[in] && tree[out];
		}
	}
}

int turns_init(struct turns *turns, const struct route_graph *graph)
{
	struct arrays scratch = {0};
	bool *reached = arrays_add(&scratch, graph->switches, sizeof(*reached));
	bool *tree = arrays_add(&scratch, graph->arcs, sizeof(*tree));
	uint32_t *queue = arrays_add(&scratch, graph->switches, sizeof(*queue));
	int result = -ENOMEM;

	*turns = (struct turns){.graph = graph};
	ARRAYS_ADD(turns, first, graph->arcs + 1u);
	if (scratch.failed || turns->arrays.failed)
		goto out;
	number_turns(turns);
	ARRAYS_ADD(turns, allowed, turns->turns + 1u);
	ARRAYS_ADD(turns, kept, turns->turns + 1u);
	if (turns->arrays.failed)
		goto out;
	find_tree(graph, reached, queue, tree);
	allow_turns(turns, tree);
	result = 0;
out:
	if (result < 0)
		turns_fini(turns);
	arrays_free(&scratch);
	return result;
}

void turns_fini(struct turns *turns)
{
	arrays_free(&turns->arrays);
	*turns = (struct turns){0};
}

bool turns_forbid(struct turns *turns, uint32_t turn)
{
	if (turns->kept[turn])
		return false;
	turns->allowed[turn] = false;
	return true;
}
