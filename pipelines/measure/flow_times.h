/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The flows of a run (pattern flows) with their times, or the ends of the ranks of its schedule,
 * for its result. */

#include "experiment/result/run_result_ranks.h"
#include "experiment/workload/run_goal.h"

/* Adds them. 0 or -ENOMEM. */
int schedule_times_result(const struct run_goal *goal, struct goal_replay *replay,
	const struct run_config *run, const struct topology *topology, struct run_result *result);
