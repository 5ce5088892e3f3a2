/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The edges of a schedule, sorted by source, and checked for cycles. */

#include <stdlib.h>

#include "goal_build.h"

static uint32_t target(uint32_t edge)
{
	return edge & ~GOAL_EDGE_STARTED;
}

static int sort_edges(struct goal_builder *build)
{
	struct goal *goal = build->goal;

	goal->edges = (uint32_t)build->pairs;
	goal->first_edge = calloc((size_t)goal->ops + 2, sizeof(*goal->first_edge));
	goal->edge = calloc(build->pairs + 1, sizeof(*goal->edge));
	if (goal->first_edge == NULL || goal->edge == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < build->pairs; i++) {
		goal->first_edge[build->pair[i].from + 2]++;
		goal->op[target(build->pair[i].to)].waits++;
	}
	for (uint32_t op = 0; op < goal->ops; op++)
		goal->first_edge[op + 2] += goal->first_edge[op + 1];
	for (size_t i = 0; i < build->pairs; i++)
		goal->edge[goal->first_edge[build->pair[i].from + 1]++] = build->pair[i].to;
	return 0;
}

/* Kahn's algorithm: removes operations that wait for no remaining one, and counts them. */
static uint32_t take_away(const struct goal *goal, uint32_t *waits, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t op = 0; op < goal->ops; op++) {
		waits[op] = goal->op[op].waits;
		if (waits[op] == 0)
			queue[tail++] = op;
	}
	while (head < tail) {
		uint32_t op = queue[head++];

		for (uint32_t i = goal->first_edge[op]; i < goal->first_edge[op + 1]; i++)
			if (--waits[target(goal->edge[i])] == 0)
				queue[tail++] = target(goal->edge[i]);
	}
	return tail;
}

/* Each remaining operation waits for another remaining one, so following predecessors often enough
 * ends in a cycle. */
static uint32_t find_cycle(const struct goal *goal, const uint32_t *waits, uint32_t *before)
{
	uint32_t at = 0;

	for (uint32_t op = 0; op < goal->ops; op++)
		for (uint32_t i = goal->first_edge[op]; i < goal->first_edge[op + 1]; i++)
			if (waits[op] != 0 && waits[target(goal->edge[i])] != 0)
				before[target(goal->edge[i])] = op;
	while (waits[at] == 0)
		at++;
	for (uint32_t step = 0; step < goal->ops; step++)
		at = before[at];
	return at;
}

static int refuse_cycle(const struct goal_builder *build, uint32_t op)
{
	return error_set(build->lexer->error, EINVAL,
		"%s:%u:1: '%.32s' waits for itself, through what it requires", build->lexer->origin,
		build->goal->op[op].line, goal_label(build->goal, op));
}

int goal_build_edges(struct goal_builder *build)
{
	const struct goal *goal = build->goal;
	uint32_t *waits, *queue;
	int result = sort_edges(build);

	if (result < 0)
		return result;
	waits = calloc((size_t)goal->ops + 1, sizeof(*waits));
	queue = calloc((size_t)goal->ops + 1, sizeof(*queue));
	if (waits == NULL || queue == NULL)
		result = -ENOMEM;
	else if (take_away(goal, waits, queue) < goal->ops)
		result = refuse_cycle(build, find_cycle(goal, waits, queue));
	free(waits);
	free(queue);
	return result;
}
