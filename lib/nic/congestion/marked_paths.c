/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "marked_paths.h"

#include <stdlib.h>

#define WEIGHT_ONE (UINT64_C(1) << 32)

/* After this many expiries, all 16-bit counts are zero and all paths but one are closed. */
#define EXPIRIES_MAX 32

void marked_paths_init(struct marked_paths *paths, unsigned count)
{
	*paths = (struct marked_paths){.count = (uint8_t)count, .open = 1};
}

bool marked_paths_mark(struct marked_paths *paths, unsigned which)
{
	paths->heard = true;
	if (which < paths->count && paths->marks[which] < UINT16_MAX)
		paths->marks[which]++;
	if (paths->open >= paths->count || paths->open >= MARKED_PATHS_OPEN_MAX)
		return false;
	paths->open++;
	return true;
}

void marked_paths_start(struct marked_paths *paths, uint64_t timer_ns, uint64_t now_ns)
{
	if (paths->expires_ns == 0)
		paths->expires_ns = now_ns + timer_ns;
}

/* Returns true if a path was closed. */
static bool expire_once(struct marked_paths *paths)
{
	bool closes = !paths->heard && paths->open > 1;

	for (unsigned i = 0; i < paths->count; i++)
		paths->marks[i] /= 2;
	paths->open = (uint8_t)(paths->open - closes);
	paths->heard = false;
	return closes;
}

static bool has_expired(const struct marked_paths *paths)
{
	uint16_t marks = 0;

	for (unsigned i = 0; i < paths->count; i++)
		marks |= paths->marks[i];
	return marks == 0 && paths->open == 1;
}

unsigned marked_paths_expire(struct marked_paths *paths, uint64_t timer_ns, uint64_t now_ns)
{
	uint64_t expiries;
	unsigned closed = 0;

	if (paths->expires_ns == 0 || now_ns < paths->expires_ns)
		return 0;
	expiries = (now_ns - paths->expires_ns) / timer_ns + 1;
	paths->expires_ns += expiries * timer_ns;
	for (uint64_t i = 0; i < expiries && i < EXPIRIES_MAX; i++)
		closed += expire_once(paths);
	if (has_expired(paths))
		paths->expires_ns = 0;
	return closed;
}

unsigned marked_paths_choose(const struct marked_paths *paths, struct rng *rng)
{
	uint64_t weight[METAPATH_PATHS_MAX], total = 0, drawn;
	unsigned which = 0;

	if (paths->open == 1)
		return 0;
	for (unsigned i = 0; i < paths->open; i++) {
		weight[i] = WEIGHT_ONE / (1u + paths->marks[i]);
		total += weight[i];
	}
	drawn = rng_below(rng, total);
	while (which + 1u < paths->open && drawn >= weight[which])
		drawn -= weight[which++];
	return which;
}

#define STREAM_REPS 0x6e03 /* stream of a host's random numbers */

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
