/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The tables that a sweep leaves in its folder, and its last lines. */

#include <jansson.h>

#include "fault.h"
#include "sweep_run.h"

/* sweep.csv, sweep-mean.csv and sweep.json, which --json prints, too. 0 or -EIO. */
int sweep_report_write(const struct sweep *sweep, const json_t *manifest,
	const struct sweep_outcome *outcome, struct fault *fault);

/* The line of points, and the exit code of the command. */
enum weft_exit sweep_report_print(const struct sweep *sweep, const struct sweep_outcome *outcome);
