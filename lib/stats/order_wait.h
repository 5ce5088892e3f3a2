/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The price of restoring the order: frames that arrive before earlier ones of their source wait at
 * the destination until those have come. Latencies are counted to the arrival; this holds, for the
 * frames that waited, what they were to the arrival and what they were to the release, so the
 * latencies of all frames to their release follow. Frames that need not wait cost nothing here.
 *
 * A message arrives with the last of its frames, whichever that is. It is released with its tail.
 */

#include "histogram.h"

struct order_wait {
	/* Of those that waited: in the fabric's histograms, and what replaces it at release. */
	struct histogram network_arrived_ns, network_released_ns;
	struct histogram total_arrived_ns, total_released_ns;
	struct histogram waited_ns; /* of released frames */
};

/* Adds 'from' to 'into'. */
void order_wait_merge(struct order_wait *into, const struct order_wait *from);
void order_wait_reset(struct order_wait *wait);

/* Latencies to the release: all of 'all', with those to the arrival of what waited replaced. The
 * maximum is that of 'all' if a frame that took so long still waits. */
void order_wait_release(const struct histogram *all, const struct histogram *arrived,
	const struct histogram *released, struct histogram *out);
