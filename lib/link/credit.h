/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Credits of one VC in one direction of a link, as InfiniBand's FCTBS and FCCL (InfiniBand
 * Architecture 1.4, 7.9): wrapping 32-bit totals of 64-byte blocks. Totals instead of increments
 * make the protocol heal itself: the next credit frame repairs what a lost credit frame or a lost
 * data frame took away.
 *
 * Inline because two of these calls happen per packet. One writer: the lcore of the device.
 */

#include <stdbool.h>
#include <stdint.h>

/* The sending end. */
struct credit_tx {
	uint32_t sent;  /* FCTBS: blocks sent since the session began */
	uint32_t limit; /* FCCL last granted by the receiver */
};

/* The receiving end, owner of the buffer. What is stored is received - released. */
struct credit_rx {
	uint32_t received; /* ABR: blocks received, adjusted to the sender's total */
	uint32_t released; /* blocks that have left the buffer, or never reached it */
	uint32_t granted;  /* limit that was last sent; never beyond released + capacity */
	uint32_t capacity; /* blocks that the buffer holds */
};

/* Blocks that may be sent now. Never negative: a limit behind 'sent' reads as none. */
static inline uint32_t credit_available(const struct credit_tx *tx)
{
	int32_t left = (int32_t)(tx->limit - tx->sent);

	return left > 0 ? (uint32_t)left : 0;
}

static inline bool credit_suffices(const struct credit_tx *tx, uint32_t blocks)
{
	return (int32_t)(tx->limit - tx->sent - blocks) >= 0;
}

/* Takes credits; credit_suffices() has said yes. */
static inline void credit_take(struct credit_tx *tx, uint32_t blocks)
{
	tx->sent += blocks;
}

/* Blocks that the sender may still send after a frame of 'blocks' that is arriving. */
static inline uint32_t credit_expected(const struct credit_rx *rx, uint32_t blocks)
{
	int32_t left = (int32_t)(rx->granted - rx->received - blocks);

	return left > 0 ? (uint32_t)left : 0;
}

/* True if the blocks of a frame that is arriving were granted. */
static inline bool credit_covers(const struct credit_rx *rx, uint32_t blocks)
{
	return (int32_t)(rx->granted - rx->received - blocks) >= 0;
}

/* The frame has crossed the link: its blocks count as received. True if they were granted, and then
 * there is room for them: what was granted is never more than what is free. */
static inline bool credit_arrive(struct credit_rx *rx, uint32_t blocks)
{
	rx->received += blocks;
	return (int32_t)(rx->granted - rx->received) >= 0;
}

/* Blocks have left the buffer, or belong to a frame that was not stored. */
static inline void credit_release(struct credit_rx *rx, uint32_t blocks)
{
	rx->released += blocks;
}

static inline uint32_t credit_stored(const struct credit_rx *rx)
{
	return rx->received - rx->released;
}

/* The limit that could be granted now: what was received plus what is free. */
static inline uint32_t credit_limit(const struct credit_rx *rx)
{
	return rx->released + rx->capacity;
}

/* Blocks that the sender does not know of yet. */
static inline uint32_t credit_ungranted(const struct credit_rx *rx)
{
	return credit_limit(rx) - rx->granted;
}

/* What the sender does not know of yet is worth a credit frame when it is much, or when it is more
 * than what the sender has left: else a buffer that is nearly full of packets that cannot move
 * would let the others through by a fraction of a buffer a refresh. */
static inline bool credit_grant_due(const struct credit_rx *rx)
{
	uint32_t news = credit_ungranted(rx);

	return news > 0 && (news * 4 >= rx->capacity ||
				   (news * 8 >= rx->capacity && news > credit_expected(rx, 0)));
}
