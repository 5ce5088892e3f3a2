/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Starting and ending the processes of a lab. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "experiment/lab/lab_plan.h"
#include "lab_state.h"

/* Records a process that exists but is still waiting. A return value of 0 lets it start;
 * -errno with error set ends it. */
typedef int (*lab_spawn_record_fn)(void *ctx, pid_t pid, struct error *error);

/* Starts argv[0] in its own process group of this session, so that neither Ctrl-C nor a hang-up of
 * the terminal ends it, in network namespace 'netns' ("": this one), with its output in 'log'.
 * Returns its id, or -errno with error set. If the caller is killed before 'record' returns, the
 * process never starts. */
pid_t lab_spawn(char *const argv[], const char *netns, const char *log, lab_spawn_record_fn record,
	void *ctx, struct error *error);

/* Ends all processes of the lab with SIGTERM, and after 'patience_ms' with SIGKILL, and removes
 * what killed processes left behind. Returns how many had to be killed. */
#define LAB_END_MS 5000
unsigned lab_end_processes(const struct lab_state *state, int patience_ms);

/* Why a process of a lab ended. 'weft lab up', its parent, gets the exit status. Once 'up' has
 * ended, init reaps the process, and only the kernel's log may have the reason. That log, if it can
 * be read, also shows whether memory was short. */

#define LAB_ENDING_TEXT 160

/* Describes a status of waitpid(): "was killed by signal 9 (the kernel's out-of-memory killer: see
 * dmesg)", "has ended with exit code 3". 'memory': the kernel killed it for lack of memory. */
void lab_ending_describe(int status, bool memory, char out[LAB_ENDING_TEXT]);

/* Describes the end of a dead process; reaps a child. */
void lab_ending_find(const struct lab_record *record, char out[LAB_ENDING_TEXT]);

/* Returns whether the kernel's log states that the kernel killed it for lack of memory. */
bool lab_ending_in_log(const struct lab_record *record);

/* Returns whether a record of /dev/kmsg states this. A record before 'since_us' is about an earlier
 * process with this id. */
bool lab_ending_names(const char *line, const char *program, pid_t pid, uint64_t since_us);
