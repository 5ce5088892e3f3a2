/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Runs trials, a point of each at a time as a process of weft-fabric, several trials side by side.
 * Each result goes into a folder under a name made from its whole configuration and from what the
 * program is: whatever wants the same point again, another experiment as well, takes it from there,
 * and after a new build nothing is.
 */

#include "trial.h"

struct trial_runner {
	struct trial *trial;
	unsigned trials;
	const char *cache; /* folder; made if it is not there */
	unsigned jobs;
	bool again; /* results that are there do not count */
	/* Filled: */
	unsigned ran, had; /* points */
	bool interrupted;
};

/* 0, or -errno and fault where no point can be started at all. */
int trial_run(struct trial_runner *runner, struct fault *fault);
