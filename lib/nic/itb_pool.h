/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The memory of a host for packets in transit (thesis, section 3.4.2), as an account: bytes are
 * taken before absorption and returned after departure. A packet that does not fit is refused and
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
 * starts. False: it does not fit; counted. */
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
