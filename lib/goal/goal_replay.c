/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal_replay.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NONE UINT32_MAX

enum op_state { OP_WAITING, OP_READY, OP_POSTED, OP_DONE };

/* A list of operations, linked through one array. */
struct op_list {
	uint32_t head, tail;
};

/* One CPU of a rank. */
struct cpu {
	struct op_list ready;
	uint32_t running; /* NONE: idle */
	weft_time until;
};

/* What one rank sends to another, in the order in which the interface took it. The sender writes
 * the slot and 'sent', the receiver 'taken'. */
struct channel {
	uint32_t to;
	uint32_t first; /* of its slots */
	_Atomic uint32_t sent;
	uint32_t taken;
};

/* All of one rank; one thread's. */
struct rank {
	struct op_list due;        /* sends */
	struct op_list posted;     /* recvs without a message */
	struct op_list unexpected; /* messages without a recv: the senders' operations */
	uint32_t first_cpu, cpus, first_channel, channels;
	_Atomic uint32_t ended;
	weft_time ended_ps;
};

struct goal_replay {
	const struct goal *goal;
	struct rank *rank;
	struct cpu *cpu;
	struct channel *channel;
	uint32_t *slot;
	/* By operation. */
	uint32_t *waits, *next, *next_message; /* next_message: the receiver's */
	uint32_t *source;                      /* of a send: the rank that it is of */
	weft_time *due_ps;
	uint8_t *state;
};

static void list_push(struct op_list *list, uint32_t *next, uint32_t op)
{
	next[op] = NONE;
	if (list->head == NONE)
		list->head = op;
	else
		next[list->tail] = op;
	list->tail = op;
}

static uint32_t list_pop(struct op_list *list, const uint32_t *next)
{
	uint32_t op = list->head;

	list->head = next[op];
	return op;
}

/* 'before' is the one in front of it, NONE for the head. */
static void list_remove(struct op_list *list, uint32_t *next, uint32_t before, uint32_t op)
{
	if (before == NONE)
		list->head = next[op];
	else
		next[before] = next[op];
	if (list->tail == op)
		list->tail = before;
}

static weft_time later(weft_time at, uint64_t ns)
{
	weft_time ps = ns * PS_PER_NS;

	return at > WEFT_TIME_NEVER - 1 - ps ? WEFT_TIME_NEVER - 1 : at + ps;
}

static bool fits(const struct goal_replay *replay, uint32_t recv, uint32_t send)
{
	const struct goal_op *wanted = &replay->goal->op[recv], *sent = &replay->goal->op[send];

	return (wanted->peer == GOAL_ANY || wanted->peer == replay->source[send]) &&
	       (wanted->tag == GOAL_ANY || wanted->tag == sent->tag);
}

/* Tells those that wait for it that an operation has begun or ended; who waits for nothing more is
 * put into 'ready'. */
static void release(struct goal_replay *replay, uint32_t op, uint32_t moment, struct op_list *ready)
{
	const struct goal *goal = replay->goal;

	for (uint32_t i = goal->first_edge[op]; i < goal->first_edge[op + 1]; i++) {
		uint32_t to = goal->edge[i] & ~GOAL_EDGE_STARTED;

		if ((goal->edge[i] & GOAL_EDGE_STARTED) == moment && --replay->waits[to] == 0)
			list_push(ready, replay->next, to);
	}
}

static void end(struct goal_replay *replay, struct rank *rank, uint32_t op, weft_time at,
	struct op_list *ready)
{
	replay->state[op] = OP_DONE;
	if (at > rank->ended_ps)
		rank->ended_ps = at;
	release(replay, op, 0, ready);
	atomic_fetch_add_explicit(&rank->ended, 1, memory_order_release);
}

static void run_cpu(
	struct goal_replay *replay, struct cpu *cpu, weft_time at, struct op_list *ready)
{
	if (cpu->running != NONE || cpu->ready.head == NONE)
		return;
	cpu->running = list_pop(&cpu->ready, replay->next);
	cpu->until = later(at, replay->goal->op[cpu->running].amount);
	release(replay, cpu->running, GOAL_EDGE_STARTED, ready);
}

