/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* State of a replay, private to lib/goal/goal_replay*.c. */

#include <stdatomic.h>

#include "base/arrays.h"
#include "goal_replay.h"

#define GOAL_NONE UINT32_MAX

/* OP_POSTED: operations that wait for its start were released. OP_ANSWERED: its request was
 * answered. */
enum op_state { OP_WAITING, OP_READY, OP_POSTED, OP_ANSWERED, OP_DONE };

/* A message in flight: the send, with a bit set if this is its request or answer. */
#define GOAL_REQUEST 0x80000000u
#define GOAL_ANSWER  0x40000000u
#define GOAL_SEND_OF (GOAL_ANSWER - 1)

/* A list of operations, linked through one array. */
struct op_list {
	uint32_t head, tail;
};

/* One CPU of a rank, or the copier of messages within a host. Runs one operation at a time. */
struct goal_replay_cpu {
	struct op_list ready;
	uint32_t running; /* GOAL_NONE: idle */
	bool copies;
	weft_time until;
};

/* Messages from one host to another, in the order in which the interface took their first pieces.
 * The sender writes the slots and 'sent', the receiver 'taken' and 'pieces'. */
struct goal_replay_channel {
	uint32_t to;
	uint32_t first; /* index of its first slot */
	uint32_t sends; /* number of slots */
	_Atomic uint32_t sent;
	uint32_t taken;
	uint32_t pieces; /* arrived pieces of the oldest message */
};

/* Due sends over the network, in order. One queue per host or, with 'interleave', per channel. */
struct goal_replay_queue {
	struct op_list due;
	uint64_t accepted_bytes; /* accepted bytes of the first send */
};

/* State of one rank, used by its host's thread. */
struct goal_replay_rank {
	struct op_list posted;     /* recvs without a message */
	struct op_list unexpected; /* sends whose messages no recv has taken */
	uint32_t host, first_cpu;
	_Atomic uint32_t ended;
	weft_time ended_ps;
};

/* State of one host, used by one thread. */
struct goal_replay_host {
	weft_time next_send;        /* earliest time, because of the gap */
	struct op_list turn;        /* queues with a send, next one first */
	uint32_t first_rank, ranks; /* range in 'by_host' */
	uint32_t first_cpu, cpus;   /* CPUs of its ranks; the last one is the copier */
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
	uint32_t *by_host; /* ranks, grouped by host */
	struct goal_replay_cpu *cpu;
	struct goal_replay_channel *channel;
	struct goal_replay_queue *queue; /* by channel with 'interleave', otherwise by host */
	uint32_t *next_queue;
	uint32_t *slot; /* sends, with GOAL_REQUEST or GOAL_ANSWER */
	/* Indexed by operation. */
	uint32_t *waits, *next;
	uint32_t *next_message; /* next in a receiver's list; once matched, the other operation */
	uint32_t *owner;        /* rank of the operation */
	weft_time *due_ps;
	struct goal_replay_times *times; /* NULL: not requested */
	uint8_t *state;
	struct arrays arrays; /* owns all of these */
};

/* Returns whether the message of this send stays on its host. */
static inline bool goal_replay_is_copy(const struct goal_replay *replay, uint32_t send)
{
	return replay->rank[replay->goal->op[send].peer].host ==
	       replay->rank[replay->owner[send]].host;
}

/* Returns whether the send requires a request first. */
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

/* Starts the operations in 'ready' at 'at', and operations that become ready as a result. All
 * belong to one host. */
void goal_replay_begin(struct goal_replay *replay, weft_time at, struct op_list *ready);
