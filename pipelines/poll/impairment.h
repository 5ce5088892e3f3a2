/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Impairment for experiments with loss, at the transmitting end of a link: drops a share of the
 * credit frames and flips a bit in a share of the data frames. */

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "rng.h"

struct impairment {
	uint32_t credit_loss_ppm;
	uint32_t corrupt_ppm;
	struct rng rng;
	uint64_t credits_lost, frames_corrupted;
};

/* True: drop the frame. Otherwise it may have flipped a bit. */
static inline bool impair_frame(struct impairment *impairment, uint8_t *frame, uint32_t bytes)
{
	unsigned kind = frame_header_const(frame)->kind;

	if (kind == FRAME_CREDIT && rng_chance_ppm(&impairment->rng, impairment->credit_loss_ppm)) {
		impairment->credits_lost++;
		return true;
	}
	if (kind == FRAME_DATA && rng_chance_ppm(&impairment->rng, impairment->corrupt_ppm)) {
		frame[FRAME_HEADER_OFFSET +
			rng_below(&impairment->rng, bytes - FRAME_HEADER_OFFSET)] ^=
			(uint8_t)(1u << rng_below(&impairment->rng, 8));
		impairment->frames_corrupted++;
	}
	return false;
}
