/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The paths of a pair of hosts that reacts to marks alone (the DRB paper on InfiniBand, 'drb-cn').
 * Each notification counts against the path of its message and opens the next path. A message takes
 * a path with a probability proportional to 1 / (1 + its count). A timer starts with the pair's
 * first notification. Each expiry halves the counts; if no notification has arrived since the last
 * expiry, it also closes the path opened last (Weft's interpretation: the paper specifies no rule).
 *
 * As in metapath.h, the open paths are the first ones of the pair's routes, and path 0 is always
 * open. A state machine; the effect of expiries is computed when the pair is next accessed. No
 * allocation. Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "metapath.h"

#define MARKED_PATHS_OPEN_MAX 4 /* as in the paper */

struct marked_paths {
	uint64_t expires_ns;                /* next expiry; 0: timer not running */
	uint16_t marks[METAPATH_PATHS_MAX]; /* notifications per path */
	uint8_t count, open;                /* numbers of existing and of open paths, 1 or more */
	bool heard;                         /* a notification arrived since the last expiry */
};

/* Initially, only path 0 is open. */
void marked_paths_init(struct marked_paths *paths, unsigned count);

/* Counts a notification for a message on path 'which'. Returns true if a path was opened. */
bool marked_paths_mark(struct marked_paths *paths, unsigned which);

/* Applies the timer expiries up to now; call before any other function. Returns the number of paths
 * closed. If the timer is not running, a notification starts it with marked_paths_start(). */
unsigned marked_paths_expire(struct marked_paths *paths, uint64_t timer_ns, uint64_t now_ns);
void marked_paths_start(struct marked_paths *paths, uint64_t timer_ns, uint64_t now_ns);

/* Returns the path of the next message. */
unsigned marked_paths_choose(const struct marked_paths *paths, struct rng *rng);

/* The sender of REPS (Bonato, Abdous, Abdelrahman, et al., "REPS: Recycled Entropy Packet
 * Spraying", 2025): each packet carries an entropy from which switches choose its path. Entropies
 * returned without a mark are reused, oldest first; if there are none, a random one is drawn.
 * Freezing after losses is left out. No allocation after reps_create(). Single-threaded. */

#define REPS_CACHED 8u /* cached entropies per destination, as in the paper; a power of two */

struct reps_pair {
	uint8_t entropy[REPS_CACHED];
	uint8_t first, count;
};

struct reps {
	struct rng rng;
	uint64_t recycled, drawn; /* number of entropies */
	struct reps_pair pair[];  /* [hosts] */
};

/* Returns NULL if out of memory. Release with free(). */
struct reps *reps_create(uint64_t seed, uint16_t host, uint32_t hosts);

/* Returns the entropy of the next packet. */
uint8_t reps_take(struct reps *reps, uint16_t destination);

/* Handles the return of an entropy. 'marked': its packet was marked on its path. */
void reps_returned(struct reps *reps, uint16_t destination, uint8_t entropy, bool marked);
