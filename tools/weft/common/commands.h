/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The subcommands of 'weft', one file each. Each gets the arguments from its own name on (argv[0]
 * is "topo", "route", …), does its work and returns an enum weft_exit. Results go to standard
 * output, everything else to standard error. */

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"

/* Prints "weft NAME: text" on standard error and returns 'code'. */
enum weft_exit command_fail(const char *name, enum weft_exit code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with the text of the fault, and the exit code for 'result', a negative errno. */
enum weft_exit command_error(const char *name, int result, const struct error *error);

/* Prints a note of an import: topology_import.note with the command's name as context. */
void command_note(void *command, const char *text);

/* Whether an argument after the name is --help; main() has already replaced -h and 'weft help' with
 * it. */
bool command_wants_help(int argc, char **argv);

/* Prints the document on standard output, with further 'flags' of json_dumpf(), and releases it. */
int command_print_json(json_t *document, size_t flags);

/* The prefix of /sys, /proc and /dev: WEFT_SYSFS_ROOT for tests, else "". */
const char *command_root(void);

int cmd_answer(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_goal(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_route(int argc, char **argv);
int cmd_port(int argc, char **argv);
/* Replaces this process with the Python part of the command argv[0] (tools/python). */
int cmd_python(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_topo(int argc, char **argv);
int cmd_twin(int argc, char **argv);
int cmd_web(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_complete(int argc, char **argv);

/* Commands that have subcommands, such as 'weft port list': a single list of these provides the
 * usage, the dispatch, and the message about an unknown word. */

/* A subcommand: the first member of the command's own struct, which has the rest. */
struct command_part {
	const char *name; /* "list" */
	/* For command_part_parse(). */
	const char *arguments;             /* as the usage shows them */
	const struct argp_option *options; /* ends with an empty one */
	const char *doc;
	const char *exit; /* the exit codes; NULL: 0, 2 and 3 */
};

/* A command with parts. */
struct command_parts {
	const char *command; /* "port" */
	const struct command_part
		*first; /* 'count' entries, each 'size' bytes after the previous one */
	size_t size;
	unsigned count;
	void (*print_usage)(FILE *out);
};

/* For an array of structs whose first member 'is' is a command_part. */
#define COMMAND_PARTS(command, array, print_usage)                                               \
	{                                                                                        \
		command, &(array)[0].is, sizeof((array)[0]), sizeof(array) / sizeof((array)[0]), \
			print_usage                                                              \
	}

/* Prints a usage line for each subcommand. */
void command_parts_print(const struct command_parts *parts, FILE *out);

/* The number of the subcommand that argv[1] names, or -1 if there is none to run: help or the
 * reason was printed, and *code is the exit code. */
int command_parts_choose(const struct command_parts *parts, int argc, char **argv, int *code);

/* Parses the arguments of a subcommand, whose name is argv[0], into 'input' with argp, using this
 * parser and 'flags'. A wrong option or --help ends the program. */
void command_part_parse(const struct command_parts *parts, const struct command_part *part,
	argp_parser_t parser, unsigned flags, int argc, char **argv, void *input);

/* Prints the usage of a subcommand on standard error, because the number of arguments is wrong.
 * Returns EXIT_BAD_REQUEST. */
enum weft_exit command_part_refuse(
	const struct command_parts *parts, const struct command_part *part);
