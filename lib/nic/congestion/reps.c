/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "reps.h"

#include <stdlib.h>

#define STREAM_REPS 0x6e03 /* a host's random numbers */

struct reps *reps_create(uint64_t seed, uint16_t host, uint32_t hosts)
{
	struct reps *reps = calloc(1, sizeof(*reps) + hosts * sizeof(reps->pair[0]));

	if (reps != NULL)
		rng_init(&reps->rng, seed, host, STREAM_REPS);
	return reps;
}

uint8_t reps_take(struct reps *reps, uint16_t destination)
{
	struct reps_pair *pair = &reps->pair[destination];
	uint8_t entropy;

	if (pair->count == 0) {
		reps->drawn++;
		return (uint8_t)rng_next(&reps->rng);
	}
	entropy = pair->entropy[pair->first];
	pair->first = (pair->first + 1) & (REPS_CACHED - 1);
	pair->count--;
	reps->recycled++;
	return entropy;
}

void reps_returned(struct reps *reps, uint16_t destination, uint8_t entropy, bool marked)
{
	struct reps_pair *pair = &reps->pair[destination];

	if (marked)
		return;
	pair->entropy[(pair->first + pair->count) & (REPS_CACHED - 1)] = entropy;
	if (pair->count < REPS_CACHED)
		pair->count++;
	else
		pair->first = (pair->first + 1) & (REPS_CACHED - 1);
}
