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
 */

#include <stdbool.h>
#include <stdint.h>

#include "weft_time.h"

struct pacer {
	uint64_t ps_per_byte; /* 0: unlimited */
	weft_time catch_up_ps;
	weft_time free_at; /* end of the last transmission */
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
	pacer->free_at = begin + bytes * pacer->ps_per_byte;
	return pacer->free_at;
}
