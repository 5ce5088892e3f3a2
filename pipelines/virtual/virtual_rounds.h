/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The rounds of a fabric on several threads, and the threads (virtual_parts.h). At the end of a
 * round each part posts to each other one, in a cache line for the two of them, what all are told
 * and what is in the box for it. A part that has such a line of each other one goes on: all are
 * told the same, and so all decide the same.
 *
 *     virtual_rounds_start()   begins the threads, which wait
 *     virtual_rounds_run()     rounds up to a time; when it returns all threads wait
 *     virtual_rounds_end()     ends the threads
 *
 * Between the calls the thread that calls them may touch everything.
 */

#include "virtual_parts.h"

/* -EAGAIN: no more threads. */
int virtual_rounds_start(struct virtual_parts *parts, struct fault *fault);
void virtual_rounds_end(struct virtual_parts *parts);

/* Runs all events before 'limit'; true if it has paused before it, because worker 0 has taken
 * '*steps' events, of which it leaves the rest, or because a part has failed. */
bool virtual_rounds_run(struct virtual_parts *parts, weft_time limit, uint32_t *steps);

/* Adds what others have told. */
void virtual_told_add(struct virtual_told *all, const struct virtual_told *of);
