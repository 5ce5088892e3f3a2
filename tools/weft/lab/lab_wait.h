/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Waiting for the mapper of a lab. */

#include "lab.h"
#include "lab_state.h"

struct lab_mapper {
	char host[TOPOLOGY_NAME_MAX]; /* "": none is known of */
	bool elsewhere;               /* on another machine */
	unsigned miscabled;           /* differences to what it expects */
	/* Of a lab on several machines: a host here that has no routes to all others yet; "". */
	struct fault short_of;
};

/* Asks the processes of the lab that are alive until lab_mapping_done() is true; at once where
 * routes are static. On one of several machines it waits as long for routes to all other hosts,
 * too, unless 'lenient', but goes without: those may not be up yet. 'lenient': those that have
 * ended are left out, and so are those that stop answering because they end; otherwise they are a
 * fault, and a mapper that is elsewhere must be heard still. 'leader' is the last that led, also if
 * this fails. 0, -ETIMEDOUT, -EINTR or another -errno, and fault. */
int lab_wait_mapped(const struct lab *lab, const struct lab_state *state, bool lenient,
	uint64_t patience_ms, struct lab_mapper *leader, struct fault *fault);
