/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/rng.h"

#define ROOM_FIRST 64

int goal_build_begin(struct goal_builder *build, const struct goal_lexer *lexer, uint32_t ranks)
{
	struct goal *goal = build->goal;

	build->lexer = lexer;
	goal->ranks = ranks;
	goal->rank = calloc(ranks, sizeof(*goal->rank));
	goal->labels = spill_zeroed(1, ROOM_FIRST);
	build->labels_room = ROOM_FIRST;
	build->labels_length = 1; /* offset 0: no label */
	build->rank_line = calloc(ranks, sizeof(*build->rank_line));
	build->cpu_at = calloc(GOAL_CPU_MAX + 1, sizeof(*build->cpu_at));
	return goal->rank == NULL || goal->labels == NULL || build->rank_line == NULL ||
			       build->cpu_at == NULL
		       ? -ENOMEM
		       : 0;
}

int goal_build_rank(struct goal_builder *build, uint32_t rank, const struct goal_token *place)
{
	if (build->rank_line[rank] != 0)
		return GOAL_REFUSE(build->lexer, place,
			"duplicate schedule for rank %u; the first one is in line %u", rank,
			build->rank_line[rank]);
	build->rank = rank;
	build->rank_line[rank] = place->line;
	build->goal->rank[rank].first = build->goal->ops;
	build->labelled = build->requires_count = 0;
	return 0;
}

static int keep_label(struct goal_builder *build, const struct goal_token *label, uint32_t *offset)
{
	struct goal *goal = build->goal;

	if (build->labels_length + label->length >= UINT32_MAX)
		return GOAL_REFUSE(
			build->lexer, label, "the labels take more than 4 GiB; use shorter ones");
	if (!array_reserve_spill(&goal->labels, &build->labels_room,
		    build->labels_length + label->length + 1, 1))
		return -ENOMEM;
	*offset = (uint32_t)build->labels_length;
	memcpy(goal->labels + build->labels_length, label->text, label->length);
	goal->labels[build->labels_length + label->length] = '\0';
	build->labels_length += label->length + 1;
	build->labelled++;
	return 0;
}

int goal_build_op(
	struct goal_builder *build, const struct goal_op *op, const struct goal_token *label)
{
	struct goal *goal = build->goal;
	struct goal_op kept = *op;
	int result = 0;

	if (!array_reserve_spill(&goal->op, &build->ops_room, goal->ops + 1u, sizeof(*goal->op)))
		return -ENOMEM;
	if (goal->ops == GOAL_OPS_MAX)
		return error_at(build->lexer->error, build->lexer->origin, op->line, 1,
			"there are more than %u operations", GOAL_OPS_MAX);
	if (label != NULL)
		result = keep_label(build, label, &kept.label);
	if (result < 0)
		return result;
	goal->op[goal->ops++] = kept;
	goal->rank[build->rank].count++;
	return 0;
}

int goal_build_requires(struct goal_builder *build, const struct goal_token *waiting,
	const struct goal_token *other, bool started)
{
	if (!array_reserve_spill(&build->requires, &build->requires_room, build->requires_count + 1,
		    sizeof(*build->requires)))
		return -ENOMEM;
	build->requires[build->requires_count++] = (struct goal_requires){waiting->text,
		other->text, (uint32_t)waiting->length, (uint32_t)other->length, started};
	return 0;
}

/* Returns the place of a label in the table, which is free if no operation has the label. The hash
 * starts with an address, so that a file cannot contain labels that all collide. */
static uint32_t *place_of_label(const struct goal_builder *build, const char *text, size_t length)
{
	for (uint64_t i = byte_hash((uintptr_t)build->goal, text, length);; i++) {
		uint32_t *place = &build->table[i & (build->table_size - 1)];
		const char *label = *place != 0 ? goal_label(build->goal, *place - 1) : NULL;

		if (label == NULL || (strncmp(label, text, length) == 0 && label[length] == '\0'))
			return place;
	}
}

