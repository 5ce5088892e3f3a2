/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <inttypes.h>
#include <stdio.h>

#include "goal_replay_private.h"

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
