/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hosts of a lab in which programs can run: those in 'edges' that have a namespace. */

#include <stdio.h>

#include "lab/cmd_lab.h"

struct lab_hosts {
	struct lab lab;
	struct lab_state state;
	const char *command;          /* "lab exec" */
	bool real_time;               /* --no-faketime */
	struct run_config_edge plain; /* for a host without an edge: only its name is set */
};

/* Opens the lab, which must be up and have edges or, with 'plain', endpoints. Prints errors.
 * Call lab_hosts_close() after EXIT_DONE. */
enum weft_exit lab_hosts_open(struct lab_hosts *hosts, const struct lab_arguments *arguments,
	const char *command, bool plain);
void lab_hosts_close(struct lab_hosts *hosts);

/* The host's edge, or 'plain' without a namespace. NULL after printing an error, if programs cannot
 * use the host. */
const struct run_config_edge *lab_hosts_find(struct lab_hosts *hosts, const char *host);

/* "h0 slots=1 # 10.99.0.1 weft-LAB-h0": lines that Open MPI reads as a hostfile. */
void lab_hosts_print(const struct lab_hosts *hosts, FILE *out);

/* Whether libfabric programs find the provider. */
bool lab_hosts_have_provider(void);

/* Executes 'argv' in the host, in the lab's time (lab_slow_time.h). Returns only on error, after
 * printing it. */
enum weft_exit lab_hosts_exec(
	const struct lab_hosts *hosts, const struct run_config_edge *edge, char *const *argv);
