/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * FECN marks (InfiniBand congestion control, annex A10): a data packet that is stored
 * while its VC is fuller than the threshold is marked, and its receiver tells the source. The
 * threshold of an input port and VC is a number from 0, never, to 15, the strictest; InfiniBand
 * leaves open which occupancy each means. Here w stands for (16 - w) / 16 of the VC: 15 marks above
 * a sixteenth, 1 above fifteen sixteenths. The occupancy is that before the packet.
 */

#include <stdbool.h>
#include <stdint.h>

#include "packet.h"

#define FECN_THRESHOLD_MAX 15
#define FECN_PORTS_MAX     64

struct fecn {
	uint64_t marked;                               /* packets */
	uint32_t limit[FECN_PORTS_MAX][FRAME_VCS_MAX]; /* blocks; UINT32_MAX: never */
};

/* All thresholds 0. */
void fecn_init(struct fecn *fecn);
/* 'vc_blocks': the VC's buffer. False: the threshold is above the greatest. */
bool fecn_set(
	struct fecn *fecn, unsigned port, unsigned vc, unsigned threshold, uint32_t vc_blocks);

/* Marks the packet, which is about to join 'stored' blocks, if the VC is above its threshold.
 * Control frames take no credits and lie in no VC: they are never marked. */
static inline void fecn_mark(
	struct fecn *fecn, struct weft_packet *packet, unsigned port, uint32_t stored)
{
	if (stored <= fecn->limit[port][packet->vc] || packet->control != 0)
		return;
	packet->mutable_word |= MUTABLE_FLAGS(FRAME_F_FECN);
	fecn->marked++;
}
