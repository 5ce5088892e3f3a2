/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Different routes of a pair drawn without listing all: routes are known by ranks 0 .. count - 1
 * (legal_search.h), and each set of ranks is as likely as any other.
 */

#include <stdint.h>

#include "rng.h"

/* Draws 'wanted' <= ROUTE_ALTERNATIVES_MAX different ranks, or all 'count' if there are fewer;
 * returns how many. Who wants more of the same generator gets the same ones first. */
unsigned rank_draw(struct rng *rng, uint64_t count, unsigned wanted, uint64_t *ranks);
