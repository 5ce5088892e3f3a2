/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Balancing (the thesis' section 3.2.3, figure 54). A map counts the routes over every channel
 * between switches, at first those of all candidates of all pairs. Each step deletes the route
 * whose deletion leaves the smallest standard deviation of the map, until every pair has one route
 * left; of several such routes, the first one of a table in random order (balance_lane.h).
 *
 * Pairs of hosts on the same two switches have the same candidates and are indistinguishable. So a
 * candidate has as many copies as there are such pairs, and as many copies as pairs remain; their
 * assignment to pairs is drawn afterwards.
 */

#include <stdint.h>

#include "fault.h"
#include "minimal_paths.h"

struct balance {
	uint32_t *copies; /* by path: remaining copies; for a pair of switches as many as it has
			     pairs of hosts, or one (ROUTE_PER_SWITCH_PAIR); 0 within a switch */
	uint8_t *order;   /* by path: order[first + i] is the i-th candidate in order of preference:
			     remaining ones, then the others, the last deleted first */
	struct arrays arrays;
};

/* -ENOMEM; -EINVAL for a network too large to count its routes. On success the caller frees. */
int balance_make(const struct minimal_paths *paths, enum route_granularity granularity,
	struct balance *balance, struct fault *fault);
void balance_free(struct balance *balance);
