/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "round_barrier.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu_count.h"
#include "spin_wait.h"

void round_barrier_init(struct round_barrier *barrier, unsigned parties)
{
	atomic_init(&barrier->parties, parties);
	barrier->spins = parties <= cpu_count() ? SPIN_WAIT_LOOKS : 0;
	atomic_init(&barrier->few, 0);
	atomic_init(&barrier->many, 0);
	barrier->arrived = parties <= 2 ? &barrier->few : &barrier->many;
	atomic_init(&barrier->round, 0);
	atomic_init(&barrier->sleepers, 0);
}

void round_barrier_expect(struct round_barrier *barrier, unsigned parties)
{
	atomic_store_explicit(&barrier->parties, parties, memory_order_relaxed);
}

/* The kernel compares the word with 'round' again before it puts the thread to sleep. */
static void sleep_in(struct round_barrier *barrier, unsigned round)
{
	atomic_fetch_add(&barrier->sleepers, 1);
	while (atomic_load(&barrier->round) == round)
		syscall(SYS_futex, &barrier->round, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
	atomic_fetch_sub(&barrier->sleepers, 1);
}

/* A thread that counts itself as asleep before this store is woken, one that does so after it sees
 * the new round: both accesses are sequentially consistent. */
static void open_round(struct round_barrier *barrier, unsigned round)
{
	atomic_store_explicit(barrier->arrived, 0, memory_order_relaxed);
	atomic_store(&barrier->round, round + 1);
	if (atomic_load(&barrier->sleepers) != 0)
		syscall(SYS_futex, &barrier->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void round_barrier_wait(struct round_barrier *barrier)
{
	unsigned round = atomic_load_explicit(&barrier->round, memory_order_relaxed);

	if (atomic_fetch_add_explicit(barrier->arrived, 1, memory_order_acq_rel) + 1 ==
		atomic_load_explicit(&barrier->parties, memory_order_relaxed)) {
		open_round(barrier, round);
		return;
	}
	for (unsigned i = 0; i < barrier->spins; i++) {
		if (atomic_load_explicit(&barrier->round, memory_order_acquire) != round)
			return;
		spin_wait(i);
	}
	sleep_in(barrier, round);
}
