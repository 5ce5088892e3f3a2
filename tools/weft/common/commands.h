/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The subcommands of 'weft', a file each. Each gets the arguments from its own name on (argv[0]
 * is "topo", "route", …), does its work and returns an enum weft_exit. Results go to standard
 * output, everything else to standard error. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fault.h"

/* Prints "weft NAME: text" on standard error and returns 'code'. */
enum weft_exit command_fail(const char *name, enum weft_exit code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with the text of the fault, and the exit code for 'result', a negative errno. */
enum weft_exit command_fault(const char *name, int result, const struct fault *fault);

/* Whether an argument after the name is --help; main() has made -h and 'weft help' to it. */
bool command_wants_help(int argc, char **argv);

/* Whether 'text' is a decimal number from 'min' to 'max'. */
bool command_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);
/* Reads the value of --jobs. 0, or -EINVAL and fault. */
int command_jobs(const char *text, unsigned max, unsigned *jobs, struct fault *fault);
/* Prints the document on standard output, with further 'flags' of json_dumpf(), and releases it. */
int command_print_json(json_t *document, size_t flags);

/* The prefix of /sys, /proc and /dev: WEFT_SYSFS_ROOT for tests, else "". */
const char *command_root(void);

int cmd_answer(int argc, char **argv);
int cmd_goal(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_route(int argc, char **argv);
int cmd_port(int argc, char **argv);
/* Becomes the Python of the command argv[0] (tools/python). */
int cmd_python(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_topo(int argc, char **argv);
int cmd_web(int argc, char **argv);
int cmd_words(int argc, char **argv);
