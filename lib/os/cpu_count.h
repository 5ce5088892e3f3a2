/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include <sched.h>

/* CPUs that the calling thread may run on, at least 1. */
static inline unsigned cpu_count(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) < 1)
		return 1;
	return (unsigned)CPU_COUNT(&set);
}
