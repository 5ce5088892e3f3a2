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
 * 'baseline' runs alone and together with each other job, on the same hosts as in the run. */

/* Runs 'config' once and fills in 'result', which is zeroed. In processes without a result (--mpi)
 * sets only 'to_ns'. Returns 0, or -errno with 'error' set. */
typedef int job_run_fn(
	void *ctx, const struct run_config *config, struct run_result *result, struct error *error);

struct job_runs {
	struct run_result kept; /* its jobs store the times of these runs */
};

/* Does nothing without jobs. Stops when 'stop', which may be NULL, is set. Modifies
 * config->jobs.absent temporarily. Returns 0, or -errno with 'error' set. The caller must always
 * call job_runs_free(). */
int job_runs_make(struct job_runs *runs, struct run_config *config, const atomic_bool *stop,
	job_run_fn *run, void *ctx, struct error *error);
void job_runs_free(struct job_runs *runs);

/* Adds the times of the jobs to the result of the run itself. Returns 0, or -errno with 'error'
 * set. */
int job_runs_finish(struct job_runs *runs, const struct run_config *config,
	const struct topology *topology, struct run_result *result, struct error *error);

/* Returns like report_result() on rank 0. 'ranks' is NULL for one process. SIGINT and SIGTERM end
 * the program before the run starts, and the run afterwards. */
int virtual_run(const struct options *options, const struct run_config *config,
	const struct topology *topology, struct ranks *ranks, struct error *error);
/* Makes the jobs' baseline runs, before the run itself, and starts to catch signals. */
int virtual_run_jobs(const struct options *options, struct job_runs *runs,
	struct run_config *config, const struct topology *topology, struct ranks *ranks,
	struct error *error);
int wormhole_run(const struct options *options, const struct run_config *config,
	const struct topology *topology, struct error *error);

/* Writes a result to the outputs in the options. */

/* Checks before a run, which may be long, that the requested files can be written. Returns 0, or
 * -errno with 'error' set. */
int report_check(
	const struct options *options, const struct run_config *config, struct error *error);

/* Returns like run_result_exit(), or -errno. */
int report_result(struct run_result *result, const struct options *options,
	const struct run_config *config, const struct topology *topology, struct error *error);
/* Prints the error if the fabric's check_complete() returned one in 'complete'. Returns 'code',
 * from report_result(), changed to EXIT_BAD_ANSWER unless a signal explains the error. */
int report_complete(int code, int complete, const struct error *error);

/* Returns true if the reader closed the pipe on standard output or the terminal hung up. */
bool report_reader_is_gone(void);

/* Prints the progress of a run on the real clock in a separate thread, because no loop may wait for
 * a terminal. */

struct real_progress {
	const struct real_fabric *fabric;
	weft_time duration;
	struct progress_line line;
	atomic_bool halt;
	pthread_t thread;
	bool running;
};

/* Call before and after real_fabric_run(). Nothing is printed with line.silent, or if the thread
 * cannot be created. */
void real_progress_start(struct real_progress *progress);
void real_progress_stop(struct real_progress *progress);

/* weft-fabric as one of several ranks of a run (ranks.h). Only rank 0 prints. For a run of one
 * process, pass NULL as the ranks. */

/* Returns the ranks if this process was started as one of them. Otherwise returns NULL, and sets
 * '*result' to 0 or, with 'error' set, -errno. 'argv' is as in main(). */
struct ranks *rank_open(
	const struct options *options, char **argv, struct error *error, int *result);

/* Returns -EINVAL in all ranks if their runs would differ. */
int rank_compare(struct ranks *ranks, const struct options *options,
	const struct run_config *config, const struct topology *topology, struct error *error);

/* Returns true if this process prints messages and writes results. */
static inline bool rank_speaks(const struct ranks *ranks)
{
	return ranks == NULL || ranks->own == 0;
}

/* Shares rank 0's exit code and returns it. Does not return if a rank is lost. */
int rank_close(struct ranks *ranks, int code);
