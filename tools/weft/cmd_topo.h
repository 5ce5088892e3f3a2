/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The parts of 'weft topo', a file each. argv[0] is the part's own name; the rest as in
 * commands.h. */

#include <stdbool.h>
#include <stdio.h>

#include "commands.h"
#include "topology.h"

int cmd_topo_gen(int argc, char **argv);
int cmd_topo_show(int argc, char **argv);
int cmd_topo_check(int argc, char **argv);
int cmd_topo_dot(int argc, char **argv);
int cmd_topo_import(int argc, char **argv);
int cmd_topo_export(int argc, char **argv);

/* What show, check and dot have in common: "FILE [--json]". EXIT_DONE, or what was complained
 * about. 'json' NULL: the part has no such form. */
int cmd_topo_arguments(int argc, char **argv, const char **spec, bool *json);

/* A file to be written, or standard output. */
struct topology_output {
	const char *name; /* of the part, for messages: "topo gen" */
	const char *path; /* NULL or "-": standard output */
	FILE *file;
};

/* Each EXIT_DONE, or what was complained about. */
int cmd_topo_output_open(struct topology_output *output);
int cmd_topo_output_close(struct topology_output *output);
/* Instead of closing: the work failed, no file is left. */
void cmd_topo_output_discard(struct topology_output *output);
