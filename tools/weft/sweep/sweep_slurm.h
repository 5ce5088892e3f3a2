/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Runs the points of a sweep as tasks of Slurm job arrays, a point each, and waits for their
 * results, which are files of the sweep's folder. DIR/slurm.sh is the script of a task, which runs
 * the same command with --point; DIR/slurm.points has the points of the tasks, a line each;
 * DIR/slurm.jobs the numbers of the jobs. A sweep that was killed finds its jobs there and waits
 * for them before it sends points again. A point counts as failed when no task has been left for
 * sweep.grace_s seconds, and has no result yet: NFS shows files late.
 */

#include "sweep_run.h"

/* As sweep_run(). Ctrl-C and SIGTERM cancel the jobs. -ENOENT: no sbatch; -EIO: it, or squeue for
 * two minutes, has failed. */
int sweep_slurm_run(const struct sweep *sweep, struct sweep_outcome *outcome, struct fault *fault);
