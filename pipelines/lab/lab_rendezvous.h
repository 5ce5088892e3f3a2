/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Start and end of the processes of a lab, synchronized by files in the run directory: they agree
 * on one clock, and each memif client waits for its servers.
 */

#include <stdatomic.h>

#include "fault.h"
#include "lab_plan.h"
#include "tsc_clock.h"

/* The clock of the lab: the first process starts it and the others read it, so that time stamps of
 * different processes are comparable. -EINVAL and fault: it has another dilation. */
int lab_clock(const char *run_dir, uint32_t dilation, struct clock *clock, struct fault *fault);

/* Waits until the servers of all memif links with 'process' as client listen: DPDK's client tries
 * to connect only once, when its port is started. -ETIMEDOUT after 30 s, -EINTR. */
int lab_wait_servers(const struct lab_plan *plan, unsigned process, const atomic_bool *stop,
	struct fault *fault);

/*
 * Waits before ports are closed, when no loop of this process runs any more, if it has memif links:
 * first until the other
 * processes, which got the same signal, have left their loops, because a memif driver whose peer
 * closes unmaps memory that its loop may be reading; then, two seconds at most, until those servers
 * have closed and our driver has noticed, because two ends that close at the same moment free the
 * same memory twice.
 */
void lab_wait_peers_gone(const struct lab_plan *plan, unsigned process);
