/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Stalls of a loop that was stopped or had no CPU: the time between the starts of two iterations,
 * minus the CPU time of long tasks such as a report. A task is not a stall, but time for which the
 * loop is stopped during the task, or between loop_stall_note() and the task, counts.
 *
 * The caller supplies the clocks. The loop is the only writer; other threads may read at any time.
 *
 * 'spent' records how the loop's time was divided: an iteration is weighted by its duration in
 * nanoseconds. In 99 of 100 cases, a frame that arrives at a random time therefore waits for the
 * loop no longer than the 99th percentile. Without weights, the many short iterations of a busy
 * loop would hide the long ones. */

#include <stdatomic.h>

#include "base/weft_time.h"
#include "stats/histogram.h"

struct loop_stall {
	/* Start of the last iteration, plus CPU time of tasks since then. */
	_Atomic weft_time seen;
	_Atomic weft_time longest; /* longest iteration since the traffic started */
	_Atomic weft_time sum;     /* sum of all iterations that were too long */
	struct histogram
		spent; /* iteration times in ns, weighted by duration, since the traffic started */
};

static inline weft_time loop_stall_load(const _Atomic weft_time *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static inline void loop_stall_store(_Atomic weft_time *value, weft_time time)
{
	atomic_store_explicit(value, time, memory_order_relaxed);
}

/* Call before the first iteration. */
static inline void loop_stall_begin(struct loop_stall *stall, weft_time now)
{
	loop_stall_store(&stall->seen, now);
}

/* Call in each iteration and before long tasks. Longer iterations than 'max' count as too long. */
static inline void loop_stall_note(struct loop_stall *stall, weft_time now, weft_time max)
{
	weft_time seen = loop_stall_load(&stall->seen);
	weft_time lasted = now > seen ? now - seen : 0;

	loop_stall_store(&stall->seen, now);
	histogram_record_times(&stall->spent, lasted / PS_PER_NS, lasted / PS_PER_NS);
	if (lasted > loop_stall_load(&stall->longest))
		loop_stall_store(&stall->longest, lasted);
	if (__builtin_expect(lasted > max, 0))
		atomic_fetch_add_explicit(&stall->sum, lasted, memory_order_relaxed);
}

/* Exempts the CPU time of a task since loop_stall_note(). */
static inline void loop_stall_exempt(struct loop_stall *stall, weft_time cpu)
{
	loop_stall_store(&stall->seen, loop_stall_load(&stall->seen) + cpu);
}

/* Call when traffic starts. */
static inline void loop_stall_reset(struct loop_stall *stall)
{
	loop_stall_store(&stall->longest, 0);
	histogram_reset(&stall->spent);
}
