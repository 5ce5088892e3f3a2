/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Stop & Go flow control of Myrinet (thesis 004, section 1.3.1): the receiver of a link has a slack
 * buffer with two marks. It sends STOP when the level rises above one and GO when it falls below
 * the other. The space above the stop mark holds the flits in flight until the sender reacts; the
 * flits below the go mark keep the buffer from running empty. Levels are in flits. */

#include <stdbool.h>
#include <stdint.h>

struct stop_go_marks {
	uint32_t slack; /* size of the buffer */
	uint32_t stop;  /* STOP above it */
	uint32_t go;    /* GO below it */
};

/* Values of the thesis, section 4.3. */
#define STOP_GO_SLACK 80
#define STOP_GO_STOP  56
#define STOP_GO_GO    40

enum stop_go_signal { STOP_GO_NONE, STOP_GO_STOPS, STOP_GO_GOES };

/* True if the buffer of a link of 'delay' cycles never overflows: after the flit that passed the
 * mark, the flits of two more delays still arrive. */
static inline bool stop_go_never_over(const struct stop_go_marks *marks, uint64_t delay)
{
	return marks->stop >= marks->go && marks->slack >= marks->stop + 2 * delay;
}

/* True if the buffer never runs empty in the middle of a message: the flits below the mark last
 * until the first flit after GO arrives. */
static inline bool stop_go_never_empty(const struct stop_go_marks *marks, uint64_t delay)
{
	return marks->go >= 2 * delay + 2;
}

/* The signal that a receiver at this level sends; '*stopped' records whether the last signal was
 * STOP. */
static inline enum stop_go_signal stop_go_update(
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
