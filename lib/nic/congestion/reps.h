/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The sender of REPS (Bonato, Abdous, Abdelrahman, et al., "REPS: Recycled Entropy Packet
 * Spraying", 2025): each packet carries an entropy from which switches choose its path. An entropy
 * that came back without a mark is reused, oldest first; if there is none, one is drawn. Freezing
 * after losses is left out. No allocation after reps_create(). One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

#define REPS_CACHED 8u /* entropies of a destination, as in the paper; a power of two */

struct reps_pair {
	uint8_t entropy[REPS_CACHED];
	uint8_t first, count;
};

struct reps {
	struct rng rng;
	uint64_t recycled, drawn; /* entropies */
	struct reps_pair pair[];  /* [hosts] */
};

/* Returns NULL if out of memory. The caller frees it. */
struct reps *reps_create(uint64_t seed, uint16_t host, uint32_t hosts);

/* The entropy of the next packet. */
uint8_t reps_take(struct reps *reps, uint16_t destination);

/* A packet with this entropy has arrived; 'marked' if it was marked on the way. */
void reps_returned(struct reps *reps, uint16_t destination, uint8_t entropy, bool marked);
