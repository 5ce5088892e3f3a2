/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs the points of a sweep that have no result yet, several at a time. */

#include <jansson.h>

#include "sweep.h"

struct sweep_outcome {
	json_t **row;     /* of each point; NULL: not there */
	unsigned had;     /* points that were there before */
	unsigned changed; /* results changed after the sweep wrote them (result_file.h) */
	unsigned strange; /* results that were there under a point's name and are not its own */
	unsigned done;    /* points that are there now */
	unsigned failed;
	unsigned bad;   /* done, and something was lost, doubled, out of order or in deadlock */
	unsigned empty; /* done, and nothing was measured; not bad */
	bool interrupted;
};

/* Looks for the result of a point and makes its row. True if it is there. */
bool sweep_outcome_find(const struct sweep *sweep, struct sweep_outcome *outcome, unsigned point);

/* Runs sweep->jobs at a time, or one point, if sweep->point is one. Ctrl-C and SIGTERM end the
 * running points and then the sweep; a second one kills them. 0, or -errno if no point can be
 * started. Fills 'outcome' in any case; sweep_outcome_fini() frees it. */
int sweep_run(const struct sweep *sweep, struct sweep_outcome *outcome, struct fault *fault);
void sweep_outcome_fini(struct sweep_outcome *outcome, const struct sweep *sweep);
