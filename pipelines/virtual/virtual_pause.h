/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Ethernet's links in a virtual fabric: 'switch.flow-control: pfc' or 'lossy'. A sender has no
 * credits to count. With priority flow control (IEEE 802.1Qbb) an input whose VC is fuller than
 * XOFF sends a pause frame, and another one when it has drained to XON; a VC is a priority. With
 * 'lossy' nothing is sent, and a switch drops frames that do not fit, which hosts resend.
 *
 * The state machines of credits (lib/link/credit.h) are used unchanged: the limit of a paused
 * sender is the amount that it has sent; otherwise the limit is out of reach. A fabric with credits
 * thus pays nothing. A pause lasts until the next pause frame; its timer, which real ports renew,
 * is left out.
 *
 * Above XOFF there must be room for what arrives until the pause takes effect, the headroom: two
 * delays of the link, the pause frame, the frame that it waits for at the receiver, and the frame
 * that the sender has started to send. */

#include "virtual_private.h"

/* The smallest Ethernet frame, with preamble and gap. */
#define VIRTUAL_PAUSE_BYTES 84u

/* An end of a link, named by the channel that it sends on. */
struct virtual_pause {
	weft_time until;                  /* pause frames leave up to then */
	uint64_t frames;                  /* sent */
	uint32_t xoff_blocks, xon_blocks; /* a VC's level; UINT32_MAX: never */
	uint16_t vcs;                     /* set that it has paused */
};

static inline struct virtual_pause *virtual_pause_of(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	return &fabric->pauses[channel - fabric->channel];
}

/* Called after the links are created: sets thresholds and lets senders send. Does nothing with
 * credits. Returns 0, -ENOMEM, or -EINVAL with error set if a buffer is smaller than its
 * headroom. */
int virtual_pause_open(struct virtual_fabric *fabric, struct error *error);

/* Replaces the credit frame: pauses or resumes the VCs that have passed a threshold. Returns when
 * the pause frame will have left, and its contents; WEFT_TIME_NEVER if none is due. */
weft_time virtual_pause_due(struct virtual_fabric *fabric, struct link_end *end,
	const struct virtual_tx *channel, struct virtual_credit total[], weft_time now);
/* True if a pause is due for the buffer of (input, vc), which a packet just joined. */
static inline bool virtual_pause_is_due(
	const struct virtual_fabric *fabric, uint32_t at, unsigned input, unsigned vc)
{
	const struct virtual_pause *pause =
		virtual_pause_of(fabric, virtual_switch_channel(fabric, at, input));

	return (pause->vcs >> vc & 1) == 0 &&
	       credit_stored(&fabric->sw[at]->port[input].link.rx[vc]) > pause->xoff_blocks;
}
/* How long a packet that starts now has to wait for pause frames to leave. */
static inline weft_time virtual_pause_wait(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel, weft_time now)
{
	weft_time until = virtual_pause_of(fabric, channel)->until;

	return until > now ? until - now : 0;
}
/* The limit that corresponds to a pause frame. */
static inline uint32_t virtual_pause_limit(const struct credit_tx *tx, bool paused)
{
	return tx->sent + (paused ? 0 : INT32_MAX);
}
/* Ensures that limits that are out of reach stay so. Call it between two events of all
 * partitions. */
void virtual_pause_renew(struct virtual_fabric *fabric);

/* Heads held back by a pause wait until the buffer has drained to XON, not for room. */
void virtual_pause_heads(const struct virtual_fabric *fabric, struct deadlock_heads *heads);

void virtual_pause_result(const struct virtual_fabric *fabric, struct run_result *result);
