/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Accounts for a host's memory for packets in transit (thesis, section 3.4.2). Bytes are taken
 * before absorption and returned after departure. A packet that does not fit is refused and
 * counted; the caller discards it. No memory is allocated here. */

#include <stdbool.h>
#include <stdint.h>

#define ITB_POOL_BYTES_DEFAULT (512u * 1024)

struct itb_pool {
	uint64_t size, used, peak;          /* bytes */
	uint64_t overflows, overflow_bytes; /* number and bytes of refusals */
};

static inline void itb_pool_init(struct itb_pool *pool, uint64_t bytes)
{
	*pool = (struct itb_pool){.size = bytes};
}

static inline uint64_t itb_pool_free(const struct itb_pool *pool)
{
	return pool->size - pool->used;
}

/* Takes a whole message when its header has arrived, because the message must fit completely before
 * absorption starts. Returns false if it does not fit, which is counted. */
static inline bool itb_pool_take(struct itb_pool *pool, uint64_t bytes)
{
	if (bytes > itb_pool_free(pool)) {
		pool->overflows++;
		pool->overflow_bytes += bytes;
		return false;
	}
	pool->used += bytes;
	if (pool->used > pool->peak)
		pool->peak = pool->used;
	return true;
}

/* Returns bytes, in portions of any size. */
static inline void itb_pool_give(struct itb_pool *pool, uint64_t bytes)
{
	pool->used -= bytes;
}

/* Shares the link between own and in-transit messages at a host with in-transit buffers (thesis,
 * section 3.1.4). In-transit messages have priority, which keeps their delay low. However, one own
 * message is sent after every 4 in-transit ones while up to 50 own ones are waiting, after every 2
 * while 51 to 100 are waiting, and after each one while more are waiting.
 *
 * This follows the text of the thesis. In its figure 43, if the first rule does not apply, control
 * falls through to the second and third, so own and in-transit messages would always alternate.
 *
 * The unit is the caller's: whole messages in wormhole mode, frames in packet mode. If the selected
 * kind cannot be sent now (no credits), the other may be sent, and the caller reports which one
 * was. No share is therefore lost, and the link does not idle. */

struct itb_share {
	uint32_t in_transit; /* number sent since the last own message, initially 0 */
};

/* Returns the number of frames in transit per own frame, 1 to 4, for 'own_waiting'. */
static inline unsigned itb_share_period(uint32_t own_waiting)
{
	if (own_waiting <= 50)
		return 4;
	return own_waiting <= 100 ? 2 : 1;
}

/* Returns true if an own message is next. Call if both kinds are waiting. */
static inline bool itb_share_is_own(const struct itb_share *turn, uint32_t own_waiting)
{
	return turn->in_transit >= itb_share_period(own_waiting);
}

/* Records that an own message was sent, whichever kind was selected. */
static inline void itb_share_sent_own(struct itb_share *turn)
{
	turn->in_transit = 0;
}

static inline void itb_share_sent_in_transit(struct itb_share *turn)
{
	if (turn->in_transit < UINT32_MAX)
		turn->in_transit++;
}
