/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Stop & Go flow control of Myrinet (thesis 004, section 1.3.1): the receiver of a link has a slack
 * buffer with two marks. When the level has risen above the one it sends STOP, when it has fallen
 * below the other it sends GO; what is under way until the sender has heard it needs room above the
 * first mark, and keeps the buffer from running empty below the second. Levels are flits.
 */

#include <stdbool.h>
#include <stdint.h>

struct stop_go_marks {
	uint32_t slack; /* the buffer */
	uint32_t stop;  /* STOP above it */
	uint32_t go;    /* GO below it */
};

/* Of the thesis, section 4.3. */
#define STOP_GO_SLACK 80
#define STOP_GO_STOP  56
#define STOP_GO_GO    40

enum stop_go_signal { STOP_GO_NONE, STOP_GO_STOPS, STOP_GO_GOES };

/* True if a link of so many cycles never fills the buffer beyond its end: the flits of two delays
 * still come after the one that has passed the mark. */
static inline bool stop_go_never_over(const struct stop_go_marks *marks, uint64_t delay)
{
	return marks->stop >= marks->go && marks->slack >= marks->stop + 2 * delay;
}

/* True if the buffer never runs empty in the middle of a message: what lies below the mark lasts
 * until the first flit after GO is there. */
static inline bool stop_go_never_empty(const struct stop_go_marks *marks, uint64_t delay)
{
	return marks->go >= 2 * delay + 2;
}

/* What a receiver at this level sends; 'stopped' is its own memory of what it has sent last. */
static inline enum stop_go_signal stop_go_look(
	const struct stop_go_marks *marks, bool *stopped, uint64_t level)
{
	if (!*stopped && level > marks->stop) {
		*stopped = true;
		return STOP_GO_STOPS;
	}
	if (*stopped && level < marks->go) {
		*stopped = false;
		return STOP_GO_GOES;
	}
	return STOP_GO_NONE;
}
