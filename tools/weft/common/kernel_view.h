/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Files of this machine's kernel, below command_root(). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads the first line of a file, without its newline. False: it cannot be read. */
bool kernel_line(char *line, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Times of a thread since it started: running, and waiting for a CPU. */
struct cpu_times {
	uint64_t run_ns, wait_ns;
};

/* False: the kernel does not report them. */
bool kernel_cpu_times(pid_t process, long thread, struct cpu_times *cpu);

/* The thread ran for less than 90 % of what it needs: all the time that it was not asleep, divided
 * by 'dilation'. */
bool cpu_times_are_short(const struct cpu_times *cpu, unsigned dilation);
