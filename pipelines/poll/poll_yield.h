/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Idle poll loops share their cores with others. An idle loop first spins, then yields, then sleeps
 * for some tens of microseconds at a time, and eventually for some hundreds if there are more loops
 * than CPUs. A single frame makes it spin again. Several emulated devices can thus share a laptop;
 * the first frame after a pause waits for the end of a sleep.
 *
 * One object per loop; only the loop's thread uses it. */

#include <stdbool.h>

struct poll_yield {
	bool crowded;  /* there are more loops than CPUs */
	bool serves;   /* programs share the loops' CPUs: it yields after a few polls */
	unsigned idle; /* iterations since the last with work */
};

/* For loops on a dilated clock, before their threads start: if other programs keep a CPU, the loops
 * get priority (nice -10). Without root, nothing changes. */
void poll_yield_precede(unsigned loops);

/* In the loop's own thread, before its first iteration. Reduces the thread's timer slack, so that
 * short sleeps stay short. */
void poll_yield_init(struct poll_yield *yield, bool crowded);

/* An iteration without work. */
void poll_yield_idle(struct poll_yield *yield);

/* After each iteration, with the number of frames that it moved. Credits and other frames of a
 * neighbour for its link do not count: they arrive all the time and would keep the loop awake for
 * ever. */
static inline void poll_yield_update(struct poll_yield *yield, unsigned carried)
{
	if (carried != 0)
		yield->idle = 0;
	else
		poll_yield_idle(yield);
}
