/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The transmitter of a link on the real clock: tracks when each transmission starts, and when the
 * wire is free again.
 *
 * A frame is ready when an ideal device could have sent it: it has arrived and has credits. A poll
 * loop sees the frame later, because it polls only at intervals. A transmission starts as soon as
 * the frame is ready and the wire is free, which may be before the loop's current time: the loop
 * catches up. A transmission never starts before its frame is ready. Unused wire time is therefore
 * lost, and no interval carries more than the rate allows. Catching up is limited: a transmission
 * that should have started more than 'catch_up_ps' ago starts that long ago, and the difference
 * counts as the transmitter's lateness.
 *
 * Frames that the loop itself creates (credits, hellos, acknowledgements) are sent immediately,
 * although frames from other loops that were ready earlier may arrive only later. The loop's own
 * frames therefore take wire time but do not end catching up: a frame that was ready before them
 * starts as if they did not exist, and the next one starts later instead. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"

struct pacer {
	uint64_t byte_time; /* time per byte; 0: unlimited rate */
	uint16_t rest;      /* rounding state of wire_takes() */
	weft_time catch_up_ps;
	/* End of the last transmission, without later frames of the loop itself. For those
	 * frames: */
	weft_time free_at;
	weft_time own_from, own_until; /* start of their first and end of their last transmission */
	weft_time owed_ps;             /* their total transmission time; 0: none */
	/* Transmissions delayed because of catch_up_ps: their number, total delay and longest
	 * delay. Single writer, any number of readers. */
	uint64_t moved;
	weft_time moved_ps, moved_max_ps;
};

static inline void pacer_init(struct pacer *pacer, uint64_t rate_bps, weft_time catch_up_ps)
{
	*pacer = (struct pacer){
		.byte_time = byte_time_of(rate_bps), .rest = WIRE_REST, .catch_up_ps = catch_up_ps};
}

/* Returns true if a transmission may start by 'now'. */
static inline bool pacer_ready(const struct pacer *pacer, weft_time now)
{
	return pacer->free_at <= now;
}

/* Returns when the transmission of a frame that was ready at 'ready' starts. 'now' is the loop's
 * time. pacer_send() must follow. */
static inline weft_time pacer_begin(struct pacer *pacer, weft_time ready, weft_time now)
{
	weft_time begin = ready > pacer->free_at ? ready : pacer->free_at, late;

	if (__builtin_expect(begin + pacer->catch_up_ps >= now, 1))
		return begin;
	late = now - pacer->catch_up_ps - begin;
	pacer->moved++;
	pacer->moved_ps += late;
	if (late > pacer->moved_max_ps)
		pacer->moved_max_ps = late;
	return begin + late;
}

/* Sends 'bytes' bytes, including FRAME_WIRE_OVERHEAD, from 'begin', the value that pacer_begin()
 * returned. Returns when the last bit is sent. */
static inline weft_time pacer_send(struct pacer *pacer, weft_time begin, uint32_t bytes)
{
	weft_time end = begin + wire_takes(bytes, pacer->byte_time, &pacer->rest);

	pacer->free_at = end;
	if (__builtin_expect(pacer->owed_ps != 0, 0) && end > pacer->own_from) {
		pacer->free_at += begin < pacer->own_until ? pacer->owed_ps : 0;
		pacer->owed_ps = 0;
	}
	return end;
}

/* Sends one of the loop's own frames, which was ready at 'ready'. Returns when its transmission
 * starts. */
static inline weft_time pacer_send_own(
	struct pacer *pacer, weft_time ready, weft_time now, uint32_t bytes)
{
	weft_time takes = wire_takes(bytes, pacer->byte_time, &pacer->rest), begin = ready;

	if (begin + pacer->catch_up_ps < now)
		begin = now - pacer->catch_up_ps;
	if (pacer->owed_ps != 0 && begin < pacer->own_until)
		begin = pacer->own_until;
	if (begin <= pacer->free_at) {
		begin = pacer->free_at;
		pacer->free_at += takes;
		return begin;
	}
	if (pacer->owed_ps == 0)
		pacer->own_from = begin;
	pacer->own_until = begin + takes;
	pacer->owed_ps += takes;
	return begin;
}
