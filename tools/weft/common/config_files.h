/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The files that a run's configuration names: what is in them decides the result as much as the
 * configuration itself. */

#include "run_config.h"

/* 0, or -errno and fault, which ends the walk. */
typedef int config_file_fn(void *ctx, const char *path, struct fault *fault);

/* Calls 'take' with the absolute path of each: the topology, routes, permutations and schedules,
 * their ranks, and what the mapper expects. A file that two keys name comes twice; generators are
 * no files. What 'take' returned. */
int config_files_each(
	const struct run_config *config, config_file_fn *take, void *ctx, struct fault *fault);
