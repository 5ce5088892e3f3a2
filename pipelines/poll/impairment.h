/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Impairment for experiments, at the transmitting end of a link: drops shares of the credit and
 * data frames, flips a bit in a share of the data frames, adds a random delay to each frame, and
 * lets data frames overtake each other. No frame arrives earlier than it would without impairment.
 * Used by the loop only, but other threads may store the shares. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/weft_time.h"

struct rte_mbuf;

struct impairment {
	uint32_t credit_loss_ppm, loss_ppm, corrupt_ppm;
	/* Share of the data frames that are held until the next frame. If that is a data frame, it
	 * leaves first. */
	uint32_t reorder_ppm;
	weft_time jitter_ps; /* upper bound of the added delay, which is uniform */
	weft_time last_due;  /* due arrival of the last frame with jitter */
	struct rte_mbuf *held;
	struct rng rng;
	uint64_t credits_lost, frames_lost, frames_corrupted, frames_swapped;
};

/* Frees frames that are lost, and writes the others to 'out', which has room for count + 1. Returns
 * how many. 'timed': frames are stamped with their due arrival. */
uint16_t impair_frames(struct impairment *impairment, struct rte_mbuf **mbufs, uint16_t count,
	bool timed, struct rte_mbuf **out);
