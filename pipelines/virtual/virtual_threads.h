/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The threads that run the rounds of a fabric in parts. A thread claims a part for a round. Each
 * part has a thread that runs it by default; with fewer cores than parts, several parts share one.
 * If that thread does not show up, because other programs use its core, an idle thread runs the
 * round instead, and keeps the part until its own thread is back. If threads lose their cores in
 * the middle of rounds, one of them stays out for a while, so that the others lose less time.
 * Results do not depend on this.
 *
 *     virtual_threads_start()   creates the threads, which wait
 *     virtual_threads_run()     runs rounds up to a time
 *     virtual_threads_end()     ends the threads
 *
 * Between these calls, in a pause, no thread has a part, and the caller may touch all. */

#include "virtual_partitions.h"

/* Polls of a word that another thread writes soon: 10 to 200 us, depending on the processor, enough
 * for a short piece of its work. */
#define VIRTUAL_SPIN_LOOKS 2000u

/* Chooses the number of threads: one for each part of the process, but no more than cores. Returns
 * 0 or -ENOMEM. */
int virtual_threads_create(struct virtual_partitions *partitions);
void virtual_threads_destroy(struct virtual_partitions *partitions);

/* If the machine does not allow all threads, the work is done by those that could be started. */
void virtual_threads_start(struct virtual_partitions *partitions);
void virtual_threads_end(struct virtual_partitions *partitions);

/* Runs all events before 'limit'. Returns false when that is done, and true if it stopped earlier:
 * part 0 has used up '*steps' (a round itself also costs some steps), a part has failed, or more
 * than 'out_max' packets are in use. The caller then sets '*steps' again. Among several ranks, rank
 * 0 decides. */
bool virtual_threads_run(struct virtual_partitions *partitions, weft_time limit, uint32_t *steps);

/* A round of a part (virtual_partitions.h). At the end of a round a part writes a post (struct
 * partition_header) for each other part of the process: its figures for the round, and the contents
 * of the box for that part. Once it has the posts of all others, its next round can run. All parts
 * read the same figures, so all choose the same next round.
 *
 * One thread at a time calls these for a part: the one that has claimed it.
 * Any thread may call virtual_round_is_ready(). */

/* The first post after a pause. */
void virtual_round_push(struct virtual_worker *worker);

/* True if all other parts have posted the part's last round, and the messages of other ranks are
 * there. */
bool virtual_round_is_ready(const struct virtual_worker *worker);

/* Runs and posts the next round of a partition that is ready. Returns false if there is none: all
 * events before parts->limit have happened, or a partition has requested a pause. */
bool virtual_round_run(struct virtual_worker *worker);

/* Adds the summary of another partition. */
void partition_summary_add(struct partition_summary *all, const struct partition_summary *of);
