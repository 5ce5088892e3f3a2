/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Only one command at a time brings a lab up or takes it down, and only one sends its traffic. The
 * former holds DIR.lock, a file next to the run directory DIR, and the latter run.lock inside DIR.
 * The file names the action. The kernel releases the lock when the command ends, for whatever
 * reason; the processes of the lab do not hold it. */

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/weft_error.h"

struct lab_lock {
	int fd;      /* -1: not held */
	bool passed; /* held by the parent program, which releases it */
	char path[300];
};

/* Takes the lock. 'work' completes the sentence "this lab is being …": "brought up". Creates the
 * folders above 'dir'. Returns 0, or with error set -EINVAL if another command holds the lock (the
 * error names its action, which it must write within a second), or -errno if no file can be
 * created. */
int lab_lock_take(struct lab_lock *lock, const char *dir, const char *work, struct error *error);
/* Call in a child before it executes another weft command, which then inherits the lock. */
void lab_lock_pass(const struct lab_lock *lock);
/* Removes the file, and /run/weft after the last lab. Does nothing if the lock is not held. */
void lab_lock_release(struct lab_lock *lock);

/* Signals that end commands. All long waits check the flag. */

/* SIGINT and SIGTERM set a flag instead of ending the program. */
void lab_catch_signals(void);
bool lab_interrupted(void);
const atomic_bool *lab_stop_flag(void);
/* Call when the signal has been handled: from now on, only another signal ends the cleanup. */
void lab_forget_interrupt(void);
/* Waits for a child that ends soon; signals do not interrupt the wait. Returns its status, as
 * waitpid() does. */
int lab_wait_child(pid_t pid);
