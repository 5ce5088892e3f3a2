/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs trials, one point of each at a time as a process of weft-fabric, several trials in
 * parallel. A result is stored in a folder under a hash of its whole configuration and of the
 * program. Another experiment that needs the same point takes it from there; a new build runs it
 * again. */

#include "experiment.h"
#include "trial.h"

struct trial_runner {
	struct trial *trial;
	unsigned trials;
	const char *cache; /* folder; made if it is not there */
	unsigned jobs;
	const char *srun; /* as in child_run */
	bool again;       /* results that are there do not count */
	/* Filled: */
	unsigned ran, had; /* points */
	bool interrupted;
};

/* 0, or -errno and fault if no point can be started. */
int trial_run(struct trial_runner *runner, struct fault *fault);

/* The GOAL schedule of an experiment, generated into the folder of results. Its name has its
 * parameters and a hash of its contents, so another generator's schedule is another file. */

/* Generates it and fills schedule->path. Does nothing without ranks. 0, or -errno and fault. */
int schedule_make(struct experiment_schedule *schedule, const char *folder, struct fault *fault);
