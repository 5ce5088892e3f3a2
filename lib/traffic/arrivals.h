/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* When messages are generated. The processes:
 *
 *   constant  at constant distances poisson exponential distances
 *   uniform   distances equally likely from 0 to twice the mean ("uniform generation intervals" of
 *             the thesis, 4.1.1 and 4.5)
 * bursty    on and off alternately, both times exponential (a source with two states); while it is
 *             on, at constant distance, so much shorter that the mean over all is as asked for
 *
 * No floating point after arrivals_init(). An exponential time is a number of half-lives, each with
 * probability 1/2, plus a part of the last one: for this part the inverse distribution is a table
 * of 257 points with straight lines between them, scaled so that the mean is exact. The square of
 * the coefficient of variation is 1 within 10^-5, and the tail is not cut. */

#include <stdint.h>

#include "base/name_table.h"
#include "base/rng.h"
#include "base/weft_time.h"

#define ARRIVALS_STEPS 256
#define ARRIVALS_SHIFT 24 /* fixed point of the table */

/* Identifier, and the word of run files. */
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
	weft_time on_ps, off_ps; /* bursty: mean times */
	/* [STEPS + 1]: -ln(1 - i / (2 STEPS)), fixed point; the last one is the half-life. The same
	 * for all. */
	const uint32_t *quantile;
};

/* One sequence of distances. */
struct arrivals_stream {
	struct rng rng;
	weft_time burst_left_ps; /* bursty: until this burst ends */
};

/* 'on_ps' and 'off_ps' for bursty only, on_ps above 0. */
void arrivals_init(
	struct arrivals *arrivals, enum arrivals_kind kind, weft_time on_ps, weft_time off_ps);

/* Starts a sequence; stream->rng is set. The first arrival is 'phase_ps' after the start; the
 * caller has drawn this time below the mean distance. Bursty sources start as if they had always
 * run. */
weft_time arrivals_first(
	const struct arrivals *arrivals, struct arrivals_stream *stream, weft_time phase_ps);

/* The next distance, with mean 'mean_ps'. */
weft_time arrivals_next(
	const struct arrivals *arrivals, struct arrivals_stream *stream, weft_time mean_ps);

/* Distributions of the sizes of flows: points of the cumulative distribution, with straight lines
 * between them. Weft has two published ones:
 *
 *     web-search  Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, figure 4
 *     hadoop      Roy et al., Inside the Social Network's (Datacenter) Network, SIGCOMM 2015,
 *                 figure 6
 *
 * Both use the points that Li et al., HPCC, SIGCOMM 2019, read from the figures. Constant; any
 * thread may read them. */

#define FLOW_SIZE_MAX        ((uint64_t)1 << 40) /* bytes */
#define FLOW_SIZE_POINTS_MAX 65536

/* Flows of at most 'bytes' have this share, 0 to 1, of all flows. */
struct flow_size_point {
	uint64_t bytes;
	double share;
};

struct flow_sizes {
	const char *name;
	const struct flow_size_point *at; /* neither bytes nor shares fall; the last share is 1 */
	uint32_t count;                   /* 1 or more */
};

/* The published distributions. */
extern const struct name_table flow_sizes_known;

/* A size in bytes, 1 or more. */
uint64_t flow_sizes_draw(const struct flow_sizes *sizes, struct rng *rng);

/* Mean length on the wire, in bytes, of a flow that is split into frames of 'mtu_bytes' with
 * 'overhead_bytes' each, computed from 65,536 equally likely sizes. */
double flow_sizes_wire_bytes(
	const struct flow_sizes *sizes, uint32_t mtu_bytes, uint32_t overhead_bytes);
