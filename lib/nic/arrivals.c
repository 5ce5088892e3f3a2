/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arrivals.h"

#include <math.h>

/* The mean that straight lines between the points give: one half-life is passed in the mean before
 * the last one. */
static double mean_of_lines(const double *exact)
{
	double sum = 0;

	for (unsigned i = 0; i < ARRIVALS_STEPS; i++)
		sum += (exact[i] + exact[i + 1]) / 2;
	return exact[ARRIVALS_STEPS] + sum / ARRIVALS_STEPS;
}

void arrivals_init(
	struct arrivals *arrivals, enum arrivals_kind kind, weft_time on_ps, weft_time off_ps)
{
	double exact[ARRIVALS_STEPS + 1], mean;

	arrivals->kind = kind;
	arrivals->on_ps = on_ps;
	arrivals->off_ps = off_ps;
	for (unsigned i = 0; i <= ARRIVALS_STEPS; i++)
		exact[i] = -log1p(-(double)i / (2 * ARRIVALS_STEPS));
	mean = mean_of_lines(exact);
	for (unsigned i = 0; i <= ARRIVALS_STEPS; i++)
		arrivals->quantile[i] = (uint32_t)lround(exact[i] / mean * (1u << ARRIVALS_SHIFT));
}

/* Exponential of mean 1, fixed point. Of 64 random bits the zeros at the head of the first 24 are
 * half-lives, 8 choose a line and 32 the place on it. */
static uint64_t exponential(const struct arrivals *arrivals, struct rng *rng)
{
	const uint32_t *quantile = arrivals->quantile;
	uint64_t bits = rng_next(rng);
	unsigned half_lives = 0, i;

	while (bits >> 40 == 0) {
		half_lives += 24;
		bits = rng_next(rng);
	}
	half_lives += (unsigned)__builtin_clzll(bits);
	i = (unsigned)(bits >> 32) % ARRIVALS_STEPS;
	return (uint64_t)half_lives * quantile[ARRIVALS_STEPS] + quantile[i] +
	       ((quantile[i + 1] - quantile[i]) * (bits & UINT32_MAX) >> 32);
}

static weft_time draw_exponential(
	const struct arrivals *arrivals, struct rng *rng, weft_time mean_ps)
{
	return (weft_time)(((unsigned __int128)mean_ps * exponential(arrivals, rng)) >>
			   ARRIVALS_SHIFT);
}

/* A time in the mean as time within bursts. */
static weft_time within_bursts(const struct arrivals *arrivals, weft_time mean_ps)
{
	return (weft_time)((unsigned __int128)mean_ps * arrivals->on_ps /
			   (arrivals->on_ps + arrivals->off_ps));
}

/* How long it takes to spend 'on_ps' within bursts. The distance of messages goes on where the last
 * burst broke it off, so that bursts shorter than it neither gain nor lose any. */
static weft_time pass_bursts(
	const struct arrivals *arrivals, struct arrivals_stream *stream, weft_time on_ps)
{
	weft_time passed = on_ps;

	while (on_ps > stream->burst_left_ps) {
		on_ps -= stream->burst_left_ps;
		passed += draw_exponential(arrivals, &stream->rng, arrivals->off_ps);
		stream->burst_left_ps = draw_exponential(arrivals, &stream->rng, arrivals->on_ps);
	}
	stream->burst_left_ps -= on_ps;
	return passed;
}

weft_time arrivals_first(
	const struct arrivals *arrivals, struct arrivals_stream *stream, weft_time phase_ps)
{
	weft_time off = 0;

	stream->burst_left_ps = 0;
	if (arrivals->kind != ARRIVALS_BURSTY)
		return phase_ps;
	/* Exponential times have no memory: what is left of one is like a whole one. */
	if (rng_below(&stream->rng, arrivals->on_ps + arrivals->off_ps) >= arrivals->on_ps)
		off = draw_exponential(arrivals, &stream->rng, arrivals->off_ps);
	stream->burst_left_ps = draw_exponential(arrivals, &stream->rng, arrivals->on_ps);
	return off + pass_bursts(arrivals, stream, within_bursts(arrivals, phase_ps));
}

weft_time arrivals_next(
	const struct arrivals *arrivals, struct arrivals_stream *stream, weft_time mean_ps)
{
	switch (arrivals->kind) {
	case ARRIVALS_POISSON:
		return draw_exponential(arrivals, &stream->rng, mean_ps);
	case ARRIVALS_UNIFORM:
		return rng_below(&stream->rng, 2 * mean_ps + 1);
	case ARRIVALS_BURSTY:
		return pass_bursts(arrivals, stream, within_bursts(arrivals, mean_ps));
	case ARRIVALS_CONSTANT:
		break;
	}
	return mean_ps;
}
