/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Signals and arguments, the same for weft-switch, weft-nic and weft-fabric. */

#include <argp.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/weft_error.h"

/* Makes SIGINT and SIGTERM set the returned flag; a second signal kills the program. Ignores
 * SIGPIPE. Call in the main thread before it starts others. */
const atomic_bool *program_catch_signals(void);
/* Makes another signal set the same flag. */
void program_catch_also(int number);

/* Returns the program's name for messages: the command that the user typed, which 'weft run' passes
 * in the environment, or 'own'. */
#define PROGRAM_COMMAND "WEFT_COMMAND"
const char *program_name(const char *own);

/* Returns the index of "--", which ends EAL's options; 0 if all options are the program's own. */
int program_separator(int argc, char **argv);

/* Parses argv[0] and the program's own options; 'flags' are passed to argp_parse(). Exits for
 * --help and -h (0) and on errors (2), which start with the program's name. */
void program_parse(const struct argp *argp, unsigned flags, int argc, char **argv, void *options);

/* Replaces a Weft program with another one (exec), in the same build folder or, if installed, in
 * LIBEXECDIR/weft. */

/* Executes 'name' with these arguments. Returns only on failure, with 'error' set: -ENOENT if the
 * program does not exist, or another error. */
int program_become(const char *name, char **argv, struct error *error);
