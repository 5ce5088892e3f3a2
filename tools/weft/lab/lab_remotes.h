/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A lab on several machines as seen from its console: a session with each machine, and one state
 * with the processes of all of them. Code that queries processes (lab_query.h) uses that state like
 * the state of a single machine. */

#include "experiment/lab/lab.h"
#include "lab_state.h"

/* Starts sessions with all machines concurrently, and fills in 'state'. A broken session is not an
 * error: its processes count as not alive. Returns 0, or -errno with error set. */
int lab_remotes_open(const struct lab *lab, struct lab_state *state, struct error *error);

/* Queries all machines for their running processes, and tries to reconnect to unreachable machines
 * without waiting. */
void lab_remotes_refresh(struct lab_state *state);

/* Prints a line on standard error for each unreachable machine; returns their number. */
unsigned lab_remotes_send(const struct lab_state *state, const char *command);
/* Returns the number of machines on which the lab is up or has remains. */
unsigned lab_remotes_up(const struct lab_state *state);

/* Holds the lock for sending traffic on all machines until the sessions end. Returns 0, or -errno
 * with error set. */
int lab_remotes_lock(struct lab_state *state, struct error *error);

/* Returns how to reach a machine of the lab; 'control' may be "". */
struct lab_ssh_target lab_remotes_target(
	const struct lab *lab, unsigned machine, const char *control);
/* Writes the path prefix of the sockets of shared connections, in the console's folder
 * (lab_ssh_control()); "" if there is none. */
void lab_remotes_control(const struct lab *lab, char control[LAB_SSH_CONTROL_MAX]);
