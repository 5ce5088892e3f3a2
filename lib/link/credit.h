/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Credits of one VC in one direction of a link, modelled on InfiniBand's FCTBS and FCCL (InfiniBand
 * Architecture 1.4, 7.9): wrapping 32-bit totals of 64-byte blocks. Because totals are sent rather
 * than increments, the next credit frame repairs the loss of a credit frame or a data frame.
 *
 * The functions are inline because two are called per packet. One writer: the device's lcore. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"

/* State of the sending end. */
struct credit_tx {
	uint32_t sent;  /* FCTBS: blocks sent since the session started */
	uint32_t limit; /* FCCL last granted by the receiver */
};

/* State of the receiving end, which owns the buffer. 'received' - 'released' blocks are stored. */
struct credit_rx {
	uint32_t received; /* ABR: blocks received, adjusted to the sender's total */
	uint32_t released; /* blocks that have left the buffer or were never stored */
	uint32_t granted;  /* limit last sent; at most released + capacity */
	uint32_t capacity; /* buffer size in blocks */
};

/* Returns the number of blocks that may be sent now, or 0 if the limit is below 'sent'. */
static inline uint32_t credit_available(const struct credit_tx *tx)
{
	int32_t left = (int32_t)(tx->limit - tx->sent);

	return left > 0 ? (uint32_t)left : 0;
}

static inline bool credit_suffices(const struct credit_tx *tx, uint32_t blocks)
{
	return (int32_t)(tx->limit - tx->sent - blocks) >= 0;
}

/* Consumes credits. Call only after credit_suffices() returned true. */
static inline void credit_take(struct credit_tx *tx, uint32_t blocks)
{
	tx->sent += blocks;
}

/* Returns unused credits. */
static inline void credit_return(struct credit_tx *tx, uint32_t blocks)
{
	tx->sent -= blocks;
}

/* Returns the blocks that the sender may still send after an arriving frame of 'blocks' blocks. */
static inline uint32_t credit_expected(const struct credit_rx *rx, uint32_t blocks)
{
	int32_t left = (int32_t)(rx->granted - rx->received - blocks);

	return left > 0 ? (uint32_t)left : 0;
}

/* Returns true if credits were granted for an arriving frame of 'blocks'. */
static inline bool credit_covers(const struct credit_rx *rx, uint32_t blocks)
{
	return (int32_t)(rx->granted - rx->received - blocks) >= 0;
}

/* Counts the blocks of an arriving frame as received. Returns true if they were granted. Granted
 * blocks always fit in the buffer, because grants never exceed the free space. */
static inline bool credit_arrive(struct credit_rx *rx, uint32_t blocks)
{
	rx->received += blocks;
	return (int32_t)(rx->granted - rx->received) >= 0;
}

/* Counts blocks that have left the buffer, or belong to a frame that was not stored. */
static inline void credit_release(struct credit_rx *rx, uint32_t blocks)
{
	rx->released += blocks;
}

static inline uint32_t credit_stored(const struct credit_rx *rx)
{
	return rx->received - rx->released;
}

/* Returns the highest limit that can be granted now: received blocks plus free blocks. */
static inline uint32_t credit_limit(const struct credit_rx *rx)
{
	return rx->released + rx->capacity;
}

/* Returns the number of free blocks that have not been granted to the sender. */
static inline uint32_t credit_ungranted(const struct credit_rx *rx)
{
	return credit_limit(rx) - rx->granted;
}

/* Returns true if the ungranted blocks justify a credit frame: a quarter of the buffer, or an
 * eighth if that is more than the sender has left. Without the second rule, if blocked packets
 * filled most of the buffer, other packets would get only a fraction of the buffer per refresh. */
static inline bool credit_grant_due(const struct credit_rx *rx)
{
	uint32_t ungranted = credit_ungranted(rx);

	return ungranted > 0 &&
	       (ungranted * 4 >= rx->capacity ||
		       (ungranted * 8 >= rx->capacity && ungranted > credit_expected(rx, 0)));
}

/* Returns the maximum number of blocks that a receiver withholds under this rule while its sender
 * has 'left' blocks left. Packets in flight may raise the actual number slightly. */
static inline uint32_t credit_withheld_max(uint32_t capacity, uint32_t left)
{
	uint32_t needed = left > capacity / 8 ? left : capacity / 8;

	return needed < capacity / 4 ? needed : capacity / 4;
}

/* Calculates the share of a link's rate that the credits of one VC allow. The credits of a frame
 * are in use from the start of its transmission until a credit frame returns them. If the buffer is
 * smaller than the data that the link carries in that time, the sender has to wait. The loop is
 * simulated with the functions above, for a sender that always has a frame and a receiver that
 * forwards each frame immediately. The result is therefore an upper bound for all traffic of such
 * frames. For use during set-up only. */

#define CREDIT_LOOP_WHOLE_PPM 1000000u

struct credit_loop {
	uint32_t vc_blocks;    /* size of the receiver's buffer */
	uint32_t frame_blocks; /* frame size in blocks, not 0 */
	weft_time frame_ps;    /* transmission time of a frame, not 0 */
	/* Times from the start of transmission until the frame counts as received, and until its
	 * blocks are free, which is not earlier. */
	weft_time arrive_ps, free_ps;
	weft_time return_ps;  /* transmission time and delay of a credit frame */
	weft_time refresh_ps; /* maximum interval between credit frames; WEFT_TIME_NEVER: sent only
				 when due */
	bool each;            /* one credit frame is sent per frame */
};

/* Returns the share of the rate, up to CREDIT_LOOP_WHOLE_PPM; 0 if no frame fits in the buffer. */
uint32_t credit_loop_ppm(const struct credit_loop *loop);
