/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <string.h>

#include "lateness.h"

void lateness_measure(struct lateness *late, struct histogram *total)
{
	if (late == NULL)
		return;
	if (total != NULL) {
		late->max_ns = 0;
		memset(late->step, 0, sizeof(late->step));
	}
	late->total = total;
}

static uint64_t quantile(const struct lateness *late, uint64_t arrivals, unsigned percent)
{
	uint64_t wanted = arrivals - arrivals * (100 - percent) / 100, seen = 0;

	for (unsigned i = 0; i < LATENESS_STEPS; i++) {
		uint64_t upper = histogram_upper(((i + 1) << LATENESS_STEP_LOG2) - 1);

		seen += late->step[i];
		if (seen >= wanted)
			return upper < late->max_ns ? upper : late->max_ns;
	}
	return late->max_ns;
}

struct lateness_summary lateness_summary(const struct lateness *late)
{
	struct lateness_summary summary = {.arrivals = 0};

	for (unsigned i = 0; late != NULL && i < LATENESS_STEPS; i++)
		summary.arrivals += late->step[i];
	if (summary.arrivals == 0)
		return summary;
	summary.p50_ns = quantile(late, summary.arrivals, 50);
	summary.p99_ns = quantile(late, summary.arrivals, 99);
	summary.max_ns = late->max_ns;
	return summary;
}

uint32_t lateness_within_ppm(const struct histogram *total, uint64_t value)
{
	uint64_t within = 0;

	if (total->count == 0)
		return 0;
	if (value >= total->max)
		return 1000000;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS && histogram_upper(i) <= value; i++)
		within += total->bucket[i];
	return (uint32_t)(within * 1000000.0 / total->count);
}

#define HISTOGRAMS (sizeof(struct order_wait) / sizeof(struct histogram))

/* Skips empty histograms, whose memory may not be allocated yet. */
void order_wait_merge(struct order_wait *into, const struct order_wait *from)
{
	const struct histogram *const each[HISTOGRAMS] = {&from->network_arrived_ns,
		&from->network_released_ns, &from->total_arrived_ns, &from->total_released_ns,
		&from->waited_ns};
	struct histogram *const to[HISTOGRAMS] = {&into->network_arrived_ns,
		&into->network_released_ns, &into->total_arrived_ns, &into->total_released_ns,
		&into->waited_ns};

	for (unsigned i = 0; i < HISTOGRAMS; i++)
		if (each[i]->count > 0)
			histogram_merge(to[i], each[i]);
}

void order_wait_reset(struct order_wait *wait)
{
	struct histogram *const each[HISTOGRAMS] = {&wait->network_arrived_ns,
		&wait->network_released_ns, &wait->total_arrived_ns, &wait->total_released_ns,
		&wait->waited_ns};

	for (unsigned i = 0; i < HISTOGRAMS; i++)
		if (each[i]->count > 0)
			histogram_reset(each[i]);
}

void order_wait_release(const struct histogram *all, const struct histogram *arrived,
	const struct histogram *released, struct histogram *out)
{
	*out = *all;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		out->bucket[i] -= arrived->bucket[i];
	out->count -= arrived->count;
	out->sum -= arrived->sum;
	histogram_merge(out, released);
}
