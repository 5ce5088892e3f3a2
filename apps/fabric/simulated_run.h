/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs on the virtual clock: at packet level, and at flit level with wormhole switches. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "experiment/result/run_result.h"
#include "experiment/run/run_config.h"
#include "job_runs.h"
#include "options.h"
#include "os/progress_line.h"
#include "real/real_fabric.h"
#include "topo/topology.h"
#include "virtual/parallel/ranks.h"

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
