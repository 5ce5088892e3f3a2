/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* State of a replay. For lib/goal/goal_replay*.c. */

#include <stdatomic.h>

#include "base/arrays.h"
#include "goal_replay.h"

#define GOAL_NONE UINT32_MAX

/* OP_POSTED: operations that wait for its start were released. OP_ANSWERED: the request of a send
 * was answered. */
enum op_state { OP_WAITING, OP_READY, OP_POSTED, OP_ANSWERED, OP_DONE };

/* A message in transit: the send, with a bit set for its request or answer. */
#define GOAL_REQUEST 0x80000000u
#define GOAL_ANSWER  0x40000000u
#define GOAL_SEND_OF (GOAL_ANSWER - 1)

/* A list of operations, linked through one array. */
struct op_list {
	uint32_t head, tail;
};

/* One CPU of a rank, or the copier of messages within a host: one operation at a time. */
struct goal_replay_cpu {
	struct op_list ready;
	uint32_t running; /* GOAL_NONE: idle */
	bool copies;
	weft_time until;
};

/* Messages from one host to another in the order in which the interface took their first pieces.
 * The sender writes the slot and 'sent', the receiver 'taken' and 'pieces'. */
struct goal_replay_channel {
	uint32_t to;
	uint32_t first; /* its first slot */
	uint32_t sends; /* slots */
	_Atomic uint32_t sent;
	uint32_t taken;
	uint32_t pieces; /* pieces of the oldest message that have arrived */
};

/* Due sends over the network, in order. A host has one queue, or one per channel. */
struct goal_replay_queue {
	struct op_list due;
	uint64_t accepted_bytes; /* accepted of the first send so far */
};

/* State of one rank; used by its host's thread. */
struct goal_replay_rank {
	struct op_list posted;     /* recvs without a message */
	struct op_list unexpected; /* messages that no recv has taken: the senders' operations */
	uint32_t host, first_cpu;
	_Atomic uint32_t ended;
	weft_time ended_ps;
};

/* State of one host; used by one thread. */
struct goal_replay_host {
	weft_time next_send;        /* not earlier, because of the gap */
	struct op_list turn;        /* queues with a send, the next one first */
	uint32_t first_rank, ranks; /* in 'by_host' */
	uint32_t first_cpu, cpus;   /* CPUs of its ranks; the last one makes copies */
	uint32_t first_channel, channels;
	uint32_t left; /* operations that have not ended */
};

struct goal_replay {
	const struct goal *goal;
	uint32_t hosts;
	uint64_t copy_rate_bps, piece_bytes, rendezvous_bytes;
	weft_time overhead_ps, gap_ps;
	bool interleave;
	struct goal_replay_rank *rank;
	struct goal_replay_host *host;
	uint32_t *by_host; /* ranks, host by host */
	struct goal_replay_cpu *cpu;
	struct goal_replay_channel *channel;
	struct goal_replay_queue *queue; /* by channel with 'interleave', else by host */
	uint32_t *next_queue;
	uint32_t *slot; /* sends, GOAL_REQUEST, GOAL_ANSWER */
	/* By operation. */
	uint32_t *waits, *next;
	uint32_t *next_message; /* in a list of the receiver; once matched, the other operation */
	uint32_t *owner;        /* its rank */
	weft_time *due_ps;
	struct goal_replay_times *times; /* NULL: not asked for */
	uint8_t *state;
	struct arrays arrays; /* all of these */
};

/* True if the message of this send stays on its host. */
static inline bool goal_replay_is_copy(const struct goal_replay *replay, uint32_t send)
{
	return replay->rank[replay->goal->op[send].peer].host ==
	       replay->rank[replay->owner[send]].host;
}

/* True if the send requires a request first. */
static inline bool goal_replay_asks(const struct goal_replay *replay, uint32_t send)
{
	return replay->rendezvous_bytes != 0 &&
	       replay->goal->op[send].amount > replay->rendezvous_bytes &&
	       !goal_replay_is_copy(replay, send);
}

static inline void op_list_push(struct op_list *list, uint32_t *next, uint32_t op)
{
	next[op] = GOAL_NONE;
	if (list->head == GOAL_NONE)
		list->head = op;
	else
		next[list->tail] = op;
	list->tail = op;
}

/* Starts every operation in 'ready' at 'at', and every operation that this makes ready; all of them
 * are of one host. */
void goal_replay_begin(struct goal_replay *replay, weft_time at, struct op_list *ready);
