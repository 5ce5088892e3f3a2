/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A log-linear histogram of unsigned 64-bit values, as in HdrHistogram (Tene): 64 linear buckets
 * per power of two, so percentiles are known to within 1.6 %, and recording takes a few
 * instructions on a fixed array. Count, maximum and mean are exact. (Debian 12 packages neither
 * HdrHistogram_c nor a similar C library.) The caller chooses the unit. One writer; readers may see
 * a sample late. */

#include <stdint.h>

#define HISTOGRAM_STEPS_LOG2 6
#define HISTOGRAM_BUCKETS    ((64 - HISTOGRAM_STEPS_LOG2 + 1) << HISTOGRAM_STEPS_LOG2)

struct histogram {
	uint64_t count;
	uint64_t max;
	uint64_t sum; /* sum of all values, modulo 2^64 */
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

static inline unsigned histogram_index(uint64_t value)
{
	unsigned shift;

	if (value < (2u << HISTOGRAM_STEPS_LOG2))
		return (unsigned)value;
	shift = 63 - HISTOGRAM_STEPS_LOG2 - (unsigned)__builtin_clzll(value);
	return (shift << HISTOGRAM_STEPS_LOG2) + (unsigned)(value >> shift);
}

/* Records the value 'times' times. */
static inline void histogram_record_times(
	struct histogram *histogram, uint64_t value, uint64_t times)
{
	histogram->bucket[histogram_index(value)] += times;
	histogram->count += times;
	histogram->sum += value * times;
	if (value > histogram->max)
		histogram->max = value;
}

static inline void histogram_record(struct histogram *histogram, uint64_t value)
{
	histogram_record_times(histogram, value, 1);
}

void histogram_reset(struct histogram *histogram);
/* Adds 'from' to 'into'. */
void histogram_merge(struct histogram *into, const struct histogram *from);
/* Returns the value at or below which 'fraction' (0..1) of the samples lie; 0 if empty. Never too
 * low: the upper bound of the value's bucket, or the exact maximum if that is lower. */
uint64_t histogram_quantile(const struct histogram *histogram, double fraction);
/* Returns the largest value that is counted in bucket[index]. */
uint64_t histogram_upper(unsigned index);
/* Returns 0 if empty. */
double histogram_mean(const struct histogram *histogram);
/* Calculated from the midpoints of the steps. Returns 0 if empty. */
double histogram_stddev(const struct histogram *histogram);
