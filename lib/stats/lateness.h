/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Lateness of the arrivals at one end of a link: the time from a frame's due arrival until the loop
 * took the frame. Never negative: a link delivers no frame early.
 *
 * Two counters always run. While 'total' is set, arrivals also count in the coarse histogram of the
 * end (four steps per power of two, 16 ns steps below 128 ns) and in the full histogram that all
 * ends of a loop share. An end thus has few cache lines, and the total is exact to 1.6 %. One
 * writer, the loop; others may read at any time and see a sample late. */

#include <stddef.h>

#include "histogram.h"

#define LATENESS_STEP_LOG2 4 /* steps of the histogram in a step of an end */
#define LATENESS_STEPS     (HISTOGRAM_BUCKETS >> LATENESS_STEP_LOG2)

struct lateness {
	uint64_t arrivals, sum_ns; /* since the start */
	struct histogram *total;   /* the loop's, ns; NULL: nothing is measured */
	/* While it was last set. */
	uint64_t max_ns;
	uint64_t step[LATENESS_STEPS];
};

/* The measurement at an end, in ns; all 0 without arrivals. Percentiles are upper bounds: the end
 * of their step, or the maximum. */
struct lateness_summary {
	uint64_t arrivals, p50_ns, p99_ns, max_ns;
};

/* Restarts measuring into the loop's histogram; NULL ends it. 'late' may be NULL. */
void lateness_measure(struct lateness *late, struct histogram *total);
/* 'late' may be NULL. */
struct lateness_summary lateness_summary(const struct lateness *late);

/* The share of the values that are at most 'value', in ppm, rounded down: a step that contains
 * 'value' counts as above it. 0 when empty. */
uint32_t lateness_within_ppm(const struct histogram *total, uint64_t value);

/* A burst of arrivals. */
static inline void lateness_note(struct lateness *late, const uint64_t *ns, unsigned count)
{
	struct histogram *total = late->total;
	uint64_t sum = 0, max = late->max_ns;

	for (unsigned i = 0; i < count; i++) {
		unsigned index = histogram_index(ns[i]);

		sum += ns[i];
		if (total == NULL)
			continue;
		max = ns[i] > max ? ns[i] : max;
		late->step[index >> LATENESS_STEP_LOG2]++;
		total->bucket[index]++;
	}
	late->arrivals += count;
	late->sum_ns += sum;
	if (total == NULL)
		return;
	late->max_ns = max;
	total->max = max > total->max ? max : total->max;
	total->count += count;
	total->sum += sum;
}
