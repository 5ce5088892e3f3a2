/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The measuring window of a run, the same for all three engines (real clock, virtual clock,
 * wormhole): what its counters were when measuring began, at the last sample and when it ended, and
 * the throughput and samples that follow. An engine reads its counters; the arithmetic is here.
 */

#include "run_result.h"
#include "switch.h"
#include "topology.h"

/* Counters of a run at one moment. They only grow. */
struct measure_totals {
	weft_time at_ps;
	uint64_t messages, bytes; /* delivered: payload */
	uint64_t wire_bytes;      /* delivered: all that counts as load on the hosts' links */
	uint64_t generated_messages, generated_wire_bytes;
	uint64_t timed, latency_sum_ps; /* what was delivered with a known latency */
	uint64_t absorbed;              /* frames, by hosts on the way */
	uint64_t adapted, arns;         /* by switches: packets sent another way, notifications */
};

struct measure_window {
	double unit, capacity, second; /* see measure_window_open() */
	struct measure_totals from, to, sampled;
	struct run_result samples;
};

/* Shares are of what the links of all hosts carry: by their rates, or, if 'cycle_ps' is not 0, a
 * byte a cycle each. */
void measure_window_open(
	struct measure_window *window, const struct topology *topology, weft_time cycle_ps);
/* Also closes a window that was never opened, if it is zeroed. */
void measure_window_close(struct measure_window *window);

/* Measuring begins. Forgets all samples. */
void measure_window_begin(struct measure_window *window, const struct measure_totals *now);
/* A sample of the time since the last one, or since the beginning. -ENOMEM. */
int measure_window_sample(struct measure_window *window, const struct measure_totals *now);
/* Measuring ends. */
void measure_window_end(struct measure_window *window, const struct measure_totals *now);

/* Fills throughput and samples. 'switches': flits per ns are shared among so many; 0: none.
 * -ENOMEM.
 */
int measure_window_result(
	const struct measure_window *window, uint32_t switches, struct run_result *result);

/* Adds a switch's counters of congestion: marks, adaptive routing, detector, notifications. */
void measure_congestion(const struct weft_switch *sw, struct run_result *result);

/* Seconds of wall clock, from any origin: what a run costs, never what it computes. */
double measure_wall_seconds(void);
