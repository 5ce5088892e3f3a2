/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The entries of the traffic in a result. */

#include <stdlib.h>
#include <string.h>

#include "run_result.h"

#define BACKLOG_PARTS 50   /* 2 % */
#define LATENCY_GROWS 1.05 /* 5 % */

struct run_entry *run_result_add_entry(struct run_result *result)
{
	struct run_entry *more =
		realloc(result->entry, (result->entries + 1u) * sizeof(*result->entry));

	if (more == NULL)
		return NULL;
	result->entry = more;
	return memset(&more[result->entries++], 0, sizeof(*more));
}

struct run_flow *run_entry_add_flow(struct run_entry *entry)
{
	struct run_flow *more = entry->flow;

	if (entry->flows % 64 == 0)
		more = realloc(entry->flow, (entry->flows + 64u) * sizeof(*more));
	if (more == NULL)
		return NULL;
	entry->flow = more;
	return memset(&more[entry->flows++], 0, sizeof(*more));
}

static bool backlog_grows(const struct run_entry *entry, const struct run_half *half)
{
	uint64_t more = run_result_minus(half->generated, half->delivered);

	return more > half->generated / BACKLOG_PARTS && more > entry->senders;
}

static double mean_latency(const struct run_half *half)
{
	return half->timed > 0 ? (double)half->latency_sum_ns / (double)half->timed : 0;
}

bool run_entry_is_saturated(const struct run_entry *entry)
{
	double first = mean_latency(&entry->half[0]), second = mean_latency(&entry->half[1]);

	return entry->halved && backlog_grows(entry, &entry->half[0]) &&
	       backlog_grows(entry, &entry->half[1]) && first > 0 && second > LATENCY_GROWS * first;
}

bool run_result_is_saturated(const struct run_result *result)
{
	for (unsigned i = 0; i < result->entries; i++)
		if (run_entry_is_saturated(&result->entry[i]))
			return true;
	return false;
}

bool run_flow_completion(const struct run_flow *flow, uint64_t *ns)
{
	*ns = flow->last_ns;
	return flow->generated > 0 && flow->delivered >= flow->generated;
}

bool run_entry_completion(const struct run_entry *entry, uint64_t *ns)
{
	bool some = false;

	*ns = 0;
	if (!entry->ended)
		return false;
	for (unsigned i = 0; i < entry->flows; i++) {
		uint64_t at;

		if (entry->flow[i].generated == 0)
			continue;
		if (!run_flow_completion(&entry->flow[i], &at))
			return false;
		*ns = at > *ns ? at : *ns;
		some = true;
	}
	return some;
}
