/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hands a result out, as the options want it. */

#include <stdbool.h>

#include "options.h"
#include "run_config.h"
#include "run_result.h"

/* Before a run that may be long: whether the files that are asked for can be written. 0 or -errno
 * and fault. */
int report_check(
	const struct options *options, const struct run_config *config, struct fault *fault);

/* 0, EXIT_BAD_ANSWER if something was lost, doubled, out of order or stands still, or a negative
 * code. */
int report_result(struct run_result *result, const struct options *options,
	const struct run_config *config, const struct topology *topology, struct fault *fault);

/* The other end of standard output, a pipe, was closed, or the terminal hung up. */
bool report_reader_is_gone(void);
