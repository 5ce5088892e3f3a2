/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "itb_pool.h"

void itb_pool_init(struct itb_pool *pool, uint64_t bytes)
{
	*pool = (struct itb_pool){.size = bytes};
}

bool itb_pool_take(struct itb_pool *pool, uint64_t bytes)
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

void itb_pool_give(struct itb_pool *pool, uint64_t bytes)
{
	pool->used -= bytes;
}
