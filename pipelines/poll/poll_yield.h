/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Lets idle poll loops share their cores. An idle loop first spins, then yields, then sleeps for
 * some tens of microseconds at a time, and eventually for some hundreds if there are more loops
 * than CPUs. A single frame makes it spin again. Several emulated devices can thus share a laptop,
 * but the first frame after a pause waits for the end of a sleep.
 *
 * One object per loop, used only by the loop's thread. */

#include <stdbool.h>

struct poll_yield {
	bool crowded;  /* there are more loops than CPUs */
	bool serves;   /* programs share the loops' CPUs, so the loop yields after a few polls */
	unsigned idle; /* iterations since the last one with work */
};

/* Call before the threads of loops on a dilated clock start. If CPUs remain for other programs,
 * gives the loops priority (nice -10). Has no effect without root privileges. */
void poll_yield_precede(unsigned loops);

/* Call in the loop's thread before its first iteration. Reduces the thread's timer slack, so that
 * short sleeps stay short. */
void poll_yield_init(struct poll_yield *yield, bool crowded);

/* Call after an iteration without work. */
void poll_yield_idle(struct poll_yield *yield);

/* Call after each iteration with the number of frames that it moved. Link-local frames such as
 * credits do not count, because they arrive continuously and would prevent all sleep. */
static inline void poll_yield_update(struct poll_yield *yield, unsigned carried)
{
	if (carried != 0)
		yield->idle = 0;
	else
		poll_yield_idle(yield);
}
