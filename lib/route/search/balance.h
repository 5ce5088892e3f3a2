/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Balancing (the thesis' section 3.2.3, figure 54). A map counts for every channel between switches
 * the routes over it, at first those of all candidates of all pairs. Again and again the route is
 * deleted whose deletion leaves the least standard deviation of the map, until every pair has one
 * route left; of several such routes, the first one of a
 * table in random order (balance_lane.h).
 *
 * Pairs of hosts on the same two switches have the same candidates and cannot be told apart. So a
 * candidate exists in as many copies as there are such pairs, and as many copies as pairs remain;
 * which pair gets which is drawn afterwards.
 */

#include <stdint.h>

#include "fault.h"
#include "minimal_paths.h"

struct balance {
	uint32_t *copies; /* by path: those that remained, as many for a pair as it had pairs of
			   * hosts, or one (ROUTE_PER_SWITCH_PAIR); 0 within a switch */
	uint8_t *order;   /* by path: order[first + i] is the candidate that is i-th to stay: those
			   * that remained, then the others, who lost their last copy later first */
};

/* -ENOMEM; -EINVAL for a network that is too large to count its routes. On success the caller
 * frees. */
int balance_make(const struct minimal_paths *paths, enum route_granularity granularity,
	struct balance *balance, struct fault *fault);
void balance_free(struct balance *balance);
