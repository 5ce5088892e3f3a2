/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* When the credits of a link's transmitter became available. A poll loop reads a credit frame after
 * its due arrival, perhaps together with later ones. A frame that uses these credits may start when
 * they were due, not earlier (pacer.h). The last grants of each VC are kept with their times. If
 * there are too many, a grant takes the due time of the next one: late, never early. One thread. */

#include <stdint.h>
#include <string.h>

#include "credit.h"
#include "frame.h"
#include "weft_time.h"

#define CREDIT_TIMES_KEPT 4u

struct credit_times_vc {
	uint32_t known; /* the limit last seen */
	uint32_t base;  /* credits up to this limit have been available for long */
	uint32_t kept;
	uint32_t limit[CREDIT_TIMES_KEPT]; /* ascending (serial arithmetic) */
	weft_time due[CREDIT_TIMES_KEPT];
};

struct credit_times {
	struct credit_times_vc vc[FRAME_VCS_MAX];
};

static inline void credit_times_drop(struct credit_times_vc *vc)
{
	vc->kept--;
	memmove(vc->limit, vc->limit + 1, vc->kept * sizeof(vc->limit[0]));
	memmove(vc->due, vc->due + 1, vc->kept * sizeof(vc->due[0]));
}

static inline void credit_times_add(struct credit_times_vc *vc, uint32_t limit, weft_time due)
{
	if ((int32_t)(limit - vc->known) < 0) /* a new session counts from 0 */
		memset(vc, 0, sizeof(*vc));
	else if (vc->kept == CREDIT_TIMES_KEPT)
		credit_times_drop(vc);
	vc->known = limit;
	vc->limit[vc->kept] = limit;
	vc->due[vc->kept++] = due;
}

/* After each credit frame: the transmitter's totals, and the frame's due arrival. */
static inline void credit_times_update(
	struct credit_times *times, const struct credit_tx *tx, unsigned vcs, weft_time due)
{
	for (unsigned vc = 0; vc < vcs; vc++)
		if (tx[vc].limit != times->vc[vc].known)
			credit_times_add(&times->vc[vc], tx[vc].limit, due);
}

/* When the credits of the last frame that was taken became available ('tx' counts it as sent); 0:
 * long ago. */
static inline weft_time credit_times_of(struct credit_times *times, unsigned vc, uint32_t sent)
{
	struct credit_times_vc *of = &times->vc[vc];

	while (of->kept > 0 && (int32_t)(of->limit[0] - sent) < 0) {
		of->base = of->limit[0];
		credit_times_drop(of);
	}
	return of->kept > 0 && (int32_t)(sent - of->base) > 0 ? of->due[0] : 0;
}
