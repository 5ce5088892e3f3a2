/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Starting and ending the processes of a lab. */

#include <stdbool.h>
#include <sys/types.h>

#include "experiment/lab/lab_plan.h"
#include "lab_state.h"

/* Records a process that exists but waits. 0 lets it start; -errno and error ends it. */
typedef int (*lab_spawn_record_fn)(void *ctx, pid_t pid, struct error *error);

/* Starts argv[0] in a process group of its own of this session, which the terminal's Ctrl-C and
 * hang-up do not end, in network namespace 'netns' ("": this one), with its output in 'log'.
 * Returns its id, or -errno and error. If the caller is killed before 'record' returns, the process
 * never starts. */
pid_t lab_spawn(char *const argv[], const char *netns, const char *log, lab_spawn_record_fn record,
	void *ctx, struct error *error);

/* Ends all processes of the lab with SIGTERM, after 'patience_ms' with SIGKILL, and removes the
 * remains of killed ones. Returns how many had to be killed. */
#define LAB_END_MS 5000
unsigned lab_end_processes(const struct lab_state *state, int patience_ms);
