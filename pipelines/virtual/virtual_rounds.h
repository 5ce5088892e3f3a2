/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Runs the parts of a fabric in rounds, each part on a thread of its own (virtual_parts.h). At the
 * end of a round each part writes a post (struct virtual_post) for each other part of the process:
 * its figures for the round, and the contents of the box for that part. A part goes on when it has
 * the posts of all others. All parts read the same figures, so all choose the same next round.
 *
 *     virtual_rounds_start()   creates the threads, which wait
 *     virtual_rounds_run()     runs rounds up to a time; when it returns all threads wait
 *     virtual_rounds_end()     ends the threads
 *
 * Between these calls, in a pause, the caller may touch all parts.
 */

#include "virtual_parts.h"

/* -EAGAIN: no more threads. */
int virtual_rounds_start(struct virtual_parts *parts, struct fault *fault);
void virtual_rounds_end(struct virtual_parts *parts);

/* Runs all events before 'limit'. False when that is done. True if it has stopped before: worker 0
 * has used up '*steps', of which a round costs some, too; a part has failed; or more packets than
 * 'out_max' are out. The caller sets '*steps' again then. Of several ranks rank 0 counts. */
bool virtual_rounds_run(struct virtual_parts *parts, weft_time limit, uint32_t *steps);

/* Adds what others have told. */
void virtual_told_add(struct virtual_told *all, const struct virtual_told *of);
