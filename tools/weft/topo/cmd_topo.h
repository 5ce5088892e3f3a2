/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The subcommands of 'weft topo', one file each. argv[0] is the subcommand's name; otherwise as in
 * commands.h. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/commands.h"
#include "route/formats/route_file.h"
#include "topo/formats/ib_counters.h"
#include "topo/topology.h"

int cmd_topo_gen(int argc, char **argv);
int cmd_topo_show(int argc, char **argv);
int cmd_topo_check(int argc, char **argv);
int cmd_topo_levels(int argc, char **argv);
int cmd_topo_dot(int argc, char **argv);
int cmd_topo_import(int argc, char **argv);
int cmd_topo_export(int argc, char **argv);

/* Parses "FILE [--json]" for show, check, levels and dot. Returns EXIT_DONE, or an exit code after
 * printing an error. 'json' NULL: the command has no JSON output. */
int cmd_topo_arguments(int argc, char **argv, const char **spec, bool *json);

/* Reads a topology file, a generator, or a listing in any format, whose notes are printed on
 * standard error; then detects levels. 'addresses' as topology_import.addresses. Returns NULL with
 * '*result' set after printing an error. */
struct ib_addresses;
struct topology *cmd_topo_read_listing(
	const char *command, const char *path, struct ib_addresses *addresses, int *result);

/* Prints the topology's levels, one per line. */
void cmd_topo_print_levels(const struct topology *topology, FILE *out);

/* Returns the document of 'show --json', or NULL if out of memory. */
json_t *cmd_topo_json(const struct topology *topology);

/* Returns the names of the channels in the report's cycle; empty if there is no cycle. */
struct route_report;
json_t *cmd_topo_cycle_json(const struct topology *topology, const struct route_report *report);

/* Writes a topology file; 'path' NULL or "-" means standard output. Refuses to overwrite the source
 * 'input' (may be NULL). */
int cmd_topo_write(
	const char *command, const struct topology *topology, const char *input, const char *path);

/* Files with the routes in use on an InfiniBand network, for 'weft route import' and 'weft twin'.
 */

struct opensm_files {
	const char *routes, *subnet, *map, *records; /* NULL: not given */
};

/* The options of a command with such a member. */
#define OPENSM_FILES_OPTIONS(type, files)                           \
	{"subnet", 0, OPTION_TEXT(type, files.subnet)},             \
		{"sl2vl", 0, OPTION_TEXT(type, files.map)},         \
	{                                                           \
		"path-records", 0, OPTION_TEXT(type, files.records) \
	}

/* Reads tables or, with 'map', routes in layers of VCs. Sorts the listing's addresses, if any.
 * Returns 0, and the caller closes 'file'; or a negative errno with error set. */
int opensm_files_read(const struct opensm_files *files, const struct topology *topology,
	struct ib_addresses *addresses, struct topology_import *import, struct route_file *file,
	struct error *error);
