/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The cost of a sweep before it runs (--dry-run). On the virtual clock a few points, spread over
 * the sweep, run for a small part of their time, then for four times as long, and so on, until they
 * take a tenth of a second; the last two of these give the cost of the rest as a straight line. On
 * the real clock a run takes as long as it says. */

#include "sweep.h"

struct sweep_estimate {
	unsigned points, trials; /* to run, without invalid ones; that were tried */
	double cpu_s;            /* of all points; 0 on the real clock */
	double wall_s;           /* with sweep->jobs at a time */
	bool at_most;            /* a schedule may end before its time */
	bool real_clock;
};

/* sweep->jobs is settled. Adds trial points that prove to be invalid to sweep->invalid, if that is
 * wanted. 0; -EINTR after Ctrl-C; -errno and fault. */
int sweep_estimate(const struct sweep *sweep, bool real_clock, struct sweep_estimate *estimate,
	struct fault *fault);

/* "about 2.1 h": seconds for people. */
void sweep_estimate_time(double seconds, char out[32]);
