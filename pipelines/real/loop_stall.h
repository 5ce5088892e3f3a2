/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Stalls of a loop that was stopped or had no CPU: the time between the starts of two iterations,
 * minus the CPU time of long work such as a report. Such work is not a stall, but a loop can be
 * stopped during it, or between loop_stall_note() and the work: that counts.
 *
 * The caller supplies the clocks. The loop is the only writer; others may read at any time.
 *
 * 'spent' records how the loop's time was divided: each iteration counts once for each nanosecond
 * of it. Its 99th percentile therefore bounds, in 99 of 100 cases, how long a frame that arrives at
 * any time waits for the loop. If each iteration counted only once, the many short iterations of a
 * busy loop would hide the long ones. */

#include <stdatomic.h>

#include "base/weft_time.h"
#include "stats/histogram.h"

struct loop_stall {
	/* Start of the last iteration, and CPU time of work since then. */
	_Atomic weft_time seen;
	_Atomic weft_time longest; /* the longest iteration since the traffic started */
	_Atomic weft_time sum;     /* total of all iterations that were too long */
	struct histogram spent;    /* ns, since the traffic began */
};

static inline weft_time loop_stall_load(const _Atomic weft_time *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static inline void loop_stall_store(_Atomic weft_time *value, weft_time time)
{
	atomic_store_explicit(value, time, memory_order_relaxed);
}

/* Before the first iteration. */
static inline void loop_stall_begin(struct loop_stall *stall, weft_time now)
{
	loop_stall_store(&stall->seen, now);
}

/* In each iteration, and before work that takes long. 'max' is the tolerated duration. */
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

/* Work has taken this much CPU time since loop_stall_note(). */
static inline void loop_stall_exempt(struct loop_stall *stall, weft_time cpu)
{
	loop_stall_store(&stall->seen, loop_stall_load(&stall->seen) + cpu);
}

/* Traffic begins. */
static inline void loop_stall_reset(struct loop_stall *stall)
{
	loop_stall_store(&stall->longest, 0);
	histogram_reset(&stall->spent);
}
