/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * DPDK's af_packet driver joins, for each interface that it opens, the fan-out group of the number
 * (process id ^ interface index) & 0xffff, and the kernel refuses a group that another interface of
 * the network namespace is in. So whether a process can open its interfaces beside the others that
 * run is known when its id is.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "lab_plan.h"

/* The index that an end (0: a, 1: b) of a VETH link's pair is made with. Process ids as they come
 * follow each other; indexes differ above the bits in which a few ids in a row differ, so that
 * groups meet seldom. */
unsigned lab_fanout_index(const struct lab_plan *plan, uint32_t link, unsigned side);

/* Whether 'process' of the plan, with the id 'pid', would ask for a group that another one has.
 * running: [process of the plan] its id, or 0. */
bool lab_fanout_meets(
	const struct lab_plan *plan, const pid_t *running, unsigned process, pid_t pid);
