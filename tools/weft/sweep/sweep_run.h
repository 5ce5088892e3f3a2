/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs the points of a sweep that have no result yet, several at a time. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "fault.h"
#include "sweep.h"
#include "sweep_plan.h"

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

/* Runs the points of a sweep as tasks of Slurm job arrays, a point each, and waits for their
 * results, which are files of the sweep's folder. DIR/slurm.sh is the script of a task, which runs
 * the same command with --point; DIR/slurm.points has the points of the tasks, a line each;
 * DIR/slurm.jobs the numbers of the jobs. A sweep that was killed finds its jobs there and waits
 * for them before it sends points again. A point counts as failed when no task has been left for
 * sweep.grace_s seconds, and has no result yet: NFS shows files late. */

/* As sweep_run(). Ctrl-C and SIGTERM cancel the jobs. -ENOENT: no sbatch; -EIO: it, or squeue for
 * two minutes, has failed. */
int sweep_slurm_run(const struct sweep *sweep, struct sweep_outcome *outcome, struct fault *fault);

/* The line of points, and the exit code of the command. */
enum weft_exit sweep_report_print(const struct sweep *sweep, const struct sweep_outcome *outcome);

/* The cost of a sweep before it runs (--dry-run). On the virtual clock a few points, spread over
 * the sweep, run for a small part of their time, then for four times as long, and so on, until they
 * take a tenth of a second; the last two of these give the cost of the rest as a straight line. On
 * the real clock a run takes as long as it says. */

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

/* The command line of 'weft sweep'. */

/* Fills in the sweep, whose other fields are 0 but for 'point' and 'grace_s', -1. 0, -EINVAL, or
 * another -errno of a file. */
int sweep_words_parse(struct sweep *sweep, int argc, char **argv, struct fault *fault);

/* The progress of a sweep on standard error: on a terminal a line that is redrawn, with errors
 * above it; otherwise a line for each point. */

struct sweep_progress {
	FILE *out;
	bool terminal;
	unsigned points, had; /* in all; there before this sweep began */
	unsigned done;        /* with those that were there */
	unsigned failed, running;
	double started; /* seconds */
	double last_ended;
};

void sweep_progress_init(
	struct sweep_progress *progress, unsigned points, unsigned had, double now);
/* A point is done, with its result; 'seconds' it took. */
void sweep_progress_done(struct sweep_progress *progress, const char *label, const json_t *result,
	double seconds, double now);
void sweep_progress_failed(
	struct sweep_progress *progress, const char *label, const char *why, double now);
/* A point proves to be invalid: there is one less. */
void sweep_progress_skipped(
	struct sweep_progress *progress, const char *label, const char *why, double now);
/* Redraws the bar; does nothing without a terminal. */
void sweep_progress_draw(const struct sweep_progress *progress, double now);
/* Clears the bar. */
void sweep_progress_end(const struct sweep_progress *progress);

/* "[####....] 3/20 points, 2 running, 1 failed, 1:05 left" in 'width' columns. The time left is
 * estimated from the points so far, and is left out before the first one has ended. */
void sweep_progress_format(
	const struct sweep_progress *progress, double now, unsigned width, char *out, size_t size);
