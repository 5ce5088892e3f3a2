/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The subcommands of 'weft', one file each. Each receives the arguments starting with its own name
 * (argv[0] is "topo", "route", …) and returns an enum weft_exit. Results are written to standard
 * output, everything else to standard error. */

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/name_table.h"
#include "base/option_key.h"
#include "base/weft_error.h"

/* Prints "weft NAME: text" on standard error and returns 'code'. */
enum weft_exit command_fail(const char *name, enum weft_exit code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like command_fail(), with the error's text, and the exit code for 'result', a negative errno. */
enum weft_exit command_error(const char *name, int result, const struct error *error);

/* Prints a note of an import. A topology_import.note whose context is the command's name. */
void command_note(void *command, const char *text);

/* If an argument after the name is --help, prints 'usage' and returns true. main() has already
 * replaced -h and 'weft help' with --help. */
bool command_help(int argc, char **argv, const char *usage);

/* Prints the document on standard output, with further 'flags' of json_dumpf(), and releases it. */
int command_print_json(json_t *document, size_t flags);

/* Returns the prefix of /sys, /proc and /dev: WEFT_SYSFS_ROOT in tests, otherwise "". */
const char *command_root(void);

/* An option of a command. In a table, the last entry is empty. */

#define COMMAND_OPTIONS_MAX  24
#define COMMAND_EXPECTED_MAX (WORD_LIST_HINT + 64)

struct command_option {
	const char *name;  /* without the hyphens */
	char letter;       /* short form; 0: none */
	int key;           /* the member of the request (option_key.h) */
	uint64_t min, max; /* limits of an OPTION_NUMBER */
	/* For an OPTION_MEMBER: parses the value. Returns false with 'expected' set, for the
	 * message "--NAME 'VALUE': expected …". */
	bool (*take)(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX]);
};

#define COMMAND_OUTPUT(type, member)                     \
	{                                                \
		"output", 'o', OPTION_TEXT(type, member) \
	}

/* Stores the options in 'request', and reduces the arguments, of which the first is the command's
 * name, to the other ones. Returns EXIT_DONE, or EXIT_BAD_REQUEST after an error. */
int command_options(const char *command, const struct command_option *options, void *request,
	int *argc, char ***argv);

/* Like option_find_unknown(). */
bool command_find_unknown(const struct command_option *options, int argc, char **argv,
	char name[OPTION_NAME_MAX], char hint[OPTION_HINT_MAX]);

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

/* Commands with subcommands, such as 'weft port list'. A single list of subcommands provides the
 * usage, the dispatch, and the message about an unknown subcommand. */

/* A subcommand. Must be the first member of the command's own struct, which contains the rest. */
struct command_part {
	const char *name; /* "list" */
	/* For command_part_parse(). */
	const char *arguments;             /* as shown in the usage */
	const struct argp_option *options; /* terminated by an empty entry */
	const char *doc;
	const char *exit; /* exit codes; NULL: 0, 2 and 3 */
};

/* A command with subcommands. */
struct command_parts {
	const char *command; /* "port" */
	const struct command_part
		*first; /* 'count' entries, each 'size' bytes after the previous one */
	size_t size;
	unsigned count;
	const char *usage; /* follows a line for each subcommand with 'arguments' */
};

/* Initialises command_parts from an array of structs whose first member 'is' is a command_part. */
#define COMMAND_PARTS(command, array, usage)                                                     \
	{                                                                                        \
		command, &(array)[0].is, sizeof((array)[0]), sizeof(array) / sizeof((array)[0]), \
			usage                                                                    \
	}

/* Returns the index of the subcommand named by argv[1]. Returns -1 after printing help or an error;
 * *code is then the exit code. */
int command_parts_choose(const struct command_parts *parts, int argc, char **argv, int *code);

/* Parses the arguments of a subcommand, whose name is argv[0], into 'input' with argp, using this
 * parser and 'flags'. Exits the program on an invalid option or --help. */
void command_part_parse(const struct command_parts *parts, const struct command_part *part,
	argp_parser_t parser, unsigned flags, int argc, char **argv, void *input);

/* Prints the usage of a subcommand on standard error, because the number of arguments is wrong.
 * Returns EXIT_BAD_REQUEST. */
enum weft_exit command_part_refuse(
	const struct command_parts *parts, const struct command_part *part);
