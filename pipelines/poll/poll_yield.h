/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Idle poll loops. A loop with a core of its own spins. A loop that shares its core first spins,
 * then yields, then sleeps for some tens of microseconds at a time, and in the end for some
 * hundreds if there are more loops than CPUs. A single frame lets it spin again. So several
 * emulated devices can share a laptop; the first frame after a pause waits for the end of a sleep.
 *
 * One object per loop; only the loop's thread uses it. */

#include <stdbool.h>

#include <rte_pause.h>

enum poll_yield_mode { POLL_YIELD_AUTO, POLL_YIELD_ALWAYS, POLL_YIELD_NEVER };

struct poll_yield {
	bool shared;   /* other threads use this core */
	bool crowded;  /* there are more loops than CPUs */
	unsigned idle; /* iterations since the last with work */
};

/* "auto", "always", "never"; false: another text. */
bool poll_yield_parse(const char *text, enum poll_yield_mode *mode);

/* Number of CPUs that the calling thread may run on. */
unsigned poll_yield_cpus(void);

/* For loops on a dilated clock, before their threads start: they precede other programs (nice -10),
 * if these keep a CPU. Without root, nothing changes. */
void poll_yield_precede(unsigned loops);

/* In the loop's own thread, before its first iteration. AUTO: the core is shared if there are more
 * poll loops than CPUs. Reduces the thread's timer slack, so that short sleeps stay short. */
void poll_yield_init(
	struct poll_yield *yield, enum poll_yield_mode mode, unsigned loops, unsigned cpus);

/* An iteration without work on a shared core. */
void poll_yield_idle(struct poll_yield *yield);

/* After each iteration, which carried so many frames. Credits and other frames of a neighbour for
 * its link do not count: they come all the time, and a loop that they kept awake would never sleep.
 */
static inline void poll_yield_update(struct poll_yield *yield, unsigned carried)
{
	if (carried != 0)
		yield->idle = 0;
	else if (yield->shared)
		poll_yield_idle(yield);
	else
		rte_pause();
}
