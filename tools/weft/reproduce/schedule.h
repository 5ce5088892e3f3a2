/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The GOAL schedule of an experiment, generated into the folder of results under a name that says
 * what is in it: what was asked for, and a hash of what came out, so that another generator's
 * schedule is another file. */

#include "experiment.h"

/* Generates it and fills schedule->path. Nothing to do without ranks. 0, or -errno and fault. */
int schedule_make(struct experiment_schedule *schedule, const char *folder, struct fault *fault);
