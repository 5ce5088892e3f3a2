/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The files that a run's configuration names. Their contents affect the result as much as the
 * configuration does. */

#include "run_config.h"

#define RUN_TRAFFIC_FILES 5

/* The files that a traffic entry names; NULL for each file that it does not name. */
static inline void run_traffic_files(
	const struct run_config_traffic *traffic, const char *path[RUN_TRAFFIC_FILES])
{
	path[0] = traffic->file;
	path[1] = traffic->ranks;
	path[2] = traffic->sizes.file;
	path[3] = traffic->matrix;
	path[4] = traffic->packets.by;
}

/* Returns 0, or -errno with error set, which ends the iteration. */
typedef int run_file_fn(void *ctx, const char *path, struct error *error);

/* Calls 'take' with the absolute path of each file: the topology, permutations, schedules, their
 * ranks, sizes and matrices of flows, captures and their addresses, and the topology that the
 * mapper expects. A file that two keys name is passed twice; generators are not files. Returns the
 * result of 'take'. */
int run_files_each(
	const struct run_config *config, run_file_fn *take, void *ctx, struct error *error);

/* -EINVAL and error if 'output' (NULL: none) is the configuration file itself or one of these
 * files. */
int run_files_refuse(const struct run_config *config, const char *output, struct error *error);
