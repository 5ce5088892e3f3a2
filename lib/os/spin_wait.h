/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Waiting for another thread that will write something soon. The caller reads the word in a loop
 * and calls spin_wait() after each look in vain. The first SPIN_WAIT_LOOKS calls make no system
 * call. They take 10 to 100 us in all, by the processor: enough for a short piece of work of the
 * other thread. Later calls give the core to other threads.
 */

#define SPIN_WAIT_LOOKS 2000u

/* 'looks': those in vain before this one. */
void spin_wait(unsigned looks);
