/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Distributions of the sizes of flows: points of the cumulative distribution, with straight lines
 * between them. Weft has two published ones:
 *
 *     web-search  Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, figure 4
 *     hadoop      Roy et al., Inside the Social Network's (Datacenter) Network, SIGCOMM 2015,
 *                 figure 6
 *
 * Both with the points that Li et al., HPCC, SIGCOMM 2019, read from the figures. Constant; any
 * thread may read them. */

#include <stdint.h>

#include "base/name_table.h"
#include "base/rng.h"

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

/* Mean length on the wire, in bytes, of a flow that is cut into frames of 'mtu_bytes' with
 * 'overhead_bytes' each: from 65,536 equally likely sizes. */
double flow_sizes_wire_bytes(
	const struct flow_sizes *sizes, uint32_t mtu_bytes, uint32_t overhead_bytes);
