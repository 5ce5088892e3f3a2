/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Breaking the cycles of smart-routing: which turns to forbid so that those in use close none.
 */

#include "smart_paths.h"
#include "turns.h"

/* One round, for a balance over shortest paths. Takes the turns in use by what it would cost to
 * forbid them, the dearest first; those that close a cycle with dearer ones or kept ones stand in
 * the way. Forbids the cheapest of these, at most 'most' (more than 0) of them; '*forbidden' says
 * how many. Is there none, then the turns in use close no cycle, and forbids and allows all others
 * so that the allowed ones together close none and no other one could be added. -ENOMEM. */
int smart_cycles_break(struct turns *turns, const struct smart_paths *paths, const double *flow,
	uint32_t most, uint32_t *forbidden);
