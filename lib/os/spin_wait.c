/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "spin_wait.h"

#include <sched.h>

static inline void relax(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

void spin_wait(unsigned looks)
{
	if (looks < SPIN_WAIT_LOOKS)
		relax();
	else
		sched_yield();
}
