/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Tells how far a run on the real clock is, in a thread of its own: no loop may wait for a
 * terminal.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "progress_line.h"
#include "real_fabric.h"

struct real_progress {
	const struct real_fabric *fabric;
	weft_time duration;
	struct progress_line line;
	atomic_bool halt;
	pthread_t thread;
	bool running;
};

/* Around real_fabric_run(). Without a thread, or with line.silent, nothing is told. */
void real_progress_start(struct real_progress *progress);
void real_progress_stop(struct real_progress *progress);
