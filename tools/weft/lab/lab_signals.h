/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Signals that end commands: every long wait checks their flag. */

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* SIGINT and SIGTERM set a flag instead of ending the program. */
void lab_catch_signals(void);
bool lab_interrupted(void);
const atomic_bool *lab_stop_flag(void);
/* The signal was handled: cleanup after it is ended only by the next one. */
void lab_forget_interrupt(void);
/* Waits for the end of a child that ends soon; signals do not end the wait. Its status, as of
 * waitpid(). */
int lab_wait_child(pid_t pid);
