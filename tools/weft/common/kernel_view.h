/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Files that this machine's kernel provides, below command_root(). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/weft_error.h"

/* Reads the first line of a file, without the newline. Returns false if the file cannot be read. */
bool kernel_line(char *line, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Times of a thread since its start: running, and waiting for a CPU. */
struct cpu_times {
	uint64_t run_ns, wait_ns;
};

/* Returns false if the kernel does not report the times. */
bool kernel_cpu_times(pid_t process, long thread, struct cpu_times *cpu);

/* Returns whether the thread ran for less than 90 % of the CPU time that it needed. That time is
 * all time in which the thread was not asleep, divided by 'dilation'. */
bool cpu_times_are_short(const struct cpu_times *cpu, unsigned dilation);

/* The TAPs of processes that 'weft lab restart' ends. The command holds them until the new process
 * has inherited them (tap.h), so that programs keep their interfaces. The TAPs disappear if the
 * command is killed. */

#define HELD_TAPS_MAX 1024

struct held_taps {
	unsigned count;
	int fd[HELD_TAPS_MAX];
	unsigned process[HELD_TAPS_MAX]; /* index in the plan */
};

/* Duplicates each TAP descriptor of the running process. Returns their number, or -errno with error
 * set; no descriptor of the process is held then. */
int held_taps_take(struct held_taps *taps, unsigned process, pid_t pid, struct error *error);
/* Sets whether programs started later inherit the TAPs of the process. */
void held_taps_pass(const struct held_taps *taps, unsigned process, bool pass);
void held_taps_close(struct held_taps *taps);
