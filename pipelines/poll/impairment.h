/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Damage on purpose, for experiments with loss: a share of the credit frames is thrown away, a
 * share of the data frames has a bit turned over, at the transmitting end of a link.
 */

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

/* True if the frame is to be thrown away; may have damaged it instead. */
static inline bool damage_frame(struct impairment *impairment, uint8_t *frame, uint32_t bytes)
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
