/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Waiting for another thread, which is about to write something: a loop that looks at it, and calls
 * spin_wait() after each look in vain. It costs no system call for some ten to a hundred
 * microseconds, by the processor: as long as others need for a short piece of work. Then it gives
 * the core to others in between.
 */

/* Looks without a system call. */
#define SPIN_WAIT_LOOKS 2000u

/* 'looks' have been in vain, without this one. */
void spin_wait(unsigned looks);
