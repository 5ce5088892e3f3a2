/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * weft-fabric as a child process, its output in a log. It has a process group of its own, so that a
 * Ctrl-C at the terminal reaches this program alone, and ends when this program does, however that
 * ends.
 */

#include <stdint.h>
#include <sys/types.h>

#include "fault.h"

/* Monotonic time in seconds. */
double child_clock(void);

/* argv as for execv(). 0 and its process; -errno and fault: no such program, no process to be had.
 */
int child_start(pid_t *pid, char *const argv[], const char *log, struct fault *fault);
/* Another number for another build of the program, by what its file holds: results of one are not
 * those of the other. Where the file cannot be read, by the version alone. */
uint64_t child_program_mark(const char *name);
/* To the process and what it has started. */
void child_signal(pid_t pid, int number);
/* Says in 'fault' why a process that ended with 'status' of waitpid() left no result, with the last
 * line of its log. */
void child_describe_failure(int status, const char *log, struct fault *fault);
