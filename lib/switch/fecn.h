/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* FECN marks (InfiniBand congestion control, annex A10): a data packet is marked if it is stored
 * while its VC is fuller than the threshold, and its receiver then notifies the source. The
 * threshold of an input port and VC is a number from 0 (never mark) to 15 (the strictest);
 * InfiniBand does not define the corresponding occupancy. Here w stands for (16 - w) / 16 of the
 * VC: 15 marks above one sixteenth, 1 above fifteen sixteenths. The occupancy is measured before
 * the packet is added.
 *
 * RED, as in Ethernet's ECN (DCQCN, section 3.1), can mark packets as well or instead. It depends
 * on the blocks waiting for the packet's output in its VC: no packet is marked up to 'min_blocks'
 * and every packet above 'max_blocks'. In between the probability rises to 'max_ppm'.
 *
 * A packet above the threshold is not marked if it is small (Packet_Size) or if too few packets
 * have passed since the last mark (Marking_Rate). Without the Victim_Mask it is also not marked if
 * the next buffer has no credits for it, because then the congestion is further downstream. Paper
 * 002 marks roots and victims alike. */

#include <stdbool.h>
#include <stdint.h>

#include "base/port_set.h"
#include "wire/packet.h"

#define FECN_THRESHOLD_MAX 15

struct fecn_rules {
	uint16_t marking_rate; /* minimum number of unmarked packets between two marks of a VC */
	uint16_t packet_bytes; /* smaller packets are never marked; 0: no limit */
	bool victims;          /* victim mask: packets without credits are also marked */
};

struct fecn_red {
	uint32_t min_blocks, max_blocks; /* max_blocks 0: RED is off */
	uint32_t max_ppm;
};

struct fecn {
	struct fecn_red red;
	struct rng rng; /* used by RED */
	struct fecn_rules rules;
	uint64_t marked;                                /* number of marked packets */
	uint32_t limit[PORT_SET_PORTS][FRAME_VCS_MAX];  /* blocks; UINT32_MAX: never */
	uint16_t passed[PORT_SET_PORTS][FRAME_VCS_MAX]; /* packets since the last mark */
};

/* Sets all thresholds to 0 and rules that exempt no packet. */
void fecn_init(struct fecn *fecn);
/* Sets the rules. Each VC may mark its next packet. */
void fecn_set_rules(struct fecn *fecn, const struct fecn_rules *rules);
/* Sets a threshold for a VC of 'vc_blocks' blocks. Returns false if it exceeds the maximum. */
bool fecn_set(
	struct fecn *fecn, unsigned port, unsigned vc, unsigned threshold, uint32_t vc_blocks);

/* Marks the packet, about to be added to 'stored' blocks, if its VC is above the threshold and the
 * rules allow it. 'credits' tells whether the next buffer has room for the packet. Control frames
 * use no credits and no VC, so they are never marked. */
static inline void fecn_mark(
	struct fecn *fecn, struct weft_packet *packet, unsigned port, uint32_t stored, bool credits)
{
	uint16_t *passed = &fecn->passed[port][packet->vc];

	if (stored <= fecn->limit[port][packet->vc] || packet->control != 0 ||
		packet->bytes < fecn->rules.packet_bytes || !(credits || fecn->rules.victims))
		return;
	if (*passed < fecn->rules.marking_rate) {
		++*passed;
		return;
	}
	*passed = 0;
	packet->mutable_word |= MUTABLE_FLAGS(FRAME_F_FECN);
	fecn->marked++;
}

/* Marks the packet according to RED. 'waiting' is in blocks. */
void fecn_mark_red(struct fecn *fecn, struct weft_packet *packet, uint32_t waiting);
