/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A barrier for threads that work in short rounds: some ten microseconds each. A thread that
 * waits first reads a word in a loop, because a round is often shorter than a system call. After a
 * while it sleeps, or at once if it may use fewer cores than there are threads. What a thread wrote
 * before the barrier the others can read after it. No lock, no allocation.
 */

#include <stdatomic.h>
#include <stdbool.h>

struct round_barrier {
	atomic_uint parties;
	unsigned spins; /* looks before a thread sleeps */
	/* In the line that all wait for, if there are two threads: the last one needs one line
	 * less. With more, those that wait would take it from those that come. */
	atomic_uint *arrived;
	_Alignas(64) atomic_uint many;
	_Alignas(64) atomic_uint round;
	atomic_uint sleepers, few;
};

/* For so many threads, 1 or more. It is not copied or moved from then on. */
void round_barrier_init(struct round_barrier *barrier, unsigned parties);
/* Fewer threads than said will come, by one of them, before the first round. */
void round_barrier_expect(struct round_barrier *barrier, unsigned parties);
/* Returns when all of them have called it. */
void round_barrier_wait(struct round_barrier *barrier);

/* True if there is a core for each of them, so that they may wait without sleeping. */
static inline bool round_barrier_spins(const struct round_barrier *barrier)
{
	return barrier->spins > 0;
}
