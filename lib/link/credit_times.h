/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* When the credits of a link's transmitter became available, by VC (limit_times.h). One thread. */

#include "credit.h"
#include "frame.h"
#include "limit_times.h"

struct credit_times {
	struct limit_times vc[FRAME_VCS_MAX];
};

/* After each credit frame: the transmitter's totals, and the frame's due arrival. A new session
 * counts from 0. */
static inline void credit_times_update(
	struct credit_times *times, const struct credit_tx *tx, unsigned vcs, weft_time due)
{
	for (unsigned vc = 0; vc < vcs; vc++) {
		if ((int32_t)(tx[vc].limit - times->vc[vc].known) < 0)
			limit_times_init(&times->vc[vc], 0);
		limit_times_raise(&times->vc[vc], tx[vc].limit, due);
	}
}

/* When the credits of the last frame that was taken became available ('tx' counts it as sent); 0:
 * long ago. */
static inline weft_time credit_times_of(struct credit_times *times, unsigned vc, uint32_t sent)
{
	return limit_times_of(&times->vc[vc], sent);
}
