/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Commands that have parts, such as 'weft port list': one list of them gives the usage, the choice
 * and the message about a wrong word. */

#include <argp.h>
#include <stdio.h>

#include "fault.h"

/* A part: the first member of a struct of its command that has the rest. */
struct command_part {
	const char *name; /* "list" */
	/* For command_part_parse(). */
	const char *arguments;             /* as the usage shows them */
	const struct argp_option *options; /* with an empty one at the end */
	const char *doc;
};

/* A command with parts. */
struct command_parts {
	const char *command;              /* "port" */
	const struct command_part *first; /* of 'count', each 'size' bytes from the one before */
	size_t size;
	unsigned count;
	void (*print_usage)(FILE *out);
};

/* Of an array of structs whose first member, 'is', is a command_part. */
#define COMMAND_PARTS(command, array, print_usage)                                               \
	{                                                                                        \
		command, &(array)[0].is, sizeof((array)[0]), sizeof(array) / sizeof((array)[0]), \
			print_usage                                                              \
	}

/* Prints a line of usage for each part. */
void command_parts_print(const struct command_parts *parts, FILE *out);

/* The number of the part that argv[1] names. -1: there is none to run; what was asked for or the
 * reason is printed, and *code is the exit code. */
int command_parts_choose(const struct command_parts *parts, int argc, char **argv, int *code);

/* Reads the arguments of a part, whose name is argv[0], with argp, this parser and 'flags' into
 * 'input'. A wrong option and --help end the program. */
void command_part_parse(const struct command_parts *parts, const struct command_part *part,
	argp_parser_t parser, unsigned flags, int argc, char **argv, void *input);

/* Prints the usage of a part on standard error: the number of arguments is wrong. Returns
 * EXIT_BAD_REQUEST. */
enum weft_exit command_part_refuse(
	const struct command_parts *parts, const struct command_part *part);
