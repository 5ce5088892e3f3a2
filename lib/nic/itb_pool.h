/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The memory of a host for what is in transit (thesis, section 3.4.2), as an account:
 * bytes are taken before something is absorbed and given back when it has left. What does not fit
 * is refused and counted; the caller discards it. Takes no part in where the bytes lie.
 */

#include <stdbool.h>
#include <stdint.h>

#define ITB_POOL_BYTES_DEFAULT (512u * 1024)

struct itb_pool {
	uint64_t size, used, peak;          /* bytes */
	uint64_t overflows, overflow_bytes; /* refused: how often, and how much */
};

void itb_pool_init(struct itb_pool *pool, uint64_t bytes);

/* Whole messages are taken when their header is there: what begins to be absorbed must fit to its
 * end. False: it does not, counted. */
bool itb_pool_take(struct itb_pool *pool, uint64_t bytes);

/* Gives back what was taken, in any portions. */
void itb_pool_give(struct itb_pool *pool, uint64_t bytes);

static inline uint64_t itb_pool_free(const struct itb_pool *pool)
{
	return pool->size - pool->used;
}
