/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The GOAL schedule of a run (pattern goal): read, checked against the topology, and which rank is
 * which host. For either clock; what replays it is goal_replay.h. Constant once opened.
 *
 * Which rank is which host stands in a file, "RANK HOST" a line, what follows a '#' passed over;
 * without a file rank i is host i. Each rank has a host of its own.
 */

#include "goal.h"
#include "run_hosts.h"

#define RUN_GOAL_NO_RANK UINT32_MAX

struct run_goal {
	struct goal *goal;
	uint16_t *host_of;  /* [ranks] */
	uint32_t *rank_of;  /* [hosts]; RUN_GOAL_NO_RANK */
	weft_time start_ps; /* after the beginning of the traffic */
};

/* The run's schedule; '*goal' is NULL if it has none. 0, or a negative errno with fault: a bad
 * file, more ranks than hosts, a message above RUN_MESSAGE_MAX. */
int run_goal_open(const struct run_config *run, const struct topology *topology,
	struct run_goal **goal, struct fault *fault);
void run_goal_close(struct run_goal *goal);

/* A message of other traffic would pass for one of the schedule if its sender had a rank. 0, or
 * -EINVAL and fault. */
int run_goal_check_beside(const struct run_goal *goal, const struct run_config *run,
	const struct run_hosts *hosts, struct fault *fault);

/* What a send is on the network: messages have at least RUN_MESSAGE_MIN bytes. */
static inline uint32_t run_goal_bytes(uint64_t bytes)
{
	return bytes < RUN_MESSAGE_MIN ? RUN_MESSAGE_MIN : (uint32_t)bytes;
}
