/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Ethernet links in a virtual fabric: 'switch.flow-control: pfc' or 'lossy'. Senders do not count
 * credits. With priority flow control (IEEE 802.1Qbb), an input sends a pause frame when a VC
 * exceeds XOFF, and a resume frame when it has drained to XON; a VC is a priority. With 'lossy' no
 * such frames are sent; a switch drops frames that do not fit, and hosts resend them.
 *
 * The credit state machines (lib/link/credit.h) are used unchanged: the limit of a paused sender is
 * the amount that it has sent; otherwise the limit is unreachable. Fabrics with credits thus have
 * no overhead. A pause lasts until the next pause frame; the timer that real ports renew is not
 * modelled.
 *
 * The space above XOFF, the headroom, must hold what arrives until the pause takes effect: two link
 * delays, the pause frame, the frame that delays it at the receiver, and a frame being sent. */

#include "virtual_private.h"

/* Minimum Ethernet frame, including preamble and gap. */
#define VIRTUAL_PAUSE_BYTES 84u

/* A link end, identified by its sending channel. */
struct virtual_pause {
	weft_time until;                  /* when the pause frames sent so far have left */
	uint64_t frames;                  /* number of frames sent */
	uint32_t xoff_blocks, xon_blocks; /* thresholds per VC; UINT32_MAX: none */
	uint16_t vcs;                     /* set of VCs paused by this end */
};

static inline struct virtual_pause *virtual_pause_of(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	return &fabric->pauses[channel - fabric->channel];
}

/* Sets thresholds and lets senders send; does nothing with credits. Call after creating the links.
 * Returns 0, or with error set -ENOMEM, or -EINVAL if a buffer is smaller than its headroom. */
int virtual_pause_open(struct virtual_fabric *fabric, struct error *error);

/* Replaces the credit frame: pauses or resumes the VCs that have crossed a threshold. Fills in
 * 'total' and returns when the pause frame will have left; WEFT_TIME_NEVER: none is due. */
weft_time virtual_pause_due(struct virtual_fabric *fabric, struct link_end *end,
	const struct virtual_tx *channel, struct virtual_credit total[], weft_time now);
/* Returns true if a pause is due for the buffer (input, vc), which a packet has just joined. */
static inline bool virtual_pause_is_due(
	const struct virtual_fabric *fabric, uint32_t at, unsigned input, unsigned vc)
{
	const struct virtual_pause *pause =
		virtual_pause_of(fabric, virtual_switch_channel(fabric, at, input));

	return (pause->vcs >> vc & 1) == 0 &&
	       credit_stored(&fabric->sw[at]->port[input].link.rx[vc]) > pause->xoff_blocks;
}
/* Returns how long a packet that starts now must wait for pause frames. */
static inline weft_time virtual_pause_wait(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel, weft_time now)
{
	weft_time until = virtual_pause_of(fabric, channel)->until;

	return until > now ? until - now : 0;
}
/* Returns the limit that corresponds to a pause frame. */
static inline uint32_t virtual_pause_limit(const struct credit_tx *tx, bool paused)
{
	return tx->sent + (paused ? 0 : INT32_MAX);
}
/* Keeps unreachable limits unreachable. Call between two events of all partitions. */
void virtual_pause_renew(struct virtual_fabric *fabric);

/* Makes paused heads wait until the buffer has drained to XON, rather than for space. */
void virtual_pause_heads(const struct virtual_fabric *fabric, struct deadlock_heads *heads);

void virtual_pause_result(const struct virtual_fabric *fabric, struct run_result *result);
