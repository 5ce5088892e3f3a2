/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* State of a replay. For lib/goal/goal_replay*.c. */

#include <stdatomic.h>

#include "arrays.h"
#include "goal_replay.h"

#define GOAL_NONE UINT32_MAX

enum op_state { OP_WAITING, OP_READY, OP_POSTED, OP_DONE };

/* A list of operations, linked through one array. */
struct op_list {
	uint32_t head, tail;
};

/* One CPU of a rank. */
struct goal_replay_cpu {
	struct op_list ready;
	uint32_t running; /* GOAL_NONE: idle */
	weft_time until;
};

/* Messages from one rank to another in the order in which the interface took them. The sender
 * writes the slot and 'sent', the receiver 'taken'. */
struct goal_replay_channel {
	uint32_t to;
	uint32_t first; /* of its slots */
	uint32_t sends; /* slots */
	_Atomic uint32_t sent;
	uint32_t taken;
};

/* State of one rank; used by one thread. */
struct goal_replay_rank {
	struct op_list due;        /* sends */
	struct op_list posted;     /* recvs without a message */
	struct op_list unexpected; /* messages without a recv: the senders' operations */
	uint32_t first_cpu, cpus, first_channel, channels;
	_Atomic uint32_t ended;
	weft_time ended_ps;
};

struct goal_replay {
	const struct goal *goal;
	struct goal_replay_rank *rank;
	struct goal_replay_cpu *cpu;
	struct goal_replay_channel *channel;
	uint32_t *slot;
	/* By operation. */
	uint32_t *waits, *next, *next_message; /* next_message: the receiver's */
	uint32_t *source;                      /* of a send: its rank */
	weft_time *due_ps;
	uint8_t *state;
	struct arrays arrays; /* all of these */
};

static inline void op_list_push(struct op_list *list, uint32_t *next, uint32_t op)
{
	next[op] = GOAL_NONE;
	if (list->head == GOAL_NONE)
		list->head = op;
	else
		next[list->tail] = op;
	list->tail = op;
}

/* Begins every operation in 'ready' at 'at', and every operation that this makes ready. */
void goal_replay_begin(struct goal_replay *replay, struct goal_replay_rank *rank, weft_time at,
	struct op_list *ready);
