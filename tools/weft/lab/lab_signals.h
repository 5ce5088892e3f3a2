/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Signals that end commands: all long waits check the flag. */

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* SIGINT and SIGTERM set a flag instead of ending the program. */
void lab_catch_signals(void);
bool lab_interrupted(void);
const atomic_bool *lab_stop_flag(void);
/* The signal was handled: from now on, only another signal ends the cleanup. */
void lab_forget_interrupt(void);
/* Waits for a child that ends soon; signals do not interrupt the wait. Returns its status, as
 * waitpid() does. */
int lab_wait_child(pid_t pid);
