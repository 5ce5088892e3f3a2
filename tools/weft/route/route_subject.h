/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* '--without WHAT', which can be repeated: a topology after failures (topology.h). */

#include "common/commands.h"
#include "route/formats/route_file.h"
#include "topo/topology.h"

#define TOPOLOGY_CUT_MAX 256

struct topology_cut {
	const char *failed[TOPOLOGY_CUT_MAX];
	unsigned count;
};

/* The option of a command with such a member. */
#define TOPOLOGY_CUT_OPTION(type, member)                                            \
	{                                                                            \
		"without", 0, OPTION_MEMBER(type, member), .take = topology_cut_take \
	}
bool topology_cut_take(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX]);

/* Opens a file or generator and removes the failed parts. The caller destroys the topology. Returns
 * NULL after printing an error; '*code' is then the exit code. */
struct topology *topology_cut_open(
	const struct topology_cut *cut, const char *command, const char *spec, int *code);

/* Input of 'weft route verify', 'show' and 'export': a topology, possibly with failures, and one or
 * more route files for it. */

#define SUBJECT_FILES_MAX 8

/* The command's arguments. */
struct subject_request {
	const char *command;  /* for messages */
	unsigned files_max;   /* limit of this command */
	const char *topology; /* NULL until it is given */
	const char *name[SUBJECT_FILES_MAX];
	unsigned files;
	struct topology_cut cut; /* failures given with --without */
	bool json;               /* --json, of the commands that have it */
};

struct subject {
	struct topology *topology;
	struct route_file file[SUBJECT_FILES_MAX];
	unsigned files;
};

/* Parses the options, which are members of 'whole', and the other arguments: TOPO, then ROUTES....
 * Returns EXIT_DONE, or an exit code after printing an error. */
int subject_arguments(struct subject_request *request, const struct command_option *options,
	void *whole, int argc, char **argv);

/* Returns EXIT_DONE, and the caller must close the subject; or an exit code after an error. */
int subject_open(struct subject *subject, const struct subject_request *request);
void subject_close(struct subject *subject);

/* The subcommands of 'weft route', one file each. argv[0] is the subcommand's name; otherwise as in
 * commands.h. */

int cmd_route_compute(int argc, char **argv);
int cmd_route_verify(int argc, char **argv);
int cmd_route_show(int argc, char **argv);
int cmd_route_export(int argc, char **argv);
int cmd_route_import(int argc, char **argv);
int cmd_route_compare(int argc, char **argv);
