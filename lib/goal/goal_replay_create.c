/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <stdlib.h>

#include "goal_replay_private.h"

static int compare_numbers(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;

	return (one > two) - (one < two);
}

/* Makes the channels of a rank from the destinations of its sends; 'scratch' has room for them. */
static void make_channels(struct goal_replay *replay, uint32_t number, uint32_t *scratch,
	uint32_t *channels, uint32_t *slots)
{
	const struct goal_rank *range = &replay->goal->rank[number];
	struct goal_replay_rank *rank = &replay->rank[number];
	uint32_t sends = 0;

	rank->first_channel = *channels;
	for (uint32_t op = range->first; op < range->first + range->count; op++) {
		replay->source[op] = number;
		if (replay->goal->op[op].kind == GOAL_SEND)
			scratch[sends++] = replay->goal->op[op].peer;
	}
	if (sends > 0)
		qsort(scratch, sends, sizeof(*scratch), compare_numbers);
	for (uint32_t i = 0; i < sends; i++, (*slots)++) {
		if (i == 0 || scratch[i] != scratch[i - 1])
			replay->channel[(*channels)++] =
				(struct goal_replay_channel){.to = scratch[i], .first = *slots};
		replay->channel[*channels - 1].sends++;
	}
	rank->channels = *channels - rank->first_channel;
}

static uint32_t count_cpus(const struct goal *goal, uint32_t rank)
{
	uint32_t cpus = 1;

	for (uint32_t i = 0; i < goal->rank[rank].count; i++) {
		uint32_t used = goal->op[goal->rank[rank].first + i].cpu + 1u;

		cpus = used > cpus ? used : cpus;
	}
	return cpus;
}

static int make_cpus(struct goal_replay *replay)
{
	uint32_t cpus = 0;

	for (uint32_t i = 0; i < replay->goal->ranks; i++) {
		replay->rank[i].first_cpu = cpus;
		replay->rank[i].cpus = count_cpus(replay->goal, i);
		cpus += replay->rank[i].cpus;
	}
	ARRAYS_ADD(replay, cpu, cpus);
	if (replay->cpu == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cpus; i++)
		replay->cpu[i] = (struct goal_replay_cpu){
			.ready = {GOAL_NONE, GOAL_NONE}, .running = GOAL_NONE};
	return 0;
}

static int make_rooms(struct goal_replay *replay)
{
	const struct goal *goal = replay->goal;
	size_t ops = (size_t)goal->ops + 1;

	ARRAYS_ADD(replay, rank, goal->ranks);
	ARRAYS_ADD(replay, channel, ops);
	ARRAYS_ADD(replay, slot, ops);
	ARRAYS_ADD(replay, waits, ops);
	ARRAYS_ADD(replay, next, ops);
	ARRAYS_ADD(replay, next_message, ops);
	ARRAYS_ADD(replay, source, ops);
	ARRAYS_ADD(replay, due_ps, ops);
	ARRAYS_ADD(replay, state, ops);
	if (replay->arrays.failed)
		return -ENOMEM;
	return make_cpus(replay);
}

static void begin_rank(struct goal_replay *replay, uint32_t number, weft_time start)
{
	const struct goal_rank *range = &replay->goal->rank[number];
	struct op_list ready = {GOAL_NONE, GOAL_NONE};
	struct goal_replay_rank *rank = &replay->rank[number];

	rank->due = rank->posted = rank->unexpected = ready;
	for (uint32_t op = range->first; op < range->first + range->count; op++) {
		replay->waits[op] = replay->goal->op[op].waits;
		if (replay->waits[op] == 0)
			op_list_push(&ready, replay->next, op);
	}
	goal_replay_begin(replay, rank, start, &ready);
}

struct goal_replay *goal_replay_create(const struct goal *goal, weft_time start)
{
	struct goal_replay *replay = calloc(1, sizeof(*replay));
	uint32_t *scratch = calloc((size_t)goal->ops + 1, sizeof(*scratch));
	uint32_t channels = 0, slots = 0;

	if (replay == NULL || scratch == NULL)
		goto err;
	replay->goal = goal;
	if (make_rooms(replay) < 0)
		goto err;
	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		make_channels(replay, rank, scratch, &channels, &slots);
	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		begin_rank(replay, rank, start);
	free(scratch);
	return replay;
err:
	free(scratch);
	goal_replay_destroy(replay);
	errno = ENOMEM;
	return NULL;
}

void goal_replay_destroy(struct goal_replay *replay)
{
	if (replay == NULL)
		return;
	arrays_free(&replay->arrays);
	free(replay);
}
