/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* For each interface that DPDK's af_packet driver opens, it joins the fan-out group (process id
 * ^ interface index) & 0xffff. The kernel refuses a group that another interface of the network
 * namespace is in. So the process id decides whether a process can open its interfaces beside
 * the others. */

#include <stdbool.h>
#include <sys/types.h>

#include "lab_plan.h"

/* The interface index for an end (0: a, 1: b) of a VETH link's pair. Process ids are
 * consecutive, so indexes differ above the bits in which a few consecutive ids differ, and
 * groups rarely collide. */
unsigned lab_fanout_index(const struct lab_plan *plan, uint32_t link, unsigned side);

/* Whether 'process' of the plan, with the id 'pid', would collide with a group of another one.
 * running: [process of the plan] its id, or 0. */
bool lab_fanout_meets(
	const struct lab_plan *plan, const pid_t *running, unsigned process, pid_t pid);
