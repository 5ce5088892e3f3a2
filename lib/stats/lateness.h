/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Lateness of arrivals at one end of a link: the time from a frame's due arrival until the loop
 * received the frame. Never negative, because a link delivers no frame early.
 *
 * Two counters always run. While 'total' is set, arrivals are also counted in the end's coarse
 * histogram (four steps per power of two, 16 ns steps below 128 ns) and in the full histogram that
 * all ends of a loop share. An end thus takes few cache lines, and the total is exact to within 1.6
 * %. One writer, the loop; others may read at any time and see a sample late. */

#include <stddef.h>

#include "histogram.h"

#define LATENESS_STEP_LOG2 4 /* log2 of the fine steps per step of an end's histogram */
#define LATENESS_STEPS     (HISTOGRAM_BUCKETS >> LATENESS_STEP_LOG2)

struct lateness {
	uint64_t arrivals, sum_ns; /* since the start */
	struct histogram *total;   /* the loop's histogram, in ns; NULL: nothing is measured */
	/* Since 'total' was last set. */
	uint64_t max_ns;
	uint64_t step[LATENESS_STEPS];
};

/* The measurement at an end, in ns; all 0 without arrivals. Percentiles are upper bounds of
 * buckets, capped at the maximum. */
struct lateness_summary {
	uint64_t arrivals, p50_ns, p99_ns, max_ns;
};

/* Restarts the measurement into the loop's histogram; NULL ends it. 'late' may be NULL. */
void lateness_measure(struct lateness *late, struct histogram *total);
/* Returns the measurement. 'late' may be NULL. */
struct lateness_summary lateness_summary(const struct lateness *late);

/* Returns the share of values that are at most 'value', in ppm, rounded down; 0 if empty. A
 * bucket that contains 'value' counts as above it. */
uint32_t lateness_within_ppm(const struct histogram *total, uint64_t value);

/* Counts a burst of arrivals. */
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

/* The cost of reordering: frames that overtook earlier ones from their source wait at the
 * destination until these have arrived. Latencies are measured up to the arrival. For frames that
 * waited, the latencies up to the arrival and up to the release are also recorded here. The release
 * latencies of all frames follow from them. Frames that need not wait cost nothing here.
 *
 * A message has arrived when the last of its frames has arrived, whichever that is. It is released
 * together with its tail. */

struct order_wait {
	/* For frames that waited: their latencies in the fabric's histograms, and the release
	 * latencies that replace them. */
	struct histogram network_arrived_ns, network_released_ns;
	struct histogram total_arrived_ns, total_released_ns;
	struct histogram waited_ns; /* waiting times of released frames */
};

/* Adds 'from' to 'into'. */
void order_wait_merge(struct order_wait *into, const struct order_wait *from);
void order_wait_reset(struct order_wait *wait);

/* Computes the latencies up to the release: 'all', with 'arrived' replaced by 'released' for the
 * frames that waited. The maximum in 'all' is kept, even if its frame is still waiting. */
void order_wait_release(const struct histogram *all, const struct histogram *arrived,
	const struct histogram *released, struct histogram *out);
