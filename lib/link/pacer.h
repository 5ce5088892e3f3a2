/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The transmitter of a link on the real clock: when each transmission begins, and when the wire is
 * free again.
 *
 * A frame is ready when an ideal device could have sent it: it is there, it has credits. A poll
 * loop looks only from time to time, so the time of the loop is later. A transmission begins as
 * soon as the frame is ready and the wire is free, which may be before the loop's time: the loop
 * catches up. It never begins earlier than that, so an idle wire saves up nothing, and no window of
 * time carries more than the rate. Catching up is bounded: what should have begun more than
 * 'catch_up_ps' ago begins that long ago, and the difference is counted as the transmitter's
 * lateness.
 *
 * Frames that the loop itself makes (credits, hellos, acknowledgements) are sent at once, when what
 * a loop elsewhere sends may still be on its way here though it was ready before. They take their
 * time from the wire, but do not end the catching up: a frame that was ready before them and meets
 * them begins as if they were not there, and the next one begins later instead.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weft_time.h"

struct pacer {
	uint64_t ps_per_byte; /* 0: unlimited */
	weft_time catch_up_ps;
	weft_time free_at; /* end of the last transmission, but of the loop's own since then: */
	weft_time own_from, own_until; /* the first begins, the last ends */
	weft_time owed_ps;             /* the time they take; 0: none */
	/* Transmissions that the bound has moved, by how much in total, and the longest. One
	 * writer, any reader. */
	uint64_t moved;
	weft_time moved_ps, moved_max_ps;
};

static inline void pacer_init(struct pacer *pacer, uint64_t rate_bps, weft_time catch_up_ps)
{
	*pacer = (struct pacer){.ps_per_byte = ps_per_byte(rate_bps), .catch_up_ps = catch_up_ps};
}

/* True if a transmission may begin by 'now'. */
static inline bool pacer_ready(const struct pacer *pacer, weft_time now)
{
	return pacer->free_at <= now;
}

/* When the transmission of a frame begins that was ready at 'ready'; 'now' is the loop's time.
 * pacer_send() must follow. */
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

/* Sends 'bytes' (the caller adds FRAME_WIRE_OVERHEAD) from 'begin' on, which pacer_begin() has
 * returned; returns when the last bit leaves. */
static inline weft_time pacer_send(struct pacer *pacer, weft_time begin, uint32_t bytes)
{
	weft_time end = begin + bytes * pacer->ps_per_byte;

	pacer->free_at = end;
	if (__builtin_expect(pacer->owed_ps != 0, 0) && end > pacer->own_from) {
		pacer->free_at += begin < pacer->own_until ? pacer->owed_ps : 0;
		pacer->owed_ps = 0;
	}
	return end;
}

/* When a frame of the loop's own begins that was ready at 'ready'; sends it. */
static inline weft_time pacer_send_own(
	struct pacer *pacer, weft_time ready, weft_time now, uint32_t bytes)
{
	weft_time takes = bytes * pacer->ps_per_byte, begin = ready;

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
