/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "goal_replay_private.h"

static int compare_numbers(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;

	return (one > two) - (one < two);
}

/* Returns the capacity for channels and slots. With rendezvous, a send has three messages. */
static size_t messages_max(const struct goal_replay *replay)
{
	return (replay->rendezvous_bytes != 0 ? 3 : 1) * (size_t)replay->goal->ops + 1;
}

/* For each host, the hosts that it answers, as a range of 'to' that ends at 'end'. */
struct answers {
	uint32_t *end, *to;
};

static int count_answers(const struct goal_replay *replay, struct answers *answers)
{
	const struct goal *goal = replay->goal;

	answers->end = calloc((size_t)replay->hosts + 1, sizeof(*answers->end));
	answers->to =
		spill_zeroed(replay->rendezvous_bytes != 0 ? goal->ops : 1, sizeof(*answers->to));
	if (answers->end == NULL || answers->to == NULL)
		return -ENOMEM;
	for (uint32_t op = 0; op < goal->ops && replay->rendezvous_bytes != 0; op++)
		if (goal->op[op].kind == GOAL_SEND && goal_replay_asks(replay, op))
			answers->end[replay->rank[goal->op[op].peer].host + 1]++;
	for (uint32_t host = 0; host < replay->hosts; host++)
		answers->end[host + 1] += answers->end[host];
	for (uint32_t op = 0; op < goal->ops && replay->rendezvous_bytes != 0; op++)
		if (goal->op[op].kind == GOAL_SEND && goal_replay_asks(replay, op))
			answers->to[answers->end[replay->rank[goal->op[op].peer].host]++] =
				replay->rank[replay->owner[op]].host;
	return 0;
}