static int fill_table(struct goal_builder *build)
{
	const struct goal *goal = build->goal;

	for (build->table_size = ROOM_FIRST; build->table_size < 2 * build->labelled;)
		build->table_size *= 2;
	if (!array_reserve_spill(
		    &build->table, &build->table_room, build->table_size, sizeof(*build->table)))
		return -ENOMEM;
	memset(build->table, 0, build->table_size * sizeof(*build->table));
	for (uint32_t op = goal->rank[build->rank].first; op < goal->ops; op++) {
		const char *label = goal_label(goal, op);
		uint32_t *place = goal->op[op].label != 0
					  ? place_of_label(build, label, strlen(label))
					  : NULL;

		if (place != NULL && *place != 0)
			return error_set(build->lexer->error, EINVAL,
				"%s:%u:1: duplicate '%.32s' in rank %u; the first one is in line %u",
				build->lexer->origin, goal->op[op].line, label, build->rank,
				goal->op[*place - 1].line);
		if (place != NULL)
			*place = op + 1;
	}
	return 0;
}

static int find_label(
	const struct goal_builder *build, const char *text, uint32_t length, uint32_t *op)
{
	uint32_t place = *place_of_label(build, text, length);
	struct goal_token token;

	*op = place - 1;
	if (place != 0)
		return 0;
	goal_lexer_place(build->lexer, text, &token);
	return GOAL_REFUSE(build->lexer, &token, "rank %u has no operation '%.*s'", build->rank,
		length > 32 ? 32 : (int)length, text);
}

int goal_build_pair(struct goal_builder *build, uint32_t from, uint32_t to)
{
	if (build->pairs == GOAL_EDGES_MAX)
		return error_at(build->lexer->error, build->lexer->origin,
			build->goal->op[from].line, 1, "there are more than %u dependencies",
			GOAL_EDGES_MAX);
	if (!array_reserve_spill(
		    &build->pair, &build->pairs_room, build->pairs + 1, sizeof(*build->pair)))
		return -ENOMEM;
	build->pair[build->pairs++] = (struct goal_pair){from, to};
	return 0;
}

static int tie(struct goal_builder *build, const struct goal_requires *requires)
{
	uint32_t from, to;
	int result = find_label(build, requires->waiting, requires->waiting_length, &to);

	if (result == 0)
		result = find_label(build, requires->other, requires->other_length, &from);
	return result < 0 ? result
			  : goal_build_pair(
				    build, from, to | (requires->started ? GOAL_EDGE_STARTED : 0));
}

/* Renumbers the rank's CPUs as 0, 1, …, because a file may use few CPUs with large numbers. */
static void number_cpus(struct goal_builder *build)
{
	const struct goal_rank *rank = &build->goal->rank[build->rank];
	struct goal_op *op;
	uint16_t max = 0, place = 0;

	if (rank->count == 0)
		return;
	op = build->goal->op + rank->first;
	for (uint32_t i = 0; i < rank->count; i++)
		max = op[i].cpu > max ? op[i].cpu : max;
	if (max == 0)
		return;
	memset(build->cpu_at, 0, (max + 1u) * sizeof(*build->cpu_at));
	for (uint32_t i = 0; i < rank->count; i++)
		build->cpu_at[op[i].cpu] = 1;
	for (uint32_t cpu = 0; cpu <= max; cpu++)
		if (build->cpu_at[cpu] != 0)
			build->cpu_at[cpu] = place++;
	for (uint32_t i = 0; i < rank->count; i++)
		op[i].cpu = build->cpu_at[op[i].cpu];
}

int goal_build_rank_end(struct goal_builder *build)
{
	int result = fill_table(build);

	number_cpus(build);
	for (size_t i = 0; i < build->requires_count && result == 0; i++)
		result = tie(build, &build->requires[i]);
	return result;
}

void goal_build_fini(struct goal_builder *build)
{
	free(build->rank_line);
	free(build->cpu_at);
	spill_free(build->requires);
	spill_free(build->table);
	spill_free(build->pair);
}
