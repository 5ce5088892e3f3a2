/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs that measure how much jobs slow each other down. Before the run itself, each job with
 * 'baseline' runs alone and together with each other job, on the same hosts as in the run
 * itself. */

#include <stdatomic.h>

#include "experiment/result/run_result_jobs.h"
#include "options.h"
#include "topo/topology.h"

/* Runs 'config' once and fills 'result', which is zeroed. In processes without a result (--mpi)
 * only 'to_ns' is set. Returns 0, or a negative errno with error set. */
typedef int job_run_fn(
	void *ctx, const struct run_config *config, struct run_result *result, struct error *error);

struct job_runs {
	struct run_result kept; /* the times in these runs are stored in its jobs */
};

/* Ends early when 'stop', which may be NULL, is set. Changes config->jobs.absent meanwhile. Does
 * nothing without jobs. Returns 0, or a negative errno with error set; call job_runs_free() in
 * every case. */
int job_runs_make(struct job_runs *runs, struct run_config *config, const atomic_bool *stop,
	job_run_fn *run, void *ctx, struct error *error);
void job_runs_free(struct job_runs *runs);

/* Stores the times of the jobs in the result of the run itself. Returns 0, or a negative errno with
 * error set. */
int job_runs_finish(struct job_runs *runs, const struct run_config *config,
	const struct topology *topology, struct run_result *result, struct error *error);
