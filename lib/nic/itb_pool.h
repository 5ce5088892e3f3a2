/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The account of a host's memory for packets in transit (thesis, section 3.4.2): bytes are taken
 * before absorption and returned after departure. A packet that does not fit is refused and
 * counted; the caller discards it. It does not allocate the bytes. */

#include <stdbool.h>
#include <stdint.h>

#define ITB_POOL_BYTES_DEFAULT (512u * 1024)

struct itb_pool {
	uint64_t size, used, peak;          /* bytes */
	uint64_t overflows, overflow_bytes; /* refusals: count, and bytes */
};

static inline void itb_pool_init(struct itb_pool *pool, uint64_t bytes)
{
	*pool = (struct itb_pool){.size = bytes};
}

static inline uint64_t itb_pool_free(const struct itb_pool *pool)
{
	return pool->size - pool->used;
}

/* Takes a whole message when its header has arrived: it must fit completely before absorption
 * starts. Returns false if it does not fit; counted. */
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

/* Returns bytes, in any portions. */
static inline void itb_pool_give(struct itb_pool *pool, uint64_t bytes)
{
	pool->used -= bytes;
}

/* Share of the link between own and in-transit messages at a host with in-transit buffers (thesis,
 * section 3.1.4). In-transit messages have priority, to keep their delay small. However, one own
 * message is sent after every 4 in-transit ones while up to 50 own ones wait, after every 2 while
 * 51 to 100 wait, and after each one if more wait: then they alternate. The counter holds how
 * many in-transit messages have left since the last own one.
 *
 * This follows the text of the thesis. Its figure 43 falls through to the second and third rule if
 * the first does not apply, so own messages would always alternate with the others.
 *
 * The unit is the caller's: whole messages in wormhole mode, frames in packet mode. If the chosen
 * kind cannot leave now (no credits), the other may, and the caller reports which one was sent; so
 * no share is lost, and the link does not idle. */

struct itb_share {
	uint32_t in_transit; /* sent since the last own one; zero at first */
};

/* Frames in transit per own frame while 'own_waiting' own ones wait. 1 to 4. */
static inline unsigned itb_share_period(uint32_t own_waiting)
{
	if (own_waiting <= 50)
		return 4;
	return own_waiting <= 100 ? 2 : 1;
}

/* Both kinds have something to send: returns true if an own one is next. */
static inline bool itb_share_is_own(const struct itb_share *turn, uint32_t own_waiting)
{
	return turn->in_transit >= itb_share_period(own_waiting);
}

/* One was sent, whichever was chosen. */
static inline void itb_share_sent_own(struct itb_share *turn)
{
	turn->in_transit = 0;
}

static inline void itb_share_sent_in_transit(struct itb_share *turn)
{
	if (turn->in_transit < UINT32_MAX)
		turn->in_transit++;
}
