/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Hosts and queues of switches that got nothing for a share of a run (docs/files.md, 'starved').
 * The definition is our choice: half of the time of measuring, because a saturated fabric is unfair
 * but serves all within it, and not less than a few turns of all hosts at the slowest link, because
 * an incast explains that long a wait. Heads come from deadlock.h.
 */

#include "deadlock.h"
#include "run_config.h"

/* Frames, or messages, in transit at a host: that came, whether its buffer had room for them or
 * not, and that it has sent on. */
struct starvation_transit {
	uint64_t came, left;
};

/* The wait from which on a head is starved, in a run that measures for so long. */
weft_time starvation_patience(
	const struct topology *topology, const struct run_config *run, weft_time measured_ps);

/* Keeps those heads of a search (deadlock_search()) that are starved or dead, each host and queue
 * once, hosts first. 0 or -ENOMEM. */
int starvation_keep(
	struct deadlock_heads *kept, const struct deadlock_heads *seen, weft_time patience_ps);

/* Puts what was kept into a result of a run that measured for so long. If half of that is less than
 * the patience, only what is dead. 0 or -ENOMEM. */
int starvation_result(const struct deadlock_heads *kept, const struct topology *topology,
	weft_time patience_ps, weft_time measured_ps, struct run_result *result);

/* Names the host in the result if more came since the 'middle' of the measuring than left: by over
 * a tenth, and by 16. 0 or -ENOMEM. */
int starvation_judge_transit(const char *host, const struct starvation_transit *middle,
	const struct starvation_transit *end, struct run_result *result);
