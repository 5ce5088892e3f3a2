/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Waiting for another thread that will write something soon. The caller polls the word in a loop,
 * and calls spin_wait() after each unsuccessful poll. SPIN_WAIT_LOOKS polls take 10 to 200 us,
 * depending on the processor: enough for a short piece of work of the other thread. After that the
 * caller should sleep. */

#define SPIN_WAIT_LOOKS 2000u

static inline void spin_wait(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}
