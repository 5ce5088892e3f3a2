/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The request of a sweep, and the paths of its files. Its folder has manifest.json (the
 * request), a result for each finished point, a log for each failed one, and the tables. */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "config_files.h"
#include "sweep_cases.h"
#include "sweep_plan.h"

#define SWEEP_SETS_MAX 48u /* --set of the user; weft-fabric takes 64 */
#define SWEEP_JOBS_MAX 256u

struct sweep {
	struct sweep_plan plan;
	struct sweep_cases cases; /* none: count 0 */
	char run_file[PATH_MAX];  /* absolute */
	const char *set[SWEEP_SETS_MAX];
	unsigned sets;
	const char *folder;
	unsigned jobs; /* 0: not said */
	bool restart, skip_invalid, dry_run;
	bool prepare;       /* only write the manifest */
	bool on_slurm;      /* the points are tasks of a job array (sweep_run.h) */
	const char *sbatch; /* further arguments of sbatch; NULL: none */
	int grace_s;        /* how long results may come after the last task; -1: not said */
	int point;          /* the only one to run, as such a task; -1: all */
	char *const *argv;  /* of the command, up to NULL */
	/* --skip-invalid: why each point is left out, NULL: it is not; NULL: a bad point ends the
	 * sweep before it begins. */
	char **invalid;
	uint64_t program; /* child_program_mark() of what runs the points */
	bool json;
};

/* Whether --skip-invalid leaves the point out. */
bool sweep_is_invalid(const struct sweep *sweep, unsigned point);
unsigned sweep_count_invalid(const struct sweep *sweep);
/* Leaves it out. -ENOMEM. */
int sweep_skip(const struct sweep *sweep, unsigned point, const char *why);

/* The changes of a point. 0 or -ENOMEM; run_sets_fini() in any case. */
int sweep_sets_init(struct run_sets *sets, const struct sweep *sweep, unsigned point);

/* Path of a file of the sweep, or of a point's file with this end (".json", ".log", ".part"). */
void sweep_path(const struct sweep *sweep, const char *name, char out[PATH_MAX]);
void sweep_point_path(
	const struct sweep *sweep, unsigned point, const char *end, char out[PATH_MAX]);

/* The run file with --set, without --vary. NULL, fault and errno. */
struct run_config *sweep_base_config(const struct sweep *sweep, struct fault *fault);
/* That of a point. */
struct run_config *sweep_point_config(
	const struct sweep *sweep, unsigned point, struct fault *fault);
