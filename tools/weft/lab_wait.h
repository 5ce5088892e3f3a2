/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Waiting for the mapper of a lab. */

#include "lab.h"
#include "lab_state.h"

struct lab_mapper {
	char host[TOPOLOGY_NAME_MAX]; /* "": it is not here */
	unsigned miscabled;           /* differences to what it expects */
};

/* Asks the processes of the lab that are alive until lab_mapping_done() is true; at once where
 * routes are static. 'lenient': those that have ended are left out, and so are those that stop
 * answering because they end; otherwise they are a fault. 'leader' is the last that led, also if
 * this fails. 0, -ETIMEDOUT, -EINTR or another -errno, and fault. */
int lab_wait_mapped(const struct lab *lab, const struct lab_state *state, bool lenient,
	uint64_t patience_ms, struct lab_mapper *leader, struct fault *fault);
