/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Starting and ending the processes of a lab. */

#include "lab_state.h"

/* Whether a process may have this id. */
typedef bool (*lab_spawn_suits_fn)(void *ctx, pid_t pid);

/* Starts argv[0] in a process group of its own of this session, which the terminal's Ctrl-C and
 * hang-up do not end, in network namespace 'netns' ("": this one), with its output in 'log', under
 * an acceptable id, of the first 256 that the system gives. Returns the id, or -errno and fault;
 * -EAGAIN: none was acceptable. */
pid_t lab_spawn(char *const argv[], const char *netns, const char *log, lab_spawn_suits_fn suits,
	void *ctx, struct fault *fault);

/* Ends all processes of the lab with SIGTERM, after 'patience_ms' with SIGKILL, and removes what
 * killed ones left. Returns how many had to be killed. */
unsigned lab_end_processes(const struct lab_state *state, int patience_ms);
