/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_goal_result.h"

void run_goal_result(
	const struct goal *goal, const struct goal_replay *replay, struct run_result *result)
{
	run_result_count(result, "goal_operations", goal->ops);
	run_result_count(result, "goal_unfinished", goal->ops - goal_replay_count(replay));
	run_result_count(result, "goal_completion_ns", goal_replay_ended(replay) / PS_PER_NS);
}