/* A message that has arrived already, or a place among those that wait. */
static void post_recv(struct goal_replay *replay, struct rank *rank, uint32_t op, weft_time at,
	struct op_list *ready)
{
	uint32_t before = NONE;

	release(replay, op, GOAL_EDGE_STARTED, ready);
	for (uint32_t send = rank->unexpected.head; send != NONE;
		before = send, send = replay->next_message[send]) {
		if (!fits(replay, op, send))
			continue;
		list_remove(&rank->unexpected, replay->next_message, before, send);
		end(replay, rank, op, at, ready);
		return;
	}
	replay->state[op] = OP_POSTED;
	list_push(&rank->posted, replay->next, op);
}

/* Begins everything that has become ready at this moment, and what becomes ready by that. */
static void begin_all(
	struct goal_replay *replay, struct rank *rank, weft_time at, struct op_list *ready)
{
	while (ready->head != NONE) {
		uint32_t op = list_pop(ready, replay->next);
		struct cpu *cpu = &replay->cpu[rank->first_cpu + replay->goal->op[op].cpu];

		replay->state[op] = OP_READY;
		switch ((enum goal_kind)replay->goal->op[op].kind) {
		case GOAL_SEND:
			replay->due_ps[op] = at;
			list_push(&rank->due, replay->next, op);
			release(replay, op, GOAL_EDGE_STARTED, ready);
			break;
		case GOAL_RECV:
			post_recv(replay, rank, op, at, ready);
			break;
		case GOAL_CALC:
			list_push(&cpu->ready, replay->next, op);
			run_cpu(replay, cpu, at, ready);
			break;
		}
	}
}

/* The CPU whose calc ends first. */
static struct cpu *first_cpu(const struct goal_replay *replay, const struct rank *rank)
{
	struct cpu *first = NULL;

	for (uint32_t i = 0; i < rank->cpus; i++) {
		struct cpu *cpu = &replay->cpu[rank->first_cpu + i];

		if (cpu->running != NONE && (first == NULL || cpu->until < first->until))
			first = cpu;
	}
	return first;
}

/* The calcs that end by 'now', in the order of their ends, and what follows from them. */
static void pass_time(struct goal_replay *replay, struct rank *rank, weft_time now)
{
	struct cpu *cpu;

	while ((cpu = first_cpu(replay, rank)) != NULL && cpu->until <= now) {
		struct op_list ready = {NONE, NONE};
		weft_time at = cpu->until;
		uint32_t op = cpu->running;

		cpu->running = NONE;
		end(replay, rank, op, at, &ready);
		run_cpu(replay, cpu, at, &ready);
		begin_all(replay, rank, at, &ready);
	}
}

bool goal_replay_poll(
	struct goal_replay *replay, uint32_t rank, weft_time now, struct goal_message *message)
{
	struct rank *at = &replay->rank[rank];
	uint32_t op;

	pass_time(replay, at, now);
	op = at->due.head;
	if (op == NONE)
		return false;
	*message = (struct goal_message){.op = op,
		.to = replay->goal->op[op].peer,
		.tag = replay->goal->op[op].tag,
		.bytes = replay->goal->op[op].amount,
		.due_ps = replay->due_ps[op]};
	return true;
}

static struct channel *find_channel(const struct goal_replay *replay, uint32_t from, uint32_t to)
{
	const struct rank *rank = &replay->rank[from];
	uint32_t low = 0, high = rank->channels;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct channel *channel = &replay->channel[rank->first_channel + middle];

