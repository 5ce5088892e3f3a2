/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arrivals.h"

#include <math.h>

/* The mean that straight lines between the exact points up to the last give, the rest beginning
 * anew: m = sum of the lines' middles / STEPS + 1 / STEPS * (last + m). */
static double mean_of_lines(const double *exact)
{
	double sum = exact[ARRIVALS_STEPS - 1];

	for (unsigned i = 0; i + 1 < ARRIVALS_STEPS; i++)
		sum += (exact[i] + exact[i + 1]) / 2;
	return sum / (ARRIVALS_STEPS - 1);
}

void arrivals_init(struct arrivals *arrivals, enum arrivals_kind kind)
{
	double exact[ARRIVALS_STEPS], mean;

	arrivals->kind = kind;
	for (unsigned i = 0; i < ARRIVALS_STEPS; i++)
		exact[i] = -log1p(-(double)i / ARRIVALS_STEPS);
	mean = mean_of_lines(exact);
	for (unsigned i = 0; i < ARRIVALS_STEPS; i++)
		arrivals->quantile[i] = (uint32_t)lround(exact[i] / mean * (1u << ARRIVALS_SHIFT));
}

/* Exponential of mean 1, fixed point. */
static uint64_t exponential(const struct arrivals *arrivals, struct rng *rng)
{
	const uint32_t *quantile = arrivals->quantile;
	uint64_t passed = 0, bits = rng_next(rng);
	unsigned i;

	while ((i = (unsigned)(bits >> 56)) == ARRIVALS_STEPS - 1) {
		passed += quantile[i];
		bits = rng_next(rng);
	}
	return passed + quantile[i] +
	       ((quantile[i + 1] - quantile[i]) * ((bits >> 24) & UINT32_MAX) >> 32);
}

weft_time arrivals_next(const struct arrivals *arrivals, struct rng *rng, weft_time mean_ps)
{
	if (arrivals->kind == ARRIVALS_CONSTANT)
		return mean_ps;
	return (weft_time)(((unsigned __int128)mean_ps * exponential(arrivals, rng)) >>
			   ARRIVALS_SHIFT);
}
