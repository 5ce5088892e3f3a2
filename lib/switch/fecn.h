/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* FECN marks (InfiniBand congestion control, annex A10): a data packet that is stored while its VC
 * is fuller than the threshold is marked, and its receiver notifies the source. The threshold of an
 * input port and VC is a number from 0, never, to 15, the strictest; InfiniBand does not define
 * which occupancy each means. Here w stands for (16 - w) / 16 of the VC: 15 marks above a
 * sixteenth, 1 above fifteen sixteenths. The occupancy is measured before the packet joins.
 *
 * In addition or instead, RED as in Ethernet's ECN (DCQCN, section 3.1) can mark packets, depending
 * on the blocks that wait for the packet's output in its VC: none up to 'min_blocks', all above
 * 'max_blocks', in between a share that rises to 'max_ppm'.
 *
 * A packet above the threshold remains unmarked if it is small (Packet_Size), if too few packets
 * have passed since the last mark (Marking_Rate), or, without the Victim_Mask, if the next buffer
 * has no credits for it: then the congestion is further downstream. Paper 002 marks roots and
 * victims alike. */

#include <stdbool.h>
#include <stdint.h>

#include "base/port_set.h"
#include "wire/packet.h"

#define FECN_THRESHOLD_MAX 15

struct fecn_rules {
	uint16_t marking_rate; /* packets that pass unmarked between two marks of a VC; 0: none */
	uint16_t packet_bytes; /* smaller packets are never marked; 0: all may be */
	bool victims;          /* the victim mask: packets without credits are also marked */
};

struct fecn_red {
	uint32_t min_blocks, max_blocks; /* max 0: off */
	uint32_t max_ppm;
};

struct fecn {
	struct fecn_red red;
	struct rng rng; /* for 'red' */
	struct fecn_rules rules;
	uint64_t marked;                                /* packets */
	uint32_t limit[PORT_SET_PORTS][FRAME_VCS_MAX];  /* blocks; UINT32_MAX: never */
	uint16_t passed[PORT_SET_PORTS][FRAME_VCS_MAX]; /* unmarked since the last mark */
};

/* Sets all thresholds to 0, and the rules so that they exempt no packet. */
void fecn_init(struct fecn *fecn);
/* Makes each VC mark the next packet that it may mark. */
void fecn_set_rules(struct fecn *fecn, const struct fecn_rules *rules);
/* 'vc_blocks': size of the VC's buffer. Returns false if the threshold is above the maximum. */
bool fecn_set(
	struct fecn *fecn, unsigned port, unsigned vc, unsigned threshold, uint32_t vc_blocks);

/* Marks the packet, which is about to join 'stored' blocks, if the VC is above its threshold and
 * the rules allow it. 'credits': the next buffer has room for the packet. Control frames take no
 * credits and are in no VC, so they are never marked. */
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

/* The same by RED; 'waiting': blocks. */
void fecn_mark_red(struct fecn *fecn, struct weft_packet *packet, uint32_t waiting);
