/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Generation times of messages. The processes are:
 *
 *     constant  constant intervals
 *     poisson   exponentially distributed intervals
 *     uniform   intervals uniformly distributed from 0 to twice the mean ("uniform generation
 *               intervals" of the thesis, 4.1.1 and 4.5)
 *     bursty    on and off periods of exponentially distributed length (two-state source); constant
 *               intervals while on, shortened so that the overall mean is as configured
 *
 * No floating point after arrivals_init(). An exponential time is a number of half-lives, each with
 * probability 1/2, plus a fraction of another. This fraction is drawn from a piecewise linear
 * table of the inverse distribution with 257 points, scaled so that the mean is exact. The squared
 * coefficient of variation is 1 to within 10^-5, and the tail is not truncated. */

#include <stdint.h>

#include "base/name_table.h"
#include "base/rng.h"
#include "base/weft_time.h"

#define ARRIVALS_STEPS 256
#define ARRIVALS_SHIFT 24 /* fixed-point shift of the table */

/* Identifier, and word in run files. */
#define ARRIVALS_KINDS(X)       \
	X(CONSTANT, "constant") \
	X(POISSON, "poisson")   \
	X(UNIFORM, "uniform")   \
	X(BURSTY, "bursty")

#define X(id, text) ARRIVALS_##id,
enum arrivals_kind { ARRIVALS_KINDS(X) ARRIVALS_UNSET /* not set yet */ };
#undef X

/* Constant after arrivals_init(). */
struct arrivals {
	enum arrivals_kind kind;
	weft_time on_ps, off_ps; /* bursty: mean durations */
	/* [STEPS + 1]: -ln(1 - i / (2 STEPS)), fixed point; the last entry is the half-life. Shared
	 * by all. */
	const uint32_t *quantile;
};

/* A sequence of intervals. */
struct arrivals_stream {
	struct rng rng;
	weft_time burst_left_ps; /* bursty: remaining time of the current burst */
};

/* 'on_ps' and 'off_ps' are used for bursty only; on_ps must be above 0. */
void arrivals_init(
	struct arrivals *arrivals, enum arrivals_kind kind, weft_time on_ps, weft_time off_ps);

/* Starts a sequence and returns its first arrival; stream->rng must be initialised. The caller
 * draws 'phase_ps' below the mean interval. The first arrival is 'phase_ps' after the start; a
 * bursty source starts as if it had always been running. */
weft_time arrivals_first(
	const struct arrivals *arrivals, struct arrivals_stream *stream, weft_time phase_ps);

/* Returns the next interval, with mean 'mean_ps'. */
weft_time arrivals_next(
	const struct arrivals *arrivals, struct arrivals_stream *stream, weft_time mean_ps);

/* Flow-size distributions: points of the cumulative distribution, interpolated linearly. Two
 * published ones are included:
 *
 *     web-search  Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, figure 4
 *     hadoop      Roy et al., Inside the Social Network's (Datacenter) Network, SIGCOMM 2015,
 *                 figure 6
 *
 * Both use the points that Li et al., HPCC, SIGCOMM 2019, read from the figures. Constant; any
 * thread may read them. */

#define FLOW_SIZE_MAX        ((uint64_t)1 << 40) /* bytes */
#define FLOW_SIZE_POINTS_MAX 65536

/* Share, 0 to 1, of flows of at most 'bytes'. */
struct flow_size_point {
	uint64_t bytes;
	double share;
};

struct flow_sizes {
	const char *name;
	const struct flow_size_point *at; /* bytes and shares never decrease; last share 1 */
	uint32_t count;                   /* 1 or more */
};

/* The published distributions. */
extern const struct name_table flow_sizes_known;

/* Draws a size in bytes, 1 or more. */
uint64_t flow_sizes_draw(const struct flow_sizes *sizes, struct rng *rng);

/* Returns the mean size on the wire, in bytes, of a flow split into frames of 'mtu_bytes' with
 * 'overhead_bytes' each. Computed from 65,536 equally likely sizes. */
double flow_sizes_wire_bytes(
	const struct flow_sizes *sizes, uint32_t mtu_bytes, uint32_t overhead_bytes);
