/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "flow_sizes.h"

#define STEPS 65536

static const struct flow_size_point web_search[] = {{0, 0}, {10000, 0.15}, {20000, 0.20},
	{30000, 0.30}, {50000, 0.40}, {80000, 0.53}, {200000, 0.60}, {1000000, 0.70},
	{2000000, 0.80}, {5000000, 0.90}, {10000000, 0.97}, {30000000, 1}};

static const struct flow_size_point hadoop[] = {{0, 0}, {100, 0.01}, {200, 0.02}, {300, 0.05},
	{350, 0.15}, {400, 0.20}, {500, 0.30}, {600, 0.40}, {700, 0.50}, {1000, 0.60}, {2000, 0.67},
	{7000, 0.70}, {30000, 0.72}, {50000, 0.82}, {80000, 0.87}, {120000, 0.90}, {300000, 0.95},
	{1000000, 0.975}, {2000000, 0.99}, {10000000, 1}};

#define SIZES(text, points)                                        \
	{                                                          \
		(text), (points), sizeof(points) / sizeof(*points) \
	}

static const struct flow_sizes sizes_web_search = SIZES("web-search", web_search);
static const struct flow_sizes sizes_hadoop = SIZES("hadoop", hadoop);

static const void *const known[] = {&sizes_web_search, &sizes_hadoop};
const struct name_table flow_sizes_known = WORD_LIST(known);

/* The size that a share of the flows, below 1, does not exceed. */
static uint64_t quantile(const struct flow_sizes *sizes, double share)
{
	const struct flow_size_point *point = sizes->at, *before;
	double bytes;

	while (point->share <= share)
		point++;
	if (point == sizes->at)
		return point->bytes > 0 ? point->bytes : 1;
	before = point - 1;
	bytes = (double)before->bytes + (double)(point->bytes - before->bytes) *
						(share - before->share) /
						(point->share - before->share);
	return bytes < 1 ? 1 : (uint64_t)(bytes + 0.5);
}

uint64_t flow_sizes_draw(const struct flow_sizes *sizes, struct rng *rng)
{
	return quantile(sizes, (double)(rng_next(rng) >> 11) * 0x1p-53);
}

double flow_sizes_wire_bytes(
	const struct flow_sizes *sizes, uint32_t mtu_bytes, uint32_t overhead_bytes)
{
	double sum = 0;

	for (unsigned i = 0; i < STEPS; i++) {
		uint64_t bytes = quantile(sizes, (i + 0.5) / STEPS);
		uint64_t frames = (bytes + mtu_bytes - 1) / mtu_bytes;

		sum += (double)(bytes + frames * overhead_bytes);
	}
	return sum / STEPS;
}
