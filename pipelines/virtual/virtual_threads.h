/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The threads that run the rounds of a fabric in parts (virtual_rounds.h). A thread claims a part
 * for a round. Each part has a thread that runs it by default; where there are fewer cores than
 * parts, several parts have the same one. If that thread does not come, because other programs have
 * its core, another thread that has nothing to do runs the round instead, and goes on with the part
 * until its own thread is back. A thread without which the others lose less time, because cores
 * are taken from them in the middle of rounds, stays out for a while. Results do not depend on it.
 *
 *     virtual_threads_start()   creates the threads, which wait
 *     virtual_threads_run()     runs rounds up to a time
 *     virtual_threads_end()     ends the threads
 *
 * Between these calls, in a pause, no thread has a part, and the caller may touch all.
 */

#include "virtual_parts.h"

/* Chooses the number of threads: one for each part of the process, but no more than cores. 0 or
 * -ENOMEM. */
int virtual_threads_create(struct virtual_parts *parts);
void virtual_threads_destroy(struct virtual_parts *parts);

/* If the machine does not allow all threads, those that it allows do the work. */
void virtual_threads_start(struct virtual_parts *parts);
void virtual_threads_end(struct virtual_parts *parts);

/* Runs all events before 'limit'. False when that is done. True if it has stopped before: part 0
 * has used up '*steps', of which a round costs some, too; a part has failed; or more packets than
 * 'out_max' are out. The caller sets '*steps' again then. Of several ranks rank 0 counts. */
bool virtual_threads_run(struct virtual_parts *parts, weft_time limit, uint32_t *steps);
