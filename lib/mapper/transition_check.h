/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Checks whether a fabric may change from one generation of routes to the next without a pause
 * (docs/explanation/the-mapper.md). During the change, packets of all generations are in flight
 * and, with tables, each switch may use the old or the new one. This cannot deadlock if the channel
 * dependency graph of the whole mixture is acyclic. The mixture consists of the cables and routes
 * of all generations and, for each destination, every path that leaves each switch through a port
 * of any generation's table. */

#include <stdbool.h>

#include "base/weft_error.h"
#include "route/route_set.h"
#include "route/route_table.h"
#include "topo/topology.h"

#define LIVE_GENERATIONS_MAX 4

/* Routes that may be in use. Devices have the same numbers in all generations; later generations
 * may have more devices. 'set' or 'table' may be NULL. */
struct live_generation {
	const struct topology *topology;
	const struct route_set *set;
	const struct route_table *table;
};

/* Returns 0 with the result in '*live', or -ENOMEM. If '*live' is false, 'reason' (may be NULL) is
 * set: a cycle, a port whose cable now leads elsewhere, or different VC rules. */
int transition_check(const struct live_generation *generations, unsigned count, bool *live,
	struct error *reason);
