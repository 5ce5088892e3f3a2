/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The cost of restoring the order: frames that arrive before earlier ones of their source wait at
 * the destination until those have arrived. Latencies are measured to the arrival. For the frames
 * that waited, this keeps the latency to the arrival and to the release, from which the latencies
 * of all frames to their release follow. Frames that need not wait cost nothing here.
 *
 * A message arrives with the last of its frames, whichever that is. It is released with its tail.
 */

#include "histogram.h"

struct order_wait {
	/* Frames that waited: their latencies in the fabric's histograms, and the ones that replace
	 * these at release. */
	struct histogram network_arrived_ns, network_released_ns;
	struct histogram total_arrived_ns, total_released_ns;
	struct histogram waited_ns; /* waits of released frames */
};

/* Adds 'from' to 'into'. */
void order_wait_merge(struct order_wait *into, const struct order_wait *from);
void order_wait_reset(struct order_wait *wait);

/* Latencies to the release: 'all', in which 'released' replaces 'arrived' for the frames that
 * waited. The maximum remains the one in 'all' if a frame with that latency is still waiting. */
void order_wait_release(const struct histogram *all, const struct histogram *arrived,
	const struct histogram *released, struct histogram *out);
