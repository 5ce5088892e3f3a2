/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The files that a run's configuration names. Their contents affect the result as much as the
 * configuration itself does. */

#include "run_config.h"

/* 0, or -errno and fault, which ends the iteration. */
typedef int run_file_fn(void *ctx, const char *path, struct fault *fault);

/* Calls 'take' with the absolute path of each file: the topology, permutations and schedules, their
 * ranks, and the topology that the mapper expects. A file named by two keys is passed twice;
 * generators are not files. Returns the result of 'take'. */
int run_files_each(
	const struct run_config *config, run_file_fn *take, void *ctx, struct fault *fault);

/* -EINVAL and fault if 'output' (NULL: none) is the configuration's own file or one of these. */
int run_files_refuse(const struct run_config *config, const char *output, struct fault *fault);
