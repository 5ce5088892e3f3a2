/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Records when a transmitter was first allowed to send its current frame. The peer raises a
 * limit with control frames: the credits of a link, the window of a flow. A poll loop reads such a
 * frame some time after its due arrival, possibly together with later ones. A transmission that
 * needs the new limit may start when the control frame was due, but not earlier (pacer.h). The most
 * recent limits are kept with their due times. If there are too many, the oldest is merged into the
 * next one, whose due time is not earlier. Limits are wrapping totals. Single-threaded. */

#include <stdint.h>
#include <string.h>

#include "base/weft_time.h"
#include "credit.h"
#include "wire/frame.h"

#define LIMIT_TIMES_KEPT 4u

struct limit_times {
	uint32_t known; /* last limit received */
	uint32_t base;  /* totals up to this value have been allowed for a long time */
	uint32_t kept;
	uint32_t limit[LIMIT_TIMES_KEPT]; /* ascending */
	weft_time due[LIMIT_TIMES_KEPT];
};

/* Allows totals up to 'limit' from the start. */
static inline void limit_times_init(struct limit_times *times, uint32_t limit)
{
	*times = (struct limit_times){.known = limit, .base = limit};
}

static inline void limit_times_drop(struct limit_times *times)
{
	times->kept--;
	memmove(times->limit, times->limit + 1, times->kept * sizeof(times->limit[0]));
	memmove(times->due, times->due + 1, times->kept * sizeof(times->due[0]));
}

/* Records a control frame that was due at 'due'. It has no effect unless it raises the limit.
 * Frames arrive in order: even if the link's delay became shorter, no frame is due before the
 * preceding one. */
static inline void limit_times_raise(struct limit_times *times, uint32_t limit, weft_time due)
{
	if ((int32_t)(limit - times->known) <= 0)
		return;
	if (times->kept > 0 && due < times->due[times->kept - 1])
		due = times->due[times->kept - 1];
	if (times->kept == LIMIT_TIMES_KEPT)
		limit_times_drop(times);
	times->known = limit;
	times->limit[times->kept] = limit;
	times->due[times->kept++] = due;
}

/* Returns when a total of 'sent' became allowed; 0: long ago. Discards limits below 'sent'. */
static inline weft_time limit_times_of(struct limit_times *times, uint32_t sent)
{
	while (times->kept > 0 && (int32_t)(times->limit[0] - sent) < 0) {
		times->base = times->limit[0];
		limit_times_drop(times);
	}
	return times->kept > 0 && (int32_t)(sent - times->base) > 0 ? times->due[0] : 0;
}

/* When the credits of a link's transmitter became available, per VC. Single-threaded. */

struct credit_times {
	struct limit_times vc[FRAME_VCS_MAX];
};

/* Call after each credit frame, with the transmitter's totals and the frame's due arrival. In a new
 * session, totals start at 0. */
static inline void credit_times_update(
	struct credit_times *times, const struct credit_tx *tx, unsigned vcs, weft_time due)
{
	for (unsigned vc = 0; vc < vcs; vc++) {
		if ((int32_t)(tx[vc].limit - times->vc[vc].known) < 0)
			limit_times_init(&times->vc[vc], 0);
		limit_times_raise(&times->vc[vc], tx[vc].limit, due);
	}
}

/* Returns when the credits for the last frame became available; 0: long ago. 'sent' includes that
 * frame. */
static inline weft_time credit_times_of(struct credit_times *times, unsigned vc, uint32_t sent)
{
	return limit_times_of(&times->vc[vc], sent);
}
