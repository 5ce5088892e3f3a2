/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs on the virtual clock: at packet level, and at flit level with wormhole switches. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "experiment/result/run_result.h"
#include "experiment/result/run_result_jobs.h"
#include "experiment/run/run_config.h"
#include "options.h"
#include "os/terminal.h"
#include "real/real_fabric.h"
#include "topo/topology.h"
#include "virtual/parallel/ranks.h"

/* Runs that measure how much jobs slow each other down. Before the run itself, each job with
 * 'baseline' runs alone and together with each other job, on the same hosts as in the run
 * itself. */

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

/* Like report_result(), from rank 0; 'ranks' NULL: one process. SIGINT and SIGTERM end the program
 * before the run starts, and the run afterwards. */
int virtual_run(const struct options *options, const struct run_config *config,
	const struct topology *topology, struct ranks *ranks, struct error *error);
/* The baseline runs of its jobs, before the run itself. Signals are caught from then on. */
int virtual_run_jobs(const struct options *options, struct job_runs *runs,
	struct run_config *config, const struct topology *topology, struct ranks *ranks,
	struct error *error);
int wormhole_run(const struct options *options, const struct run_config *config,
	const struct topology *topology, struct error *error);

/* Writes a result to the outputs in the options. */

/* Checks before a run, which may be long, that the requested files can be written. Returns 0 or
 * -errno with fault set. */
int report_check(
	const struct options *options, const struct run_config *config, struct error *error);

/* Returns 0, EXIT_BAD_ANSWER if something was lost, duplicated, out of order or stuck, or a
 * negative code. */
int report_result(struct run_result *result, const struct options *options,
	const struct run_config *config, const struct topology *topology, struct error *error);

/* The reader closed the pipe on standard output, or the terminal hung up. */
bool report_reader_is_gone(void);

/* Prints the progress of a run on the real clock, in a thread of its own: no loop may wait for a
 * terminal. */

struct real_progress {
	const struct real_fabric *fabric;
	weft_time duration;
	struct progress_line line;
	atomic_bool halt;
	pthread_t thread;
	bool running;
};

/* Called before and after real_fabric_run(). Without a thread, or with line.silent, nothing is
 * printed. */
void real_progress_start(struct real_progress *progress);
void real_progress_stop(struct real_progress *progress);

/* weft-fabric as one of several ranks of a run (ranks.h). Only rank 0 prints. All functions take
 * NULL, for a run of one process. */

/* Returns the ranks if this process was started as one of them; otherwise NULL, with '*result' 0 or
 * negative, and then fault set. 'argv' as in main(). */
struct ranks *rank_open(
	const struct options *options, char **argv, struct error *error, int *result);

/* Returns -EINVAL in all ranks if their runs would differ. */
int rank_compare(struct ranks *ranks, const struct options *options,
	const struct run_config *config, const struct topology *topology, struct error *error);

/* True if this process prints messages and writes results. */
static inline bool rank_speaks(const struct ranks *ranks)
{
	return ranks == NULL || ranks->own == 0;
}

/* Returns the exit code of all ranks, which then leave; does not return if a rank is lost. */
int rank_close(struct ranks *ranks, int code);
