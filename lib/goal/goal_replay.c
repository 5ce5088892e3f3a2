/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <inttypes.h>
#include <stdio.h>

#include "goal_replay_private.h"

static uint32_t op_list_pop(struct op_list *list, const uint32_t *next)
{
	uint32_t op = list->head;

	list->head = next[op];
	return op;
}

/* 'before' is the predecessor of 'op'; GOAL_NONE for the head. */
static void op_list_remove(struct op_list *list, uint32_t *next, uint32_t before, uint32_t op)
{
	if (before == GOAL_NONE)
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

/* Tells the operations that wait for 'op' that it has begun or ended; appends those that wait for
 * nothing more to 'ready'. */
static void release(struct goal_replay *replay, uint32_t op, uint32_t moment, struct op_list *ready)
{
	const struct goal *goal = replay->goal;

	for (uint32_t i = goal->first_edge[op]; i < goal->first_edge[op + 1]; i++) {
		uint32_t to = goal->edge[i] & ~GOAL_EDGE_STARTED;

		if ((goal->edge[i] & GOAL_EDGE_STARTED) == moment && --replay->waits[to] == 0)
			op_list_push(ready, replay->next, to);
	}
}

static void end(struct goal_replay *replay, struct goal_replay_rank *rank, uint32_t op,
	weft_time at, struct op_list *ready)
{
	replay->state[op] = OP_DONE;
	if (at > rank->ended_ps)
		rank->ended_ps = at;
	release(replay, op, 0, ready);
	atomic_fetch_add_explicit(&rank->ended, 1, memory_order_release);
}

static void run_cpu(struct goal_replay *replay, struct goal_replay_cpu *cpu, weft_time at,
	struct op_list *ready)
{
	if (cpu->running != GOAL_NONE || cpu->ready.head == GOAL_NONE)
		return;
	cpu->running = op_list_pop(&cpu->ready, replay->next);
	cpu->until = later(at, replay->goal->op[cpu->running].amount);
	release(replay, cpu->running, GOAL_EDGE_STARTED, ready);
}

/* Takes a message that has already arrived, or joins the waiting recvs. */
static void post_recv(struct goal_replay *replay, struct goal_replay_rank *rank, uint32_t op,
	weft_time at, struct op_list *ready)
{
	uint32_t before = GOAL_NONE;

	release(replay, op, GOAL_EDGE_STARTED, ready);
	for (uint32_t send = rank->unexpected.head; send != GOAL_NONE;
		before = send, send = replay->next_message[send]) {
		if (!fits(replay, op, send))
			continue;
		op_list_remove(&rank->unexpected, replay->next_message, before, send);
		end(replay, rank, op, at, ready);
		return;
	}
	replay->state[op] = OP_POSTED;
	op_list_push(&rank->posted, replay->next, op);
}

void goal_replay_begin(struct goal_replay *replay, struct goal_replay_rank *rank, weft_time at,
	struct op_list *ready)
{
	while (ready->head != GOAL_NONE) {
		uint32_t op = op_list_pop(ready, replay->next);
		struct goal_replay_cpu *cpu =
			&replay->cpu[rank->first_cpu + replay->goal->op[op].cpu];

		replay->state[op] = OP_READY;
		switch ((enum goal_kind)replay->goal->op[op].kind) {
		case GOAL_SEND:
			replay->due_ps[op] = at;
			op_list_push(&rank->due, replay->next, op);
			release(replay, op, GOAL_EDGE_STARTED, ready);
			break;
		case GOAL_RECV:
			post_recv(replay, rank, op, at, ready);
			break;
		case GOAL_CALC:
			op_list_push(&cpu->ready, replay->next, op);
			run_cpu(replay, cpu, at, ready);
			break;
		}
	}
}

static struct goal_replay_cpu *first_cpu(
	const struct goal_replay *replay, const struct goal_replay_rank *rank)
{
	struct goal_replay_cpu *first = NULL;

	for (uint32_t i = 0; i < rank->cpus; i++) {
		struct goal_replay_cpu *cpu = &replay->cpu[rank->first_cpu + i];

		if (cpu->running != GOAL_NONE && (first == NULL || cpu->until < first->until))
			first = cpu;
	}
	return first;
}

static void pass_time(struct goal_replay *replay, struct goal_replay_rank *rank, weft_time now)
{
	struct goal_replay_cpu *cpu;

	while ((cpu = first_cpu(replay, rank)) != NULL && cpu->until <= now) {
		struct op_list ready = {GOAL_NONE, GOAL_NONE};
		weft_time at = cpu->until;
		uint32_t op = cpu->running;

		cpu->running = GOAL_NONE;
		end(replay, rank, op, at, &ready);
		run_cpu(replay, cpu, at, &ready);
		goal_replay_begin(replay, rank, at, &ready);
	}
}

bool goal_replay_poll(
	struct goal_replay *replay, uint32_t rank, weft_time now, struct goal_message *message)
{
	struct goal_replay_rank *at = &replay->rank[rank];
	uint32_t op;

	pass_time(replay, at, now);
	op = at->due.head;
	if (op == GOAL_NONE)
		return false;
	*message = (struct goal_message){.op = op,
		.to = replay->goal->op[op].peer,
		.tag = replay->goal->op[op].tag,
		.bytes = replay->goal->op[op].amount,
		.due_ps = replay->due_ps[op]};
	return true;
}

static struct goal_replay_channel *find_channel(
	const struct goal_replay *replay, uint32_t from, uint32_t to)
{
	const struct goal_replay_rank *rank = &replay->rank[from];
	uint32_t low = 0, high = rank->channels;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct goal_replay_channel *channel =
			&replay->channel[rank->first_channel + middle];

		if (channel->to == to)
			return channel;
		if (channel->to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* False: more than its rank sends. */
static bool put_in_flight(struct goal_replay *replay, uint32_t op)
{
	struct goal_replay_channel *channel =
		find_channel(replay, replay->source[op], replay->goal->op[op].peer);
	uint32_t sent;

	if (channel == NULL)
		return false;
	sent = atomic_load_explicit(&channel->sent, memory_order_relaxed);
	if (sent == channel->sends)
		return false;
	replay->slot[channel->first + sent] = op;
	atomic_store_explicit(&channel->sent, sent + 1, memory_order_release);
	return true;
}

void goal_replay_accept(struct goal_replay *replay, uint32_t rank, weft_time now)
{
	struct goal_replay_rank *at = &replay->rank[rank];
	struct op_list ready = {GOAL_NONE, GOAL_NONE};
	uint32_t op = op_list_pop(&at->due, replay->next);

	put_in_flight(replay, op);
	end(replay, at, op, now, &ready);
	goal_replay_begin(replay, at, now, &ready);
}

bool goal_replay_accept_elsewhere(struct goal_replay *replay, uint32_t op)
{
	return op < replay->goal->ops && replay->goal->op[op].kind == GOAL_SEND &&
	       put_in_flight(replay, op);
}

bool goal_replay_deliver(struct goal_replay *replay, uint32_t rank, uint32_t from, weft_time now)
{
	struct goal_replay_rank *at = &replay->rank[rank];
	struct goal_replay_channel *channel =
		from < replay->goal->ranks ? find_channel(replay, from, rank) : NULL;
	struct op_list ready = {GOAL_NONE, GOAL_NONE};
	uint32_t send, before = GOAL_NONE;

	if (channel == NULL ||
		channel->taken == atomic_load_explicit(&channel->sent, memory_order_acquire))
		return false;
	pass_time(replay, at, now);
	send = replay->slot[channel->first + channel->taken++];
	for (uint32_t recv = at->posted.head; recv != GOAL_NONE;
		before = recv, recv = replay->next[recv]) {
		if (!fits(replay, recv, send))
			continue;
		op_list_remove(&at->posted, replay->next, before, recv);
		end(replay, at, recv, now, &ready);
		goal_replay_begin(replay, at, now, &ready);
		return true;
	}
	op_list_push(&at->unexpected, replay->next_message, send);
	return true;
}

weft_time goal_replay_next(const struct goal_replay *replay, uint32_t rank)
{
	const struct goal_replay_rank *at = &replay->rank[rank];
	const struct goal_replay_cpu *cpu = first_cpu(replay, at);

	if (at->due.head != GOAL_NONE)
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

struct goal_replay_end goal_replay_end(const struct goal_replay *replay, uint32_t rank)
{
	const struct goal_replay_rank *at = &replay->rank[rank];

	return (struct goal_replay_end){.ended_ps = at->ended_ps,
		.ended = atomic_load_explicit(&at->ended, memory_order_acquire),
		.posted = at->posted.head,
		.unexpected = at->unexpected.head};
}

void goal_replay_set_end(
	struct goal_replay *replay, uint32_t rank, const struct goal_replay_end *end)
{
	struct goal_replay_rank *at = &replay->rank[rank];

	at->ended_ps = end->ended_ps;
	at->posted.head = end->posted;
	at->unexpected.head = end->unexpected;
	atomic_store_explicit(&at->ended, end->ended, memory_order_release);
}

uint8_t *goal_replay_states(struct goal_replay *replay, uint32_t rank, size_t *count)
{
	*count = replay->goal->rank[rank].count;
	return &replay->state[replay->goal->rank[rank].first];
}

/* --- goal replay diagnose --- */

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

int goal_replay_diagnose(const struct goal_replay *replay, struct fault *fault)
{
	const struct goal *goal = replay->goal;
	uint64_t others = goal->ops - goal_replay_count(replay);

	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		if (replay->rank[rank].posted.head != GOAL_NONE)
			return refuse_recv(
				replay, rank, replay->rank[rank].posted.head, others, fault);
	for (uint32_t rank = 0; rank < goal->ranks && others > 0; rank++)
		for (uint32_t i = 0; i < goal->rank[rank].count; i++)
			if (replay->state[goal->rank[rank].first + i] != OP_DONE)
				return refuse_op(
					replay, rank, goal->rank[rank].first + i, others, fault);
	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		if (replay->rank[rank].unexpected.head != GOAL_NONE)
			return refuse_message(replay, rank, fault);
	return 0;
}
