/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The entries of the traffic in a result. */

#include <stdlib.h>
#include <string.h>

#include "run_result.h"

struct run_entry *run_result_add_entry(struct run_result *result)
{
	struct run_entry *more =
		realloc(result->entry, (result->entries + 1u) * sizeof(*result->entry));

	if (more == NULL)
		return NULL;
	result->entry = more;
	more = memset(&more[result->entries++], 0, sizeof(*more));
	more->first_ps = WEFT_TIME_NEVER;
	return more;
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
