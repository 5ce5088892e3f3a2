/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A metapath of distributed routing balancing: the open paths of one pair of hosts, what is known
 * of their latency, and when one is opened or closed (PR-DRB paper, sections 2 and 3, equation 1,
 * figure 2 and table 2).
 *
 *     L_i   zero-load time of path i plus the waiting times of its last acknowledged packet
 *     L*    1 / (sum of 1 / L_i) over the open paths
 *     zone  L* (or n L*) against multiples of path 0's zero-load time: above 'high' H, below 'low'
 *           L, else M
 *
 * The open paths are the first 'open' ones of the pair's routes: the next is opened, the last is
 * closed, path 0 stays. Times are whole ns, weights 2^32 / L_i. A plain state machine without a
 * clock; no allocation. One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

#define METAPATH_PATHS_MAX 10
#define METAPATH_ONE       1000u /* a threshold of 1.0 */

struct metapath_rules {
	uint32_t high, low;    /* thousandths of path 0's zero-load time; low <= high */
	uint64_t open_gap_ns;  /* minimum time between two openings */
	uint64_t close_gap_ns; /* minimum time between any change and the closing of a path */
	uint64_t idle_ns; /* a pair closes a path after this time without an acknowledgement; 0: off
			   */
	uint32_t smoothing; /* 1 / weight of an acknowledgement; 1: it replaces the old value */
	bool mean;          /* compare n L*, the mean latency of a message, instead of L* */
	bool new_zero;      /* a new path starts with its zero-load time, not the others' mean */
};

enum metapath_zone { METAPATH_LOW, METAPATH_MIDDLE, METAPATH_HIGH };

struct metapath {
	uint64_t open_from_ns;  /* no opening before */
	uint64_t close_from_ns; /* no closing before */
	uint64_t heard_ns;      /* last acknowledgement, or closing of an idle path */
	uint32_t latency_ns[METAPATH_PATHS_MAX]; /* L_i of open paths */
	uint32_t zero_ns[METAPATH_PATHS_MAX];
	uint32_t weight[METAPATH_PATHS_MAX]; /* 2^32 / L_i of open paths */
	uint16_t measured;                   /* set of open paths with an acknowledgement */
	uint8_t count, open;                 /* paths that exist, 1 or more, and open ones */
};

/* Thresholds 3 and 1.5, gaps 0 and 200 us, no idle closing, no smoothing. */
void metapath_rules_default(struct metapath_rules *rules);

/* Only path 0 is open. 'zero_ns': zero-load times of 'count' paths, at most METAPATH_PATHS_MAX. */
void metapath_init(struct metapath *path, unsigned count, const uint32_t *zero_ns);

/* The latency that thresholds are compared with: L*, or n L*. */
uint64_t metapath_latency(const struct metapath *path, const struct metapath_rules *rules);
enum metapath_zone metapath_zone(const struct metapath *path, const struct metapath_rules *rules);

/* A packet on path 'which' waited this long in switches. If the path is not open, no latency
 * changes: the packet reveals nothing about the open ones. */
void metapath_measure(struct metapath *path, const struct metapath_rules *rules, unsigned which,
	uint32_t waiting_ns, uint64_t now_ns);

/* Opens the next path, or closes the last, if there is one and the gap has passed. Returns true if
 * done. */
bool metapath_open_next(struct metapath *path, const struct metapath_rules *rules, uint64_t now_ns);
bool metapath_close_last(
	struct metapath *path, const struct metapath_rules *rules, uint64_t now_ns);

/* Plain DRB: a packet of path 'which' was acknowledged. Zone H opens a path, zone L closes one.
 * Returns the change in the number of open paths. */
int metapath_on_notification(struct metapath *path, const struct metapath_rules *rules,
	unsigned which, uint32_t waiting_ns, uint64_t now_ns);

/* The first 'open' paths are open from now on, with these L_i. 1 <= open <= path->count. */
void metapath_replace(struct metapath *path, const struct metapath_rules *rules, unsigned open,
	const uint32_t *latency_ns, uint64_t now_ns);

/* Closes idle paths; returns how many. */
unsigned metapath_close_idle(
	struct metapath *path, const struct metapath_rules *rules, uint64_t now_ns);

/* The path of the next message: i with probability (1/L_i) / (sum of 1/L_j). */
unsigned metapath_choose(const struct metapath *path, struct rng *rng);
