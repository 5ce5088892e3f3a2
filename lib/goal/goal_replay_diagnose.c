/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <inttypes.h>
#include <stdio.h>

#include "goal_replay_private.h"

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
		"%s: recv '%.32s' (line %u) from %s tag %s got no message; %" PRIu64 " %s",
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
