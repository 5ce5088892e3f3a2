/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A signal that no thread of a Weft program blocks. It makes each thread drop its capabilities
 * (pipelines/process/sandbox.h), because a thread can drop only its own. Code that starts a thread
 * with all other signals blocked must leave this one unblocked. */

#include <sched.h>
#include <signal.h>

#define THREAD_SIGNAL (SIGRTMIN + 5)

/* Returns the number of CPUs that the calling thread may run on, at least 1. */
static inline unsigned cpu_count(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) < 1)
		return 1;
	return (unsigned)CPU_COUNT(&set);
}
