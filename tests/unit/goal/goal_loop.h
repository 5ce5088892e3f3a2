/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A network for replays: each message takes a time drawn from the seed, messages of a pair stay in
 * order, an interface accepts a message a random time after it is due. Checks at each send that its
 * requirements have ended, and that nothing happens twice. */

#include "unit.h"

#include "base/rng.h"
#include "goal/goal_replay_private.h"

#define GOAL_LOOP_DELAY_NS 5000

struct goal_flight {
	weft_time arrives;
	uint32_t from, to, op;
	uint64_t contributions; /* what the sender had when it sent */
};

struct goal_loop {
	const struct goal *goal;
	struct goal_replay *replay;
	struct rng rng;
	weft_time now;
	struct goal_flight *flight; /* [ops] */
	uint32_t flights;
	weft_time *accept_at; /* [ranks] */
	/* Contributions received by each rank, starting with its own; only up to 64 ranks. */
	uint64_t contributions[64];
	uint32_t *received; /* [to * ranks + from]: messages */
	uint32_t sent;
};

static inline struct goal *goal_loop_parse(const char *text)
{
	struct error error = {""};
	struct goal *goal = goal_parse(text, strlen(text), "g", &error);

	if (goal == NULL)
		fail_msg("%s", error.text);
	return goal;
}

static inline void goal_loop_init(struct goal_loop *loop, const struct goal *goal, uint64_t seed)
{
	*loop = (struct goal_loop){.goal = goal};
	rng_init(&loop->rng, seed, 0, 0);
	loop->replay = goal_replay_create(&(struct goal_replay_config){.goal = goal});
	loop->flight = calloc(goal->ops + 1, sizeof(*loop->flight));
	loop->accept_at = calloc(goal->ranks, sizeof(*loop->accept_at));
	loop->received = calloc((size_t)goal->ranks * goal->ranks, sizeof(*loop->received));
	for (uint32_t i = 0; i < 64; i++)
		loop->contributions[i] = (uint64_t)1 << i;
}

static inline void goal_loop_fini(struct goal_loop *loop)
{
	goal_replay_destroy(loop->replay);
	free(loop->flight);
	free(loop->accept_at);
	free(loop->received);
}

static inline weft_time goal_loop_delay(struct goal_loop *loop)
{
	return (1 + rng_below(&loop->rng, GOAL_LOOP_DELAY_NS)) * PS_PER_NS;
}

/* All edges that lead to a send. */
static inline void goal_loop_check_required(const struct goal_loop *loop, uint32_t op)
{
	for (uint32_t from = 0; from < loop->goal->ops; from++)
		for (uint32_t i = loop->goal->first_edge[from];
			i < loop->goal->first_edge[from + 1]; i++)
			if (loop->goal->edge[i] == op)
				assert_true((loop->replay->state[from] == OP_DONE));
}

static inline void goal_loop_send(
	struct goal_loop *loop, uint32_t rank, const struct goal_message *message)
{
	weft_time arrives = loop->now + goal_loop_delay(loop);

	assert_true(message->due_ps <= loop->now);
	goal_loop_check_required(loop, message->op);
	assert_false((loop->replay->state[message->op] == OP_DONE));
	for (uint32_t i = 0; i < loop->flights; i++)
		if (loop->flight[i].from == rank && loop->flight[i].to == message->to &&
			loop->flight[i].arrives > arrives)
			arrives = loop->flight[i].arrives;
	loop->flight[loop->flights++] = (struct goal_flight){
		arrives, rank, message->to, message->op, loop->contributions[rank % 64]};
	goal_replay_accept(loop->replay, rank, loop->now);
	assert_true((loop->replay->state[message->op] == OP_DONE));
	loop->accept_at[rank] = loop->now + goal_loop_delay(loop) / 4;
	loop->sent++;
}

/* The earliest message; if several are due at the same time, the first one sent. */
static inline void goal_loop_arrive(struct goal_loop *loop)
{
	for (uint32_t i = 0; i < loop->flights;) {
		struct goal_flight flight = loop->flight[i];

		if (flight.arrives > loop->now) {
			i++;
			continue;
		}
		memmove(&loop->flight[i], &loop->flight[i + 1],
			(loop->flights - i - 1) * sizeof(flight));
		loop->flights--;
		assert_true(goal_replay_deliver(loop->replay, flight.to, flight.from, loop->now));
		loop->contributions[flight.to % 64] |= flight.contributions;
		loop->received[flight.to * loop->goal->ranks + flight.from]++;
	}
}

/* When something can happen next. */
static inline weft_time goal_loop_next(const struct goal_loop *loop)
{
	weft_time next = WEFT_TIME_NEVER;

	for (uint32_t rank = 0; rank < loop->goal->ranks; rank++) {
		weft_time at = goal_replay_next(loop->replay, rank);

		if (at != WEFT_TIME_NEVER && at < loop->accept_at[rank] && at <= loop->now)
			at = loop->accept_at[rank];
		if (at < next)
			next = at;
	}
	for (uint32_t i = 0; i < loop->flights; i++)
		if (loop->flight[i].arrives < next)
			next = loop->flight[i].arrives;
	return next;
}

/* Until nothing can happen any more. */
static inline void goal_loop_run(struct goal_loop *loop)
{
	weft_time next;

	while ((next = goal_loop_next(loop)) != WEFT_TIME_NEVER) {
		struct goal_message message, again;

		if (next > loop->now)
			loop->now = next;
		goal_loop_arrive(loop);
		for (uint32_t rank = 0; rank < loop->goal->ranks; rank++) {
			if (!goal_replay_poll(loop->replay, rank, loop->now, &message) ||
				loop->accept_at[rank] > loop->now)
				continue;
			assert_true(goal_replay_poll(loop->replay, rank, loop->now, &again));
			assert_int_equal(message.op, again.op);
			goal_loop_send(loop, rank, &message);
		}
	}
}
