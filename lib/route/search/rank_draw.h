/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Draws different routes of a pair without listing all: routes are identified by ranks 0 .. count -
 * 1 (legal_search.h), and all sets of ranks are equally likely.
 */

#include <stdint.h>

#include "rng.h"

/* Draws 'wanted' <= ROUTE_ALTERNATIVES_MAX different ranks, or all 'count' if there are fewer;
 * returns the number. More ranks from the same generator begin with the same ones. */
unsigned rank_draw(struct rng *rng, uint64_t count, unsigned wanted, uint64_t *ranks);
