/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What a poll loop does while it has nothing to do. A loop with a core of its own spins. A loop
 * that shares its core spins for a while, then offers the core to others, then sleeps for some tens
 * of microseconds at a time; a single frame brings it back to spinning. Several emulated devices on
 * a laptop live by this; the price is that the first frame after a pause waits for the sleep to
 * end.
 *
 * One object per loop; only the loop's thread uses it.
 */

#include <stdbool.h>

#include <rte_pause.h>

enum poll_yield_mode { POLL_YIELD_AUTO, POLL_YIELD_ALWAYS, POLL_YIELD_NEVER };

struct poll_yield {
	bool shared;   /* others want this core */
	unsigned idle; /* turns since the last one that found work */
};

/* "auto", "always", "never"; false: none of them. */
bool poll_yield_parse(const char *text, enum poll_yield_mode *mode);

/* CPUs that the calling thread may run on. */
unsigned poll_yield_cpus(void);

/* From the loop's own thread, before its first turn. AUTO: it shares its core when 'loops' poll
 * loops live on 'cpus' CPUs and there are more of them. Narrows the thread's timer slack, for
 * sleeps that are as short as they are meant. */
void poll_yield_init(
	struct poll_yield *yield, enum poll_yield_mode mode, unsigned loops, unsigned cpus);

/* The turn found nothing, again. */
void poll_yield_idle(struct poll_yield *yield);

/* After each turn: 'moved' is what it found to do. */
static inline void poll_yield_turn(struct poll_yield *yield, unsigned moved)
{
	if (moved != 0)
		yield->idle = 0;
	else if (yield->shared)
		poll_yield_idle(yield);
	else
		rte_pause();
}
