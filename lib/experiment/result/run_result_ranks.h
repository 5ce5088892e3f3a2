/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Completion times of the ranks of a run's schedule, or of its jobs' schedules. */

#include <stdlib.h>

#include "run_result.h"

#define RUN_SLOWEST_RANKS 5

struct run_result_rank {
	char host[TOPOLOGY_NAME_MAX];
	uint32_t number; /* in its schedule */
	uint32_t job;    /* number of its job plus 1; 0: none */
	bool ended;
	uint64_t completion_ns; /* from the start of its schedule; 0: it has no operations */
};

struct run_result_ranks {
	struct run_result_rank *at;
	uint32_t count;
};

/* Makes zeroed ranks, which the result owns; -ENOMEM. */
int run_result_ranks_make(struct run_result *result, uint32_t count);
static inline void run_result_ranks_free(struct run_result *result)
{
	if (result->ranks != NULL)
		free(result->ranks->at);
	free(result->ranks);
	result->ranks = NULL;
}

/* The ranks that ended last, in reverse order, at most RUN_SLOWEST_RANKS; returns their number.
 * 'job': as in run_result_rank. */
unsigned run_result_slowest_ranks(const struct run_result_ranks *ranks, uint32_t job,
	const struct run_result_rank *slowest[RUN_SLOWEST_RANKS]);
/* NULL: no memory. */
json_t *run_result_ranks_json(const struct run_result *result);
void run_result_print_ranks(const struct run_result *result, FILE *out);
