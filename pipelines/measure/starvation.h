/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hosts and queues of switches that got no service for a given share of a run
 * (docs/reference/result-file.md, 'starved'). The share is half of the measured time, because a
 * saturated fabric is unfair but serves everyone within that time. It is at least a few turns of
 * all hosts at the slowest link, because an incast explains a wait that long. Heads come from
 * deadlock.h. */

#include "deadlock.h"
#include "experiment/run/run_config.h"

/* Frames or messages in transit at a host: those that arrived, whether or not they fitted into its
 * buffer, and those that it forwarded. */
struct starvation_transit {
	uint64_t came, left;
	bool taken; /* false at the middle: measuring ended before it */
};

/* The minimum wait of a starved head, in a run with this measured time. */
weft_time starvation_patience(
	const struct topology *topology, const struct run_config *run, weft_time measured_ps);

/* Keeps the starved and dead heads of a search (deadlock_search()), each host and queue once, hosts
 * first. Waits count from the start of measuring, 'measured_ps' ago; 0 in a warm-up. Returns 0 or
 * -ENOMEM. */
int starvation_keep(struct deadlock_heads *kept, const struct deadlock_heads *seen,
	weft_time measured_ps, weft_time patience_ps);
/* Called when measuring starts: drops the kept heads that are not dead. */
void starvation_begin(struct deadlock_heads *kept);

/* Puts the kept heads into a result of a run with this measured time; only the dead ones if half of
 * that time is below 'patience_ps'. Returns 0 or -ENOMEM. */
int starvation_result(const struct deadlock_heads *kept, const struct topology *topology,
	weft_time patience_ps, weft_time measured_ps, struct run_result *result);

/* Names the host in the result if, since 'middle', the state at the middle of the measured time,
 * arrivals exceeded departures by over a tenth, and by at least 16 frames. Does nothing without a
 * middle. Returns 0 or -ENOMEM. */
int starvation_judge_transit(const char *host, const struct starvation_transit *middle,
	const struct starvation_transit *end, struct run_result *result);