/* Creates a host's channels from its destinations, for which 'scratch' has room. */
static void make_channels(struct goal_replay *replay, struct goal_replay_host *host,
	const struct answers *answers, uint32_t *scratch, uint32_t *channels, uint32_t *slots)
{
	size_t at = (size_t)(host - replay->host);
	uint32_t sends = 0;

	for (uint32_t i = at > 0 ? answers->end[at - 1] : 0; i < answers->end[at]; i++)
		scratch[sends++] = answers->to[i];

	host->first_channel = *channels;
	for (uint32_t i = 0; i < host->ranks; i++) {
		uint32_t number = replay->by_host[host->first_rank + i];
		const struct goal_rank *range = &replay->goal->rank[number];

		for (uint32_t op = range->first; op < range->first + range->count; op++)
			if (replay->goal->op[op].kind == GOAL_SEND &&
				!goal_replay_is_copy(replay, op)) {
				uint32_t to = replay->rank[replay->goal->op[op].peer].host;

				scratch[sends++] = to;
				if (goal_replay_asks(replay, op))
					scratch[sends++] = to;
			}
	}
	if (sends > 0)
		qsort(scratch, sends, sizeof(*scratch), compare_numbers);
	for (uint32_t i = 0; i < sends; i++, (*slots)++) {
		if (i == 0 || scratch[i] != scratch[i - 1])
			replay->channel[(*channels)++] =
				(struct goal_replay_channel){.to = scratch[i], .first = *slots};
		replay->channel[*channels - 1].sends++;
	}
	host->channels = *channels - host->first_channel;
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

/* The CPUs of a host are contiguous in the array. */
static int make_cpus(struct goal_replay *replay)
{
	uint32_t cpus = 0;

	for (uint32_t i = 0; i < replay->hosts; i++) {
		struct goal_replay_host *host = &replay->host[i];

		host->first_cpu = cpus;
		for (uint32_t j = 0; j < host->ranks; j++) {
			uint32_t rank = replay->by_host[host->first_rank + j];

			replay->rank[rank].first_cpu = cpus;
			cpus += count_cpus(replay->goal, rank);
		}
		host->cpus = ++cpus - host->first_cpu;
	}
	ARRAYS_ADD(replay, cpu, cpus);
	if (replay->cpu == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cpus; i++)
		replay->cpu[i] = (struct goal_replay_cpu){
			.ready = {GOAL_NONE, GOAL_NONE}, .running = GOAL_NONE};
	for (uint32_t i = 0; i < replay->hosts; i++)
		replay->cpu[replay->host[i].first_cpu + replay->host[i].cpus - 1].copies = true;
	return 0;
}

static void place_ranks(struct goal_replay *replay, const uint16_t *host_of)
{
	const struct goal *goal = replay->goal;
	uint32_t first = 0;

	for (uint32_t rank = 0; rank < goal->ranks; rank++) {
		replay->rank[rank].host = host_of != NULL ? host_of[rank] : rank;
		replay->host[replay->rank[rank].host].ranks++;
	}
	for (uint32_t i = 0; i < replay->hosts; i++) {
		replay->host[i].first_rank = first;
		first += replay->host[i].ranks;
		replay->host[i].ranks = 0;
	}
	for (uint32_t rank = 0; rank < goal->ranks; rank++) {
		struct goal_replay_host *host = &replay->host[replay->rank[rank].host];

		replay->by_host[host->first_rank + host->ranks++] = rank;
		host->left += goal->rank[rank].count;
		for (uint32_t i = 0; i < goal->rank[rank].count; i++)
			replay->owner[goal->rank[rank].first + i] = rank;
	}
}

static int make_rooms(struct goal_replay *replay, bool times)
{
	const struct goal *goal = replay->goal;
	size_t ops = (size_t)goal->ops + 1, messages = messages_max(replay);
	size_t queues = replay->interleave ? messages : replay->hosts;

	ARRAYS_ADD(replay, rank, goal->ranks);
	ARRAYS_ADD(replay, host, replay->hosts);
	ARRAYS_ADD(replay, by_host, goal->ranks);
	ARRAYS_ADD(replay, channel, messages);
	ARRAYS_ADD(replay, slot, messages);
	ARRAYS_ADD(replay, queue, queues);
	ARRAYS_ADD(replay, next_queue, queues);
	ARRAYS_ADD(replay, waits, ops);
	ARRAYS_ADD(replay, next, ops);
	ARRAYS_ADD(replay, next_message, ops);
	ARRAYS_ADD(replay, owner, ops);
	ARRAYS_ADD(replay, due_ps, ops);
	ARRAYS_ADD(replay, state, ops);
	if (times)
		ARRAYS_ADD(replay, times, ops);
	if (replay->arrays.failed)
		return -ENOMEM;
	for (size_t i = 0; i < queues; i++)
		replay->queue[i].due = (struct op_list){GOAL_NONE, GOAL_NONE};
	for (uint32_t op = 0; times && op < goal->ops; op++)
		replay->times[op].due_ps = replay->times[op].arrived_ps = WEFT_TIME_NEVER;
	return 0;
}

static void begin_host(struct goal_replay *replay, struct goal_replay_host *host, weft_time start)
{
	struct op_list ready = {GOAL_NONE, GOAL_NONE};

	host->turn = ready;
	for (uint32_t i = 0; i < host->ranks; i++) {
		uint32_t number = replay->by_host[host->first_rank + i];
		const struct goal_rank *range = &replay->goal->rank[number];

		replay->rank[number].posted = replay->rank[number].unexpected =
			(struct op_list){GOAL_NONE, GOAL_NONE};
		for (uint32_t op = range->first; op < range->first + range->count; op++) {
			replay->waits[op] = replay->goal->op[op].waits;
			if (replay->waits[op] == 0)
				op_list_push(&ready, replay->next, op);
		}
	}
	goal_replay_begin(replay, start, &ready);
}

static int make(struct goal_replay *replay, const struct goal_replay_config *config)
{
	uint32_t *scratch = spill_zeroed(messages_max(replay), sizeof(*scratch));
	struct answers answers = {0};
	uint32_t channels = 0, slots = 0;
	int result = scratch == NULL ? -ENOMEM : make_rooms(replay, config->times);

	if (result == 0) {
		place_ranks(replay, config->host_of);
		result = make_cpus(replay);
	}
	if (result == 0)
		result = count_answers(replay, &answers);
	for (uint32_t host = 0; host < replay->hosts && result == 0; host++)
		make_channels(replay, &replay->host[host], &answers, scratch, &channels, &slots);
	for (uint32_t host = 0; host < replay->hosts && result == 0; host++)
		begin_host(replay, &replay->host[host], config->start);
	spill_free(scratch);
	free(answers.end);
	spill_free(answers.to);
	return result;
}

struct goal_replay *goal_replay_create(const struct goal_replay_config *config)
{
	struct goal_replay *replay = calloc(1, sizeof(*replay));

	if (replay != NULL) {
		replay->goal = config->goal;
		replay->arrays.spills = config->spills;
		replay->hosts = config->host_of != NULL ? config->hosts : config->goal->ranks;
		replay->copy_rate_bps = config->copy_rate_bps;
		replay->overhead_ps = config->overhead_ps;
		replay->gap_ps = config->gap_ps;
		replay->interleave = config->interleave;
		replay->rendezvous_bytes = config->rendezvous_bytes;
		replay->piece_bytes = config->piece_bytes != 0 ? config->piece_bytes : UINT64_MAX;
	}
	if (replay == NULL || make(replay, config) < 0) {
		goal_replay_destroy(replay);
		errno = ENOMEM;
		return NULL;
	}
	return replay;
}

void goal_replay_destroy(struct goal_replay *replay)
{
	ARRAYS_DESTROY(replay);
}

static void describe_match(uint32_t value, bool any, char out[16])
{
	if (any)
		snprintf(out, 16, "any");
	else
		snprintf(out, 16, "%" PRIu32, value);
}

static const char *not_ended(uint64_t operations)
{
	return operations == 1 ? "operation has not ended" : "operations have not ended";
}

static int refuse_recv(const struct goal_replay *replay, uint32_t rank, uint32_t op,
	uint64_t others, struct error *error)
{
	const struct goal_op *recv = &replay->goal->op[op];
	char peer[16], tag[16], name[GOAL_RANK_TEXT];

	describe_match(goal_rank_number(replay->goal, recv->peer), recv->peer == GOAL_ANY, peer);
	describe_match(recv->tag, recv->any_tag, tag);
	return error_set(error, EINVAL,
		"%s: recv '%.32s' (line %u) from %s tag %s received no message; %" PRIu64 " %s",
		goal_rank_text(replay->goal, rank, name), goal_label(replay->goal, op), recv->line,
		peer, tag, others, not_ended(others));
}

static int refuse_op(const struct goal_replay *replay, uint32_t rank, uint32_t op, uint64_t others,
	struct error *error)
{
	char name[GOAL_RANK_TEXT];

	return error_set(error, EINVAL, "%s: %s '%.32s' (line %u) has not ended; %" PRIu64 " %s",
		goal_rank_text(replay->goal, rank, name),
		goal_kind_name((enum goal_kind)replay->goal->op[op].kind),
		goal_label(replay->goal, op), replay->goal->op[op].line, others, not_ended(others));
}

static int refuse_message(const struct goal_replay *replay, uint32_t rank, struct error *error)
{
	uint32_t op = replay->rank[rank].unexpected.head;
	char name[GOAL_RANK_TEXT];

	return error_set(error, EINVAL,
		"%s: no recv took the message of rank %u's send '%.32s' (line %u)",
		goal_rank_text(replay->goal, rank, name),
		goal_rank_number(replay->goal, replay->owner[op]), goal_label(replay->goal, op),
		replay->goal->op[op].line);
}

int goal_replay_diagnose(const struct goal_replay *replay, struct error *error)
{
	const struct goal *goal = replay->goal;
	uint64_t others = goal->ops - goal_replay_count(replay);

	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		if (replay->rank[rank].posted.head != GOAL_NONE)
			return refuse_recv(
				replay, rank, replay->rank[rank].posted.head, others, error);
	for (uint32_t rank = 0; rank < goal->ranks && others > 0; rank++)
		for (uint32_t i = 0; i < goal->rank[rank].count; i++)
			if (replay->state[goal->rank[rank].first + i] != OP_DONE)
				return refuse_op(
					replay, rank, goal->rank[rank].first + i, others, error);
	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		if (replay->rank[rank].unexpected.head != GOAL_NONE)
			return refuse_message(replay, rank, error);
	return 0;
}

void goal_replay_alone(struct goal_replay *replay)
{
	weft_time now = 0;

	while (now != WEFT_TIME_NEVER) {
		weft_time next = WEFT_TIME_NEVER;
		struct goal_message message;

		for (uint32_t rank = 0; rank < replay->goal->ranks; rank++)
			while (goal_replay_poll(replay, rank, now, &message)) {
				goal_replay_accept(replay, rank, now);
				goal_replay_deliver(replay, message.to, rank, now);
			}
		for (uint32_t rank = 0; rank < replay->goal->ranks; rank++) {
			weft_time at = goal_replay_next(replay, rank);

			next = at < next ? at : next;
		}
		now = next == WEFT_TIME_NEVER || next > now ? next : now;
	}
}
