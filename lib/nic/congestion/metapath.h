/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A metapath of distributed routing balancing: the open paths of a pair of hosts, their estimated
 * latencies, and the rules for opening and closing paths (PR-DRB paper, sections 2 and 3, equation
 * 1, figure 2 and table 2).
 *
 *     L_i   zero-load time of path i plus the waiting times of its last acknowledged packet
 *     L*    1 / (sum of 1 / L_i) over the open paths
 *     zone  L* (or n L*) relative to path 0's zero-load time: H above 'high', L below 'low',
 *           otherwise M
 *
 * The open paths are the first 'open' ones of the pair's routes: the next one is opened, the last
 * one is closed, and path 0 is always open. Times are whole ns, weights are 2^32 / L_i. Pure state
 * machine: the caller passes the time. No allocation. Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

#define METAPATH_PATHS_MAX 10
#define METAPATH_ONE       1000u /* a factor of 1.0 */

struct metapath_rules {
	uint32_t high, low;    /* thousandths of path 0's zero-load time; low <= high */
	uint64_t open_gap_ns;  /* minimum interval between openings */
	uint64_t close_gap_ns; /* minimum time from any change until a path is closed */
	uint64_t idle_ns;   /* time without acknowledgements after which a path is closed; 0: off */
	uint32_t smoothing; /* an acknowledgement has weight 1/smoothing; 1: no smoothing */
	bool mean;          /* compare n L*, the mean message latency, instead of L* */
	bool new_zero;      /* a new path starts at its zero-load time, not at the others' mean */
};

enum metapath_zone { METAPATH_LOW, METAPATH_MIDDLE, METAPATH_HIGH };

struct metapath {
	uint64_t open_from_ns;  /* earliest opening */
	uint64_t close_from_ns; /* earliest closing */
	uint64_t heard_ns;      /* time of the last acknowledgement or idle closing */
	uint32_t latency_ns[METAPATH_PATHS_MAX]; /* L_i of open paths */
	uint32_t zero_ns[METAPATH_PATHS_MAX];
	uint32_t weight[METAPATH_PATHS_MAX]; /* 2^32 / L_i of open paths */
	uint16_t measured;                   /* bit set of open paths with an acknowledgement */
	uint8_t count, open;                 /* numbers of existing and of open paths, 1 or more */
};

/* Sets thresholds of 3 and 1.5, gaps of 0 and 200 us, no idle closing, no smoothing. */
void metapath_rules_default(struct metapath_rules *rules);

/* Opens path 0 only. 'zero_ns': zero-load times of 'count' paths, at most METAPATH_PATHS_MAX. */
void metapath_init(struct metapath *path, unsigned count, const uint32_t *zero_ns);

/* Returns the latency to compare with the thresholds: L*, or n L*. */
uint64_t metapath_latency(const struct metapath *path, const struct metapath_rules *rules);
enum metapath_zone metapath_zone(const struct metapath *path, const struct metapath_rules *rules);

/* Records the time that a packet on path 'which' waited in switches. Latencies are unchanged if
 * this path is not open, because the packet contains no information about the open ones. */
void metapath_measure(struct metapath *path, const struct metapath_rules *rules, unsigned which,
	uint32_t waiting_ns, uint64_t now_ns);

/* Open the next path, or close the last one, if there is one and the gap has passed. Return true if
 * they did. */
bool metapath_open_next(struct metapath *path, const struct metapath_rules *rules, uint64_t now_ns);
bool metapath_close_last(
	struct metapath *path, const struct metapath_rules *rules, uint64_t now_ns);

/* Plain DRB: handles an acknowledgement for path 'which'. Zone H opens a path, zone L closes one.
 * Returns the change in the number of open paths. */
int metapath_on_notification(struct metapath *path, const struct metapath_rules *rules,
	unsigned which, uint32_t waiting_ns, uint64_t now_ns);

/* Opens exactly the first 'open' paths, with these L_i. 1 <= open <= path->count. */
void metapath_replace(struct metapath *path, const struct metapath_rules *rules, unsigned open,
	const uint32_t *latency_ns, uint64_t now_ns);

/* Closes idle paths. Returns their number. */
unsigned metapath_close_idle(
	struct metapath *path, const struct metapath_rules *rules, uint64_t now_ns);

/* Returns the path of the next message: i with probability (1/L_i) / (sum of 1/L_j). */
unsigned metapath_choose(const struct metapath *path, struct rng *rng);
