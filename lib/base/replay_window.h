/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Tracks which message counters of a sender have been seen (the window of RFC 4303, appendix A).
 * Counters above the highest are new. Each of the last 64, up to the highest, is accepted once;
 * older ones are stale. Counters start at 1; a zeroed window has seen none. */

#include <stdbool.h>
#include <stdint.h>

#define REPLAY_WINDOW 64

struct replay_window {
	uint64_t highest;
	uint64_t seen; /* bit i: counter highest - i */
};

static inline bool replay_is_new(const struct replay_window *window, uint64_t counter)
{
	if (counter > window->highest)
		return true;
	return window->highest - counter < REPLAY_WINDOW &&
	       (window->seen >> (window->highest - counter) & 1) == 0;
}

/* Record only authenticated counters: a forged counter would lock out the genuine ones. */
static inline void replay_record(struct replay_window *window, uint64_t counter)
{
	uint64_t ahead;

	if (counter <= window->highest) {
		window->seen |= (uint64_t)1 << (window->highest - counter);
		return;
	}
	ahead = counter - window->highest;
	window->seen = ahead < REPLAY_WINDOW ? window->seen << ahead | 1 : 1;
	window->highest = counter;
}

/* Records the counter; returns true the first time. Without authentication, a sender can forge a
 * counter far above the genuine ones. A counter far below the highest therefore restarts the
 * window. Very old duplicates are then accepted, which gains a forger nothing. */
static inline bool replay_admit(struct replay_window *window, uint64_t counter, bool authenticated)
{
	if (replay_is_new(window, counter)) {
		replay_record(window, counter);
		return true;
	}
	if (authenticated || window->highest - counter < REPLAY_WINDOW)
		return false;
	*window = (struct replay_window){.highest = counter, .seen = 1};
	return true;
}
