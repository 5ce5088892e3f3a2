/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Calculates the share of a link's rate that the credits of one VC allow. A frame's credits are in
 * use from the start of its transmission until a credit frame returns them. If the buffer is
 * smaller than what the link carries in that time, the sender has to wait. The loop is simulated
 * with the rules of credit.h, for a sender that always has a frame and a receiver that forwards
 * each frame immediately, so the result is an upper bound for all traffic of such frames. For
 * set-up. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"

#define CREDIT_LOOP_WHOLE_PPM 1000000u

struct credit_loop {
	uint32_t vc_blocks;    /* size of the receiver's buffer */
	uint32_t frame_blocks; /* size of a frame, not 0 */
	weft_time frame_ps;    /* its time on the wire, not 0 */
	/* From the start of its transmission until it counts as received, and until its blocks are
	 * free (not earlier). */
	weft_time arrive_ps, free_ps;
	weft_time return_ps;  /* transmission time and delay of a credit frame */
	weft_time refresh_ps; /* maximum interval between credit frames; WEFT_TIME_NEVER: sent only
			       * when due */
	bool each;            /* one is sent for each frame */
};

/* Share of the rate, up to CREDIT_LOOP_WHOLE_PPM; 0 if no frame fits into the buffer. */
uint32_t credit_loop_ppm(const struct credit_loop *loop);
