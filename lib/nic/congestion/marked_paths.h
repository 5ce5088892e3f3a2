/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The paths of a pair of hosts that learns from marks alone (the DRB paper on InfiniBand,
 * 'drb-cn'): each notification counts against the path of its message and opens the next path; a
 * message takes a path with a probability in proportion to 1 / (1 + its count). A timer starts with
 * the pair's first notification. Each time it expires, the counts are halved, and if no
 * notification arrived since the last expiry, the path opened last is closed (Weft's reading: the
 * paper names no rule).
 *
 * As in metapath.h, the open paths are the first of the pair's routes, and path 0 stays. A plain
 * state machine; the effect of expiries is computed when the pair is next looked at. No allocation.
 * One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "metapath.h"

#define MARKED_PATHS_OPEN_MAX 4 /* as in the paper */

struct marked_paths {
	uint64_t expires_ns;                /* the next expiry; 0: the timer does not run */
	uint16_t marks[METAPATH_PATHS_MAX]; /* by path */
	uint8_t count, open;                /* paths that exist, 1 or more, and open ones */
	bool heard;                         /* a notification since the last expiry */
};

/* Path 0 alone is open. */
void marked_paths_init(struct marked_paths *paths, unsigned count);

/* A notification for a message on path 'which'. Returns true if a path was opened. */
bool marked_paths_mark(struct marked_paths *paths, unsigned which);

/* Applies all timer expiries until now; before any other call. Returns how many paths were closed.
 * If the timer does not run, a notification at 'now' starts it: marked_paths_start(). */
unsigned marked_paths_expire(struct marked_paths *paths, uint64_t timer_ns, uint64_t now_ns);
void marked_paths_start(struct marked_paths *paths, uint64_t timer_ns, uint64_t now_ns);

/* The path of the next message. */
unsigned marked_paths_choose(const struct marked_paths *paths, struct rng *rng);

/* The sender of REPS (Bonato, Abdous, Abdelrahman, et al., "REPS: Recycled Entropy Packet
 * Spraying", 2025): each packet carries an entropy from which switches choose its path. An entropy
 * that came back without a mark is reused, oldest first; if there is none, one is drawn. Freezing
 * after losses is left out. No allocation after reps_create(). One thread. */

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
