/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include "unit.h"

#include "experiment/result/run_result.h"

/* Returns a counter of the result by its name in the JSON; an unknown name fails the test. */
static inline uint64_t result_counter(const struct run_result *result, const char *name)
{
	for (unsigned i = 0; i < result->counters; i++)
		if (strcmp(result->counter[i].name, name) == 0)
			return result->counter[i].value;
	fail_msg("no counter %s", name);
	return 0;
}
