/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Waiting for the mapper of a lab. */

#include "lab.h"
#include "lab_state.h"

/* Asks the processes of the lab that are alive until lab_mapping_done() is true; at once where
 * routes are static. 'lenient': those that have ended are left out, and so are those that stop
 * answering because they end; otherwise they are a fault. 'leader' gets the name of the mapper, ""
 * if that is not here. 0, -ETIMEDOUT, -EINTR or another -errno, and fault. */
int lab_wait_mapped(const struct lab *lab, const struct lab_state *state, bool lenient,
	uint64_t patience_ms, char leader[TOPOLOGY_NAME_MAX], struct fault *fault);
