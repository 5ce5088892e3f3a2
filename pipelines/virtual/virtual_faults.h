/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Links of a virtual fabric that lose frames: a share of them ('faults'), or all while the cable is
 * cut (virtual_events.h). A fabric without either has no such state and no branch for it but where
 * a channel is 'special'.
 *
 * A frame that is lost takes its place in the event queue as a WAKE event of the port at which it
 * would have arrived, with the packet's item + VIRTUAL_LOST_ITEM. There it is counted, and its
 * source hears of it (virtual_recovery_lose()). The blocks that it took stay taken, as on the real
 * clock, until the link's ends exchange totals again: with each refresh of credits
 * (virtual_losses.h).
 *
 * The sender's part writes what the sender decides, the receiver's part writes 'lost'. What changes
 * a channel happens between rounds, in all processes. */

#include "base/rng.h"
#include "virtual_private.h"

#define VIRTUAL_LOST_ITEM 2u

struct virtual_fault {
	struct rng rng;
	uint32_t corrupt_ppm, credit_loss_ppm;
	uint32_t cuts; /* events that have cut the cable, now */
	bool touched;  /* the channel has lost something, or may */
	bool waits;    /* as planned, of the channel, as its rate: */
	uint64_t ps_per_byte;
	weft_time arrives; /* the last frame, at the far end */
	/* Of the receiver. */
	uint32_t lost[FRAME_VCS_MAX] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

static inline struct virtual_fault *virtual_fault_of(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	return &fabric->faults[channel - fabric->channel];
}

/* After the links: nothing unless the run has faults or events. 0 or -ENOMEM. */
int virtual_faults_open(struct virtual_fabric *fabric);
void virtual_faults_close(struct virtual_fabric *fabric);

/* The channel has begun to send the packet, which would arrive at '*at': keeps the order of frames
 * where a delay has become shorter. True: it will be lost. */
bool virtual_fault_hits(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct weft_packet *packet, weft_time *at);
/* The channel sends a credit frame. True: it is lost. */
bool virtual_fault_hits_credit(struct virtual_fabric *fabric, const struct virtual_tx *channel);
