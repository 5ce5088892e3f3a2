/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Replay of a schedule (goal.h): a state machine for each rank that is handed the time and what
 * arrived, and says which message is due, in the manner of traffic.h. A driver on either clock runs
 *
 *     goal_replay_poll(), goal_replay_accept()   while a message is due and the interface takes it
 *     goal_replay_deliver()                      for each message that has arrived completely
 *     goal_replay_next()                         when to look again if nothing arrives
 *
 * An operation begins when all that it requires has happened, at that very moment, however late the
 * driver looks. Then
 *
 *   calc  waits for its CPU, which does one at a time in the order in which they became ready, and
 *         takes its time
 *   send  is due; ranks send in the order in which messages became due. It ends when the interface
 *         takes the message (an eager send), not when it arrives
 *   recv  ends when it has a message: the first of those that have arrived that fits (source, tag),
 *         else the first that arrives and that no earlier recv takes. Lengths are not compared
 *
 * Tags do not travel: messages of one rank to another must be delivered in the order in which they
 * were accepted, which is what the interfaces promise, and the n-th delivered is the n-th accepted.
 * 'nic' is read and has no effect: a host has one interface. The time between an irequires and what
 * it waits for is that of the beginning: of a calc when its CPU begins.
 *
 * Nothing is allocated after goal_replay_create(). Calls for one rank are one thread's; ranks may
 * have different threads.
 */

#include "goal.h"
#include "weft_time.h"

struct goal_replay;

struct goal_message {
	uint32_t op; /* in the schedule */
	uint32_t to; /* rank */
	uint32_t tag;
	uint64_t bytes;
	weft_time due_ps; /* when it could have left */
};

/* What requires nothing begins at 'start'. 'goal' outlives the replay. NULL with errno ENOMEM. */
struct goal_replay *goal_replay_create(const struct goal *goal, weft_time start);
void goal_replay_destroy(struct goal_replay *replay);

/* The message of a rank that is due at 'now', the same one until it is accepted; false: none. */
bool goal_replay_poll(
	struct goal_replay *replay, uint32_t rank, weft_time now, struct goal_message *message);
/* The interface has taken it; before it can be delivered. */
void goal_replay_accept(struct goal_replay *replay, uint32_t rank, weft_time now);
/* The oldest message from 'from' that is under way to 'rank' has arrived. False: there is none. */
bool goal_replay_deliver(struct goal_replay *replay, uint32_t rank, uint32_t from, weft_time now);

/* When this rank will do something by itself: the end of a calc, 0 for a message that is due;
 * WEFT_TIME_NEVER: only after a delivery. */
weft_time goal_replay_next(const struct goal_replay *replay, uint32_t rank);

/* All operations of the rank, or of all ranks, have ended. */
bool goal_replay_rank_done(const struct goal_replay *replay, uint32_t rank);
bool goal_replay_done(const struct goal_replay *replay);
/* When the last operation ended so far. */
weft_time goal_replay_ended(const struct goal_replay *replay);
/* Operations that have ended, and whether one has; the latter for the thread of its rank. */
uint64_t goal_replay_count(const struct goal_replay *replay);
bool goal_replay_op_ended(const struct goal_replay *replay, uint32_t op);

/* At the end: 0 if everything is done and no message is left over; else -EINVAL and the first recv
 * without a message, the first operation that waits, or the first message that nobody received,
 * with rank, label and line, and how many operations there are that have not ended. */
int goal_replay_diagnose(const struct goal_replay *replay, struct fault *fault);
