/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * How the processes of a lab find each other at the start: they agree on one clock, and each waits
 * for the sockets of the processes that come before it. By files in the run directory.
 */

#include <stdatomic.h>

#include "fault.h"
#include "lab_plan.h"
#include "tsc_clock.h"

/* The clock of the lab: the first process starts it, the others take it over, so that a time stamp
 * of one means something in the others. */
int lab_clock(const char *run_dir, struct clock *clock, struct fault *fault);

/* Waits until the servers of all memif links of which 'process' is the client listen. DPDK's client
 * connects once, when its port is started, and not again. -ETIMEDOUT after 30 s, -EINTR. */
int lab_wait_servers(const struct lab_plan *plan, unsigned process, const atomic_bool *stop,
	struct fault *fault);

/*
 * At the end, when no loop runs any more: waits until those servers have closed and our driver has
 * taken notice, two seconds at most. When both ends of a memif link close at the same moment, the
 * one that is told by its peer and the one that is told by its program free the same memory.
 */
void lab_wait_servers_gone(const struct lab_plan *plan, unsigned process);
