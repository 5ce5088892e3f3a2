/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* An estimate of the buffer at the far end of an output's link, from credits alone.
 *
 * The remaining credits are not the same as the free space. A receiver withholds freed blocks until
 * they are worth a credit frame (credit_grant_due()), so the credits fall by up to a quarter of the
 * buffer and jump up again although the buffer is not any fuller. Withheld credits must not be
 * mistaken for stored packets. The space is known exactly when a credit frame arrives. Afterwards
 * it lies between the credits left and that number plus the maximum that can be withheld
 * (credit_withheld_max()). So the estimate is the space at the last credit frame, limited by this
 * sum. It needs no additional credit frames.
 *
 * Inline: per packet where a mode compares ports. One thread, the switch's. */

#include <stdbool.h>
#include <stdint.h>

#include "link/credit.h"
#include "wire/frame.h"

struct peer_buffer {
	const struct credit_tx *tx; /* [VCs], the link's */
	/* Size of each VC there: the maximum free space seen so far. */
	uint32_t vc_blocks;
	bool exact;                   /* each packet causes a credit frame: nothing is withheld */
	uint32_t told[FRAME_VCS_MAX]; /* free space when the last credit frame arrived */
};

/* A valid credit frame arrived, and 'tx' has its totals. The first VC gives the size, which all
 * share. */
static inline void peer_buffer_told(struct peer_buffer *buffer, unsigned vcs)
{
	uint32_t blocks = credit_available(&buffer->tx[0]);

	if (blocks > buffer->vc_blocks)
		buffer->vc_blocks = blocks;
	for (unsigned vc = 0; vc < vcs && !buffer->exact; vc++)
		buffer->told[vc] = credit_available(&buffer->tx[vc]);
}

/* The link is down, or the neighbour restarted: its buffer may have a different size now. */
static inline void peer_buffer_forget(struct peer_buffer *buffer)
{
	buffer->vc_blocks = 0;
}

/* Free blocks of a VC there. Never less than credit_available(). */
static inline uint32_t peer_buffer_free(const struct peer_buffer *buffer, unsigned vc)
{
	uint32_t left = credit_available(&buffer->tx[vc]), max;

	if (buffer->exact)
		return left;
	max = left + credit_withheld_max(buffer->vc_blocks, left);
	if (buffer->told[vc] < max)
		max = buffer->told[vc];
	return max > left ? max : left;
}
