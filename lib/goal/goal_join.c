/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal.h"

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"

#define START_LABEL "start"

struct sizes {
	uint64_t ranks, ops, edges, labels;
};

/* Counts the operations of a rank that have no requirements. */
static uint32_t count_first(const struct goal *goal, uint32_t rank)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < goal->rank[rank].count; i++)
		count += goal->op[goal->rank[rank].first + i].waits == 0;
	return count;
}

static size_t labels_of(const struct goal *goal)
{
	uint32_t last = 0;

	for (uint32_t op = 0; op < goal->ops; op++)
		last = goal->op[op].label > last ? goal->op[op].label : last;
	return last + strlen(goal->labels + last) + 1;
}

static struct sizes measure(const struct goal_part *part, uint32_t parts)
{
	struct sizes sizes = {.labels = sizeof(START_LABEL) + 1};

	for (uint32_t i = 0; i < parts; i++) {
		const struct goal *goal = part[i].goal;

		sizes.ranks += goal->ranks;
		sizes.ops += goal->ops;
		sizes.edges += goal->edges;
		sizes.labels += labels_of(goal);
		for (uint32_t rank = 0; part[i].delay_ns > 0 && rank < goal->ranks; rank++) {
			sizes.ops += goal->rank[rank].count > 0;
			sizes.edges += count_first(goal, rank);
		}
	}
	return sizes;
}

/* Appends the calc that delays the first operations of a rank. */
static void add_start(struct goal *into, const struct goal *from, uint32_t rank, uint64_t delay_ns)
{
	uint32_t start = into->ops++;

	into->starts++;
	into->op[start] = (struct goal_op){.kind = GOAL_CALC, .amount = delay_ns, .label = 1};
	for (uint32_t i = 0; i < from->rank[rank].count; i++)
		if (from->op[from->rank[rank].first + i].waits == 0)
			into->edge[into->edges++] = start + 1 + i;
	into->first_edge[into->ops] = into->edges;
}

static void add_rank(struct goal *into, const struct goal_part *part, uint32_t rank,
	uint32_t first_rank, uint32_t first_label)
{
	const struct goal *from = part->goal;
	const struct goal_rank *range = &from->rank[rank];
	bool delayed = part->delay_ns > 0 && range->count > 0;
	uint32_t first = into->ops + delayed;

	into->rank[first_rank + rank] =
		(struct goal_rank){.first = into->ops, .count = range->count + delayed};
	if (delayed)
		add_start(into, from, rank, part->delay_ns);
	for (uint32_t i = 0; i < range->count; i++) {
		uint32_t old = range->first + i;
		struct goal_op *op = &into->op[into->ops++];

		*op = from->op[old];
		if (op->kind != GOAL_CALC && op->peer != GOAL_ANY)
			op->peer += first_rank;
		op->label = op->label == 0 ? 0 : op->label + first_label;
		op->waits += delayed && op->waits == 0;
		for (uint32_t k = from->first_edge[old]; k < from->first_edge[old + 1]; k++)
			into->edge[into->edges++] = from->edge[k] - range->first + first;
		into->first_edge[into->ops] = into->edges;
	}
}

static void add_part(
	struct goal *into, const struct goal_part *part, uint32_t number, size_t *labels)
{
	const struct goal *from = part->goal;
	size_t length = labels_of(from);

	into->part[number].first_rank = into->ranks;
	snprintf(into->part[number].name, sizeof(into->part[number].name), "%s", part->name);
	memcpy(into->labels + *labels, from->labels, length);
	for (uint32_t rank = 0; rank < from->ranks; rank++)
		add_rank(into, part, rank, into->ranks, (uint32_t)*labels);
	into->ranks += from->ranks;
	*labels += length;
	if (into->nic_line == 0)
		into->nic_line = from->nic_line;
}

static struct goal *allocate(const struct sizes *sizes, uint32_t parts)
{
	struct goal *goal = calloc(1, sizeof(*goal));

	if (goal == NULL)
		return NULL;
	goal->rank = calloc(sizes->ranks + 1, sizeof(*goal->rank));
	goal->op = spill_zeroed(sizes->ops + 1, sizeof(*goal->op));
	goal->first_edge = spill_zeroed(sizes->ops + 1, sizeof(*goal->first_edge));
	goal->edge = spill_zeroed(sizes->edges + 1, sizeof(*goal->edge));
	goal->labels = spill_zeroed(sizes->labels, 1);
	goal->part = calloc(parts, sizeof(*goal->part));
	goal->parts = parts;
	if (goal->rank != NULL && goal->op != NULL && goal->first_edge != NULL &&
		goal->edge != NULL && goal->labels != NULL && goal->part != NULL)
		return goal;
	goal_destroy(goal);
	return NULL;
}

struct goal *goal_join(const struct goal_part *part, uint32_t parts, struct error *error)
{
	struct sizes sizes = measure(part, parts);
	size_t labels = sizeof(START_LABEL) + 1;
	struct goal *goal;

	if (sizes.ranks > GOAL_RANKS_MAX || sizes.ops > GOAL_OPS_MAX ||
		sizes.edges > GOAL_EDGES_MAX || sizes.labels > UINT32_MAX) {
		errno = EINVAL;
		error_set(error, EINVAL,
			"the schedules of all jobs exceed a limit: %llu of %u ranks, %llu of %u "
			"operations, %llu of %u dependencies",
			(unsigned long long)sizes.ranks, GOAL_RANKS_MAX,
			(unsigned long long)sizes.ops, GOAL_OPS_MAX,
			(unsigned long long)sizes.edges, GOAL_EDGES_MAX);
		return NULL;
	}
	goal = allocate(&sizes, parts);
	if (goal == NULL) {
		errno = ENOMEM;
		error_set(error, ENOMEM, "not enough memory for the schedules");
		return NULL;
	}
	memcpy(goal->labels + 1, START_LABEL, sizeof(START_LABEL));
	for (uint32_t i = 0; i < parts; i++)
		add_part(goal, &part[i], i, &labels);
	return goal;
}
