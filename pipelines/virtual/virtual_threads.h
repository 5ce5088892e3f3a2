/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The threads that run the rounds of a partitioned fabric. A thread claims a partition for a round.
 * Each partition has a thread that runs it by default; with fewer cores than partitions, several
 * share a thread. If that thread does not run because other programs use its core, an idle thread
 * runs the round instead, and keeps the partition until its own thread runs again. If threads lose
 * their cores in the middle of rounds, one of them stays out for a while, so that the others lose
 * less time. Results do not depend on this.
 *
 *     virtual_threads_start()   creates the threads, which wait
 *     virtual_threads_run()     runs rounds up to a time
 *     virtual_threads_end()     ends the threads
 *
 * Between these calls, in a pause, no thread has a partition, and the caller may access all. */

#include "virtual_partitions.h"

/* Polls of a word that a different thread will write soon: 10 to 200 us, depending on the
 * processor, enough for a short piece of that thread's work. */
#define VIRTUAL_SPIN_LOOKS 2000u

/* Sets the number of threads: one per partition, at most one per core. Returns 0 or -ENOMEM. */
int virtual_threads_create(struct virtual_partitions *partitions);
void virtual_threads_destroy(struct virtual_partitions *partitions);

/* If the system does not permit all threads, those that could be started do the work. */
void virtual_threads_start(struct virtual_partitions *partitions);
void virtual_threads_end(struct virtual_partitions *partitions);

/* Runs all events before 'limit'. Returns false when that is done. Returns true if it stopped
 * earlier: partition 0 has used up '*steps' (rounds also count as steps), a partition has failed,
 * or more than 'out_max' packets are in use. The caller then sets '*steps' again. With several
 * ranks, rank 0 decides. */
bool virtual_threads_run(struct virtual_partitions *partitions, weft_time limit, uint32_t *steps);

/* A round of a partition (virtual_partitions.h). At the end of a round, a partition writes a post
 * (struct partition_header) to each other partition of the process: its summary of the round, and
 * the contents of the mailbox for that partition. Once it has the posts of all others, its next
 * round can run. All partitions read the same summaries, so all choose the same next round.
 *
 * Only the thread that has claimed a partition may call these functions for it. Any thread may call
 * virtual_round_is_ready(). */

/* Writes the first post after a pause. */
void virtual_round_push(struct virtual_worker *worker);

/* Returns true if all other partitions have posted the partition's last round, and the messages of
 * other ranks have arrived. */
bool virtual_round_is_ready(const struct virtual_worker *worker);

/* Runs and posts the next round of a partition that is ready. Returns false if there is none: all
 * events before partitions->limit have occurred, or a partition has requested a pause. */
bool virtual_round_run(struct virtual_worker *worker);

/* Adds the summary of a different partition. */
void partition_summary_add(struct partition_summary *all, const struct partition_summary *of);
