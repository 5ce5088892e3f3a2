/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * When messages are generated: at constant distance, or as a Poisson process, whose distances are
 * exponential. No floating point after arrivals_init(): the inverse of the exponential distribution
 * is a table of 257 points, straight lines between them, scaled so that the mean is exact; beyond
 * the last point but one the distribution begins anew (it has no memory), so the tail is not cut.
 */

#include <stdint.h>

#include "rng.h"
#include "weft_time.h"

#define ARRIVALS_STEPS 256
#define ARRIVALS_SHIFT 24 /* fixed point of the table */

enum arrivals_kind { ARRIVALS_CONSTANT, ARRIVALS_POISSON };

struct arrivals {
	enum arrivals_kind kind;
	uint32_t quantile[ARRIVALS_STEPS]; /* -ln(1 - i / STEPS), fixed point */
};

void arrivals_init(struct arrivals *arrivals, enum arrivals_kind kind);

/* The next distance, of mean 'mean_ps', drawn from 'rng'. */
weft_time arrivals_next(const struct arrivals *arrivals, struct rng *rng, weft_time mean_ps);
