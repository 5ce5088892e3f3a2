/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hosts and switch queues that got no service for a given share of a run
 * (docs/reference/result-file.md, 'starved'). The limit is half of the measured time: a saturated
 * fabric is unfair, but serves everyone within that time. It is at least a few turns of all hosts
 * on the slowest link, because an incast can explain a wait of that length. */

#include "deadlock.h"
#include "experiment/run/run_config.h"

/* Frames or messages in transit at a host: departures, and arrivals including refused ones. */
struct starvation_transit {
	uint64_t came, left;
	bool taken; /* false: measuring ended before its midpoint */
};

/* Returns the minimum wait of a starved head in a run with this measured time. */
weft_time starvation_patience(
	const struct topology *topology, const struct run_config *run, weft_time measured_ps);

/* Merges the starved and dead heads found by deadlock_search() into 'kept', one entry per host or
 * queue, hosts first. Measuring started 'measured_ps' ago (0: still warming up); earlier waiting
 * does not count. Returns 0 or -ENOMEM. */
int starvation_keep(struct deadlock_heads *kept, const struct deadlock_heads *seen,
	weft_time measured_ps, weft_time patience_ps);
/* Call when measuring starts: removes the heads that are not dead. */
void starvation_begin(struct deadlock_heads *kept);

/* Adds the heads in 'kept' to the result of a run with this measured time. Adds only the dead ones
 * if half of that time is below 'patience_ps'. Returns 0 or -ENOMEM. */
int starvation_result(const struct deadlock_heads *kept, const struct topology *topology,
	weft_time patience_ps, weft_time measured_ps, struct run_result *result);

/* Adds the host to the result if arrivals since 'middle' exceeded departures by over a tenth and by
 * at least 16 frames. 'middle' is the state halfway through the measurement; does nothing if it was
 * not taken. Returns 0 or -ENOMEM. */
int starvation_judge_transit(const char *host, const struct starvation_transit *middle,
	const struct starvation_transit *end, struct run_result *result);