		if (channel->to == to)
			return channel;
		if (channel->to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

void goal_replay_accept(struct goal_replay *replay, uint32_t rank, weft_time now)
{
	struct rank *at = &replay->rank[rank];
	struct op_list ready = {NONE, NONE};
	uint32_t op = list_pop(&at->due, replay->next);
	struct channel *channel = find_channel(replay, rank, replay->goal->op[op].peer);
	uint32_t sent = atomic_load_explicit(&channel->sent, memory_order_relaxed);

	replay->slot[channel->first + sent] = op;
	atomic_store_explicit(&channel->sent, sent + 1, memory_order_release);
	end(replay, at, op, now, &ready);
	begin_all(replay, at, now, &ready);
}

bool goal_replay_deliver(struct goal_replay *replay, uint32_t rank, uint32_t from, weft_time now)
{
	struct rank *at = &replay->rank[rank];
	struct channel *channel =
		from < replay->goal->ranks ? find_channel(replay, from, rank) : NULL;
	struct op_list ready = {NONE, NONE};
	uint32_t send, before = NONE;

	if (channel == NULL ||
		channel->taken == atomic_load_explicit(&channel->sent, memory_order_acquire))
		return false;
	pass_time(replay, at, now);
	send = replay->slot[channel->first + channel->taken++];
	for (uint32_t recv = at->posted.head; recv != NONE;
		before = recv, recv = replay->next[recv]) {
		if (!fits(replay, recv, send))
			continue;
		list_remove(&at->posted, replay->next, before, recv);
		end(replay, at, recv, now, &ready);
		begin_all(replay, at, now, &ready);
		return true;
	}
	list_push(&at->unexpected, replay->next_message, send);
	return true;
}

weft_time goal_replay_next(const struct goal_replay *replay, uint32_t rank)
{
	const struct rank *at = &replay->rank[rank];
	const struct cpu *cpu = first_cpu(replay, at);

	if (at->due.head != NONE)
		return 0;
	return cpu != NULL ? cpu->until : WEFT_TIME_NEVER;
}

bool goal_replay_rank_done(const struct goal_replay *replay, uint32_t rank)
{
	return atomic_load_explicit(&replay->rank[rank].ended, memory_order_acquire) ==
	       replay->goal->rank[rank].count;
}

bool goal_replay_done(const struct goal_replay *replay)
{
	for (uint32_t rank = 0; rank < replay->goal->ranks; rank++)
		if (!goal_replay_rank_done(replay, rank))
			return false;
	return true;
}

weft_time goal_replay_ended(const struct goal_replay *replay)
{
	weft_time ended = 0;

	for (uint32_t rank = 0; rank < replay->goal->ranks; rank++)
		if (replay->rank[rank].ended_ps > ended)
			ended = replay->rank[rank].ended_ps;
	return ended;
}

uint64_t goal_replay_count(const struct goal_replay *replay)
{
	uint64_t count = 0;

	for (uint32_t rank = 0; rank < replay->goal->ranks; rank++)
		count += atomic_load_explicit(&replay->rank[rank].ended, memory_order_acquire);
	return count;
}

bool goal_replay_op_ended(const struct goal_replay *replay, uint32_t op)
{
	return replay->state[op] == OP_DONE;
}

/* Judgement */

static void describe_match(uint32_t value, char out[16])
{
	if (value == GOAL_ANY)
		snprintf(out, 16, "any");
	else
		snprintf(out, 16, "%" PRIu32, value);
}

static int refuse_recv(const struct goal_replay *replay, uint32_t rank, uint32_t op,
	uint64_t others, struct fault *fault)
{
	const struct goal_op *recv = &replay->goal->op[op];
	char peer[16], tag[16];

	describe_match(recv->peer, peer);
	describe_match(recv->tag, tag);
	return fault_set(fault, EINVAL,
		"rank %u: recv '%.32s' (line %u) from %s tag %s got no message; %" PRIu64
		" operations have not ended",
		rank, goal_label(replay->goal, op), recv->line, peer, tag, others);
}

static int refuse_op(const struct goal_replay *replay, uint32_t rank, uint32_t op, uint64_t others,
	struct fault *fault)
{
	return fault_set(fault, EINVAL,
		"rank %u: %s '%.32s' (line %u) has not ended; %" PRIu64
		" operations have not ended",
		rank, goal_kind_name((enum goal_kind)replay->goal->op[op].kind),
		goal_label(replay->goal, op), replay->goal->op[op].line, others);
}

static int refuse_message(const struct goal_replay *replay, uint32_t rank, struct fault *fault)
{
	uint32_t op = replay->rank[rank].unexpected.head;

	return fault_set(fault, EINVAL,
		"rank %u: no recv took the message of rank %u's send '%.32s' (line %u)", rank,
		replay->source[op], goal_label(replay->goal, op), replay->goal->op[op].line);
}

int goal_replay_judge(const struct goal_replay *replay, struct fault *fault)
{
	const struct goal *goal = replay->goal;
	uint64_t others = goal->ops - goal_replay_count(replay);

	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		if (replay->rank[rank].posted.head != NONE)
			return refuse_recv(
				replay, rank, replay->rank[rank].posted.head, others, fault);
	for (uint32_t rank = 0; rank < goal->ranks && others > 0; rank++)
		for (uint32_t i = 0; i < goal->rank[rank].count; i++)
			if (replay->state[goal->rank[rank].first + i] != OP_DONE)
				return refuse_op(
					replay, rank, goal->rank[rank].first + i, others, fault);
	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		if (replay->rank[rank].unexpected.head != NONE)
			return refuse_message(replay, rank, fault);
	return 0;
}

/* Creation */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;

	return (one > two) - (one < two);
}

/* The channels of a rank from the destinations of its sends, which 'scratch' takes. */
static void make_channels(struct goal_replay *replay, uint32_t number, uint32_t *scratch,
	uint32_t *channels, uint32_t *slots)
{
	const struct goal_rank *range = &replay->goal->rank[number];
	struct rank *rank = &replay->rank[number];
	uint32_t sends = 0;

	rank->first_channel = *channels;
	for (uint32_t op = range->first; op < range->first + range->count; op++) {
		replay->source[op] = number;
		if (replay->goal->op[op].kind == GOAL_SEND)
			scratch[sends++] = replay->goal->op[op].peer;
	}
	if (sends > 0)
		qsort(scratch, sends, sizeof(*scratch), compare_numbers);
	for (uint32_t i = 0; i < sends; i++, (*slots)++)
		if (i == 0 || scratch[i] != scratch[i - 1])
			replay->channel[(*channels)++] =
				(struct channel){.to = scratch[i], .first = *slots};
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
	replay->cpu = malloc(cpus * sizeof(*replay->cpu));
	if (replay->cpu == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cpus; i++)
		replay->cpu[i] = (struct cpu){.ready = {NONE, NONE}, .running = NONE};
	return 0;
}

static int make_rooms(struct goal_replay *replay)
{
	const struct goal *goal = replay->goal;
	size_t ops = (size_t)goal->ops + 1;

	replay->rank = calloc(goal->ranks, sizeof(*replay->rank));
	replay->channel = calloc(ops, sizeof(*replay->channel));
	replay->slot = calloc(ops, sizeof(*replay->slot));
	replay->waits = calloc(ops, sizeof(*replay->waits));
	replay->next = calloc(ops, sizeof(*replay->next));
	replay->next_message = calloc(ops, sizeof(*replay->next_message));
	replay->source = calloc(ops, sizeof(*replay->source));
	replay->due_ps = calloc(ops, sizeof(*replay->due_ps));
	replay->state = calloc(ops, sizeof(*replay->state));
	if (replay->rank == NULL || replay->channel == NULL || replay->slot == NULL ||
		replay->waits == NULL || replay->next == NULL || replay->next_message == NULL ||
		replay->source == NULL || replay->due_ps == NULL || replay->state == NULL)
		return -ENOMEM;
	return make_cpus(replay);
}

static void begin_rank(struct goal_replay *replay, uint32_t number, weft_time start)
{
	const struct goal_rank *range = &replay->goal->rank[number];
	struct op_list ready = {NONE, NONE};
	struct rank *rank = &replay->rank[number];

	rank->due = rank->posted = rank->unexpected = ready;
	for (uint32_t op = range->first; op < range->first + range->count; op++) {
		replay->waits[op] = replay->goal->op[op].waits;
		if (replay->waits[op] == 0)
			list_push(&ready, replay->next, op);
	}
	begin_all(replay, rank, start, &ready);
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
	free(replay->rank);
	free(replay->cpu);
	free(replay->channel);
	free(replay->slot);
	free(replay->waits);
	free(replay->next);
	free(replay->next_message);
	free(replay->source);
	free(replay->due_ps);
	free(replay->state);
	free(replay);
}
