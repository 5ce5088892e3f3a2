/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * 64-bit sets of ports and VCs, and round-robin over them in O(1). A set is a uint64_t; member i
 * is bit i.
 */

#include <stdint.h>

#include "rng.h"

#define BIT64(i) ((uint64_t)1 << (i))

/* The first member at or after 'from' (0..63), wrapping round. 'set' is not empty. */
static inline unsigned bits_round_robin(uint64_t set, unsigned from)
{
	uint64_t after = set & (UINT64_MAX << from);

	return (unsigned)__builtin_ctzll(after != 0 ? after : set);
}

/* Any member, all equally likely. 'set' is not empty; of one member none is drawn. */
static inline unsigned bits_draw(uint64_t set, struct rng *rng)
{
	unsigned count = (unsigned)__builtin_popcountll(set);
	uint64_t skip = count > 1 ? rng_below(rng, count) : 0;

	while (skip-- > 0)
		set &= set - 1;
	return (unsigned)__builtin_ctzll(set);
}
