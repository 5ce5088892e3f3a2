/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "itb_routes.h"

#include "route_set.h"

/* The first places of a random permutation of 0 .. count - 1 (Fisher and Yates), storing only the
 * places that changed. */
unsigned rank_draw(struct rng *rng, uint64_t count, unsigned wanted, uint64_t *ranks)
{
	uint64_t place[ROUTE_ALTERNATIVES_MAX], moved[ROUTE_ALTERNATIVES_MAX];
	unsigned drawn = count < wanted ? (unsigned)count : wanted;

	for (unsigned i = 0; i < drawn; i++) {
		uint64_t at = i + rng_below(rng, count - i), here = i;

		ranks[i] = at;
		for (unsigned k = 0; k < i; k++) {
			if (place[k] == at)
				ranks[i] = moved[k];
			if (place[k] == i)
				here = moved[k];
		}
		place[i] = at;
		moved[i] = here;
	}
	return drawn;
}
