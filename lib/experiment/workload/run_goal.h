/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The schedule of a run (pattern goal or flows, or the merged schedules of its jobs) and its
 * mapping of ranks to hosts, checked against the topology. Used on both clocks and replayed with
 * goal_replay.h. Constant once opened.
 *
 * A file of pairs "RANK HOST" defines the mapping (run_hosts.h). Without a file, rank i is on host
 * i / 'ranks-per-host', counted among the job's hosts if it belongs to a job. On a host with
 * several ports, ranks use them in rotation, unless the file names a port (HOST:PORT). */

#include "goal/goal_replay.h"
#include "run_flows.h"
#include "run_hosts.h"

#define RUN_GOAL_NO_RANK UINT32_MAX

/* One of the merged schedules. */
struct run_goal_part {
	uint32_t first_rank, ranks;
	uint32_t first_sender, senders; /* range of 'sender' */
	weft_time start_ps;             /* since the start of the traffic */
	uint32_t job;                   /* index plus 1; 0: none */
	uint8_t entry;                  /* index in the run's traffic */
};

struct run_goal {
	struct goal *goal;
	struct run_flows
		flows;       /* flows from which the schedule was built; empty with pattern goal */
	uint16_t *host_of;   /* [ranks] host indices in the topology */
	uint32_t *rank_of;   /* [hosts]: first rank of the host, or RUN_GOAL_NO_RANK */
	uint32_t hosts;      /* number in the topology */
	uint32_t busy_hosts; /* number of hosts with operations */
	/* [hosts]: traffic entry of the host, if it has ranks. */
	uint8_t *entry_of;
	uint16_t *sender; /* [senders] hosts with ranks that send */
	uint32_t senders;
	struct run_goal_part *part; /* [parts] sorted by first rank */
	uint32_t parts;
	uint64_t copy_rate_bps;
	weft_time overhead_ps, gap_ps;
	uint64_t piece_bytes; /* maximum size of one transfer to an interface */
	uint64_t rendezvous_bytes;
	weft_time start_ps; /* start of the first part, since the start of the traffic */
};

/* Opens the run's schedule. Sets '*goal' to NULL if there is none, or if only absent jobs have one.
 * Returns 0, or a negative errno with error set: a bad file, or more ranks than hosts accept. */
int run_goal_open(const struct run_config *run, const struct topology *topology,
	struct run_goal **goal, struct error *error);
void run_goal_close(struct run_goal *goal);

/* Creates a replay of the schedule that starts at time 0. With 'spills', its arrays may exceed
 * memory, so that an access may wait for a disk. Returns NULL with error set if out of memory. */
struct goal_replay *run_goal_replay(const struct run_goal *goal, bool spills, struct error *error);

/* Returns 0, or -EINVAL with error set if hosts with a rank also send other traffic, because a
 * receiver could not distinguish the two. */
int run_goal_check_beside(const struct run_goal *goal, const struct run_config *run,
	const struct run_hosts *hosts, struct error *error);

/* Like goal_replay_diagnose(), but mentions flows, because the user wrote no operations. */
int run_goal_diagnose(
	const struct run_goal *goal, const struct goal_replay *replay, struct error *error);

/* Returns the hosts that send for a traffic entry. */
const uint16_t *run_goal_senders(const struct run_goal *goal, uint8_t entry, uint32_t *count);

/* Returns the size of a send on the network, where a message has at least RUN_MESSAGE_MIN bytes. */
static inline uint32_t run_goal_bytes(uint64_t bytes)
{
	return bytes < RUN_MESSAGE_MIN ? RUN_MESSAGE_MIN : (uint32_t)bytes;
}
