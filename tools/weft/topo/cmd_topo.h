/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The parts of 'weft topo', a file each. argv[0] is the part's own name; the rest as in
 * commands.h. */

#include <jansson.h>
#include <stdbool.h>

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

/* What 'show --json' prints. NULL without memory. */
json_t *cmd_topo_json(const struct topology *topology);
