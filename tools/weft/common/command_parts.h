/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Commands that have parts, such as 'weft port list': one list of them gives the usage, the choice
 * and the message about a wrong word. */

#include <argp.h>
#include <stdio.h>

#include "fault.h"

/* The name of part i and, if 'arguments' is not NULL, its arguments as the usage shows them. NULL
 * behind the last part. */
typedef const char *command_part_at(unsigned i, const char **arguments);

/* A command with parts. */
struct command_parts {
	const char *command; /* "port" */
	command_part_at *at;
	void (*print_usage)(FILE *out);
};

/* Prints a line of usage for each part. */
void command_parts_print(const struct command_parts *parts, FILE *out);

/* The part that argv[1] names. -1: there is none to run; what was asked for or the reason is
 * printed, and *code is the exit code. */
int command_parts_choose(const struct command_parts *parts, int argc, char **argv, int *code);

/* Reads the arguments of a part, whose name is argv[0], with argp and its 'flags' into 'input'. A
 * wrong option and --help end the program. */
void command_part_parse(const struct command_parts *parts, const struct argp *argp, unsigned flags,
	int argc, char **argv, void *input);

/* Prints the usage of a part on standard error: the number of arguments is wrong. Returns
 * EXIT_BAD_REQUEST. */
enum weft_exit command_part_refuse(
	const struct command_parts *parts, const char *part, const char *arguments);
