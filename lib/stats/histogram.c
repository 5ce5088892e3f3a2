/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "histogram.h"

#include <math.h>
#include <string.h>

static uint64_t bucket_low(unsigned index)
{
	unsigned shift;

	if (index < (2u << HISTOGRAM_STEPS_LOG2))
		return index;
	shift = (index >> HISTOGRAM_STEPS_LOG2) - 1;
	return (uint64_t)(index - (shift << HISTOGRAM_STEPS_LOG2)) << shift;
}

static uint64_t bucket_width(unsigned index)
{
	return index < (2u << HISTOGRAM_STEPS_LOG2)
		       ? 1
		       : (uint64_t)1 << ((index >> HISTOGRAM_STEPS_LOG2) - 1);
}

static double bucket_middle(unsigned index)
{
	return (double)bucket_low(index) + (double)(bucket_width(index) - 1) / 2;
}

uint64_t histogram_upper(unsigned index)
{
	return bucket_low(index) + (bucket_width(index) - 1);
}

void histogram_reset(struct histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	into->count += from->count;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
}

uint64_t histogram_quantile(const struct histogram *histogram, double fraction)
{
	/* 0.007 of 20,000 is 140, though the product of the doubles is slightly larger. */
	double rank = fraction * (double)histogram->count * (1 - 1e-14);
	uint64_t wanted = (uint64_t)ceil(rank), seen = 0;

	if (fraction >= 1)
		return histogram->max;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS && wanted > 0; i++) {
		seen += histogram->bucket[i];
		if (seen >= wanted)
			return histogram_upper(i) < histogram->max ? histogram_upper(i)
								   : histogram->max;
	}
	return 0;
}

double histogram_mean(const struct histogram *histogram)
{
	return histogram->count > 0 ? (double)histogram->sum / (double)histogram->count : 0;
}

static double mean_of_middles(const struct histogram *histogram)
{
	double sum = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum += (double)histogram->bucket[i] * bucket_middle(i);
	return histogram->count > 0 ? sum / (double)histogram->count : 0;
}

double histogram_stddev(const struct histogram *histogram)
{
	double mean = mean_of_middles(histogram), sum = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		double distance = bucket_middle(i) - mean;

		sum += (double)histogram->bucket[i] * distance * distance;
	}
	return histogram->count > 0 ? sqrt(sum / (double)histogram->count) : 0;
}
