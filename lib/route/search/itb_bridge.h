/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Copies of routes with different in-transit buffers: other hosts absorb, and routes that replace
 * others get more ITBs where necessary. Each ITB of a copy is at the host of its switch that
 * absorbs for the fewest routes so far, in the order of the pairs. (The algorithms draw hosts at
 * random.)
 *
 * A bridge lets new routes be used while packets with former ones are in flight. The former
 * routes' dependencies are accepted first. Then, route by route, each new dependency that would
 * close a cycle with accepted ones is replaced by an ITB (cycle_break.h). The union is
 * deadlock-free. So is the union of the bridge and the new routes, whose dependencies include those
 * in the bridge. */

#include <stdint.h>

#include "base/weft_error.h"
#include "route/route_set.h"
#include "topo/topology.h"

/* If 'former' is NULL, only places the ITBs that 'next' has. Returns 0 with '*made', and in
 * '*added' the number of routes that got ITBs; -EBUSY with error set: a switch without hosts would
 * have to absorb, a route would be too long, or routes have VC classes or parts; -ENOMEM. */
int itb_bridge_make(const struct topology *topology, const struct route_set *former,
	const struct route_set *next, struct route_set **made, uint64_t *added,
	struct error *error);
