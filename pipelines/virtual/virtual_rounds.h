/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A round of a part (virtual_parts.h). At the end of a round a part writes a post (struct
 * virtual_post) for each other part of the process: its figures for the round, and the contents of
 * the box for that part. Once it has the posts of all others, its next round can run. All parts
 * read the same figures, so all choose the same next round.
 *
 * One thread at a time calls these for a part: the one that has claimed it (virtual_threads.h).
 * Any thread may call virtual_round_is_ready().
 */

#include "virtual_parts.h"

/* The first post after a pause. */
void virtual_round_tell(struct virtual_worker *worker);

/* True if all others have posted the part's last round, and other ranks' messages are there. */
bool virtual_round_is_ready(const struct virtual_worker *worker);

/* Runs and posts the next round of a part that is ready. False if there is none: all events before
 * parts->limit have happened, or a part has asked for a pause. */
bool virtual_round_run(struct virtual_worker *worker);

/* Adds what others have told. */
void virtual_told_add(struct virtual_told *all, const struct virtual_told *of);
