/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * DPDK's ring in plain memory: one producer, one consumer, holds exactly 'slots' pointers. Without
 * a memzone (EAL has 2,560, a fabric needs more) and without EAL. Free with free().
 */

#include <rte_ring.h>

/* NULL if there is no memory or 'slots' is 0 or above 2^30. */
struct rte_ring *spsc_ring_create(unsigned slots);
