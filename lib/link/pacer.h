/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Rate of a link on the real clock: the time at which the transmitter is free again. A poll loop
 * serves the link only from time to time, so a transmitter that became free since the last poll may
 * start in the past: 'slack' bounds how far. The long-term rate is exact; bursts are at most one
 * slack long.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weft_time.h"

struct pacer {
	uint64_t ps_per_byte; /* 0: unlimited */
	weft_time slack_ps;
	weft_time free_at; /* end of the last transmission */
};

static inline void pacer_init(struct pacer *pacer, uint64_t rate_bps, weft_time slack_ps)
{
	*pacer = (struct pacer){.ps_per_byte = ps_per_byte(rate_bps), .slack_ps = slack_ps};
}

/* True if a transmission may start. */
static inline bool pacer_ready(const struct pacer *pacer, weft_time now)
{
	return pacer->free_at <= now;
}

/* Sends 'bytes' (the caller adds FRAME_WIRE_OVERHEAD); returns when the last bit leaves. */
static inline weft_time pacer_send(struct pacer *pacer, weft_time now, uint32_t bytes)
{
	weft_time earliest = now > pacer->slack_ps ? now - pacer->slack_ps : 0;

	if (pacer->ps_per_byte == 0)
		return now;
	if (pacer->free_at < earliest)
		pacer->free_at = earliest;
	pacer->free_at += bytes * pacer->ps_per_byte;
	return pacer->free_at;
}
