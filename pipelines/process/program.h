/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Signals and arguments, the same for weft-switch, weft-nic and weft-fabric. */

#include <argp.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/weft_error.h"

/* SIGINT and SIGTERM set the returned flag; a second one kills the program. SIGPIPE is ignored.
 * Call it in the main thread, before it starts others. */
const atomic_bool *program_catch_signals(void);
/* Another signal that also sets it. */
void program_catch_also(int number);

/* The name of this program in messages: the command that was typed, which 'weft run' leaves in the
 * environment, or 'own'. */
#define PROGRAM_COMMAND "WEFT_COMMAND"
const char *program_name(const char *own);

/* The index of "--", which ends EAL's options; 0: all options are the program's own. */
int program_separator(int argc, char **argv);

/* Parses argv[0] and the program's own options, with 'flags' of argp_parse(). Exits for --help and
 * -h (0) and for errors (2), which start with the program's name. */
void program_parse(const struct argp *argp, unsigned flags, int argc, char **argv, void *options);

/* Replaces a Weft program with another one (exec), which is in the same build folder or, when
 * installed, in LIBEXECDIR/weft. */

/* Executes 'name' with these arguments. Returns only on failure: -ENOENT if there is no such
 * program; other errors are described in 'error'. */
int become(const char *name, char **argv, struct error *error);
