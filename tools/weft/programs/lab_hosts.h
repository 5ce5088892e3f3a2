/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hosts of a lab in which programs can run. */

#include <stdio.h>

#include "lab/cmd_lab.h"

struct lab_hosts {
	struct lab lab;
	struct lab_state state;
	const char *command;          /* for messages, such as "lab exec" */
	bool real_time;               /* --no-faketime was given */
	struct run_config_edge plain; /* for a host without an edge; only 'host' is set */
};

/* Opens a lab that is up and has edges or, if 'plain' is set, endpoints. Prints errors. Call
 * lab_hosts_close() after EXIT_DONE. */
enum weft_exit lab_hosts_open(struct lab_hosts *hosts, const struct lab_arguments *arguments,
	const char *command, bool plain);
void lab_hosts_close(struct lab_hosts *hosts);

/* Returns the host's edge, or 'plain' for a host without one. Prints an error and returns NULL if
 * programs cannot run in the host. */
const struct run_config_edge *lab_hosts_find(struct lab_hosts *hosts, const char *host);

/* Prints the hosts in Open MPI's hostfile format, such as "h0 slots=1 # 10.99.0.1 weft-LAB-h0". */
void lab_hosts_print(const struct lab_hosts *hosts, FILE *out);

/* Returns whether the libfabric provider is installed. */
bool lab_hosts_have_provider(void);

/* Executes 'argv' in the host, on the lab's clock (lab_slow_time.h). Returns only on error, after
 * printing it. */
enum weft_exit lab_hosts_exec(
	const struct lab_hosts *hosts, const struct run_config_edge *edge, char *const *argv);
