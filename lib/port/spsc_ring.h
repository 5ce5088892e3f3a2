/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* DPDK's ring in plain memory: one producer, one consumer, holds exactly 'slots' pointers. It needs
 * neither EAL nor a memzone (EAL has 2,560, a fabric needs more). Free with free(). */

#include <stdlib.h>

#include <rte_ring.h>

/* NULL if there is no memory or 'slots' is 0 or above 2^30. */
static inline struct rte_ring *spsc_ring_create(unsigned slots)
{
	/* DPDK's rings keep one slot empty, and have a power of two of them. */
	ssize_t bytes = rte_ring_get_memsize(rte_align32pow2(slots + 1));
	struct rte_ring *ring =
		bytes < 0 ? NULL : aligned_alloc(RTE_CACHE_LINE_SIZE, (size_t)bytes);

	if (ring != NULL && rte_ring_init(ring, "spsc", slots,
				    RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ) != 0) {
		free(ring);
		return NULL;
	}
	return ring;
}
