/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Starting and ending the processes of a lab. */

#include <stdbool.h>
#include <sys/types.h>

#include "lab_plan.h"
#include "lab_state.h"

/* Decides about a process that exists but waits: 1 lets it start, after which it must be on record;
 * 0 ends it and tries another id; -errno and fault ends it and the search. */
typedef int (*lab_spawn_accept_fn)(void *ctx, pid_t pid, struct fault *fault);

/* Starts argv[0] in a process group of its own of this session, which the terminal's Ctrl-C and
 * hang-up do not end, in network namespace 'netns' ("": this one), with its output in 'log', under
 * an acceptable id, of the first 256 that the system gives. Returns the id, or -errno and fault;
 * -EAGAIN: none was acceptable. If the caller is killed first, the process never starts. */
pid_t lab_spawn(char *const argv[], const char *netns, const char *log, lab_spawn_accept_fn accept,
	void *ctx, struct fault *fault);

/* Ends all processes of the lab with SIGTERM, after 'patience_ms' with SIGKILL, and removes what
 * killed ones left. Returns how many had to be killed. */
#define LAB_END_MS 5000
unsigned lab_end_processes(const struct lab_state *state, int patience_ms);

/* For each interface that DPDK's af_packet driver opens, it joins the fan-out group (process id
 * ^ interface index) & 0xffff. The kernel refuses a group that another interface of the network
 * namespace is in. So the process id decides whether a process can open its interfaces beside
 * the others. */

/* The interface index for an end (0: a, 1: b) of a VETH link's pair. Process ids are
 * consecutive, so indexes differ above the bits in which a few consecutive ids differ, and
 * groups rarely collide. */
unsigned lab_fanout_index(const struct lab_plan *plan, uint32_t link, unsigned side);

/* Whether 'process' of the plan, with the id 'pid', would collide with a group of another one.
 * running: [process of the plan] its id, or 0. */
bool lab_fanout_meets(
	const struct lab_plan *plan, const pid_t *running, unsigned process, pid_t pid);
