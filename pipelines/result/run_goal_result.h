/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What a replayed schedule leaves in a result, at either clock. */

#include "goal_replay.h"
#include "run_result.h"

/* Counters goal_operations, goal_unfinished, goal_completion_ns. */
void run_goal_result(
	const struct goal *goal, const struct goal_replay *replay, struct run_result *result);
