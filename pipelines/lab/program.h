/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Signals and arguments, the same for weft-switch, weft-nic and weft-fabric. */

#include <stdatomic.h>
#include <stdbool.h>

/* SIGINT and SIGTERM set the returned flag; a second one kills the program. SIGPIPE is ignored.
 * Call it in the main thread, before it starts others. */
const atomic_bool *program_catch_signals(void);

/* The index of "--", which ends EAL's options; 0: all options are the program's own. */
int program_separator(int argc, char **argv);

/* Hands argv[0] and the program's own options to 'parse'. */
void program_parse(
	int argc, char **argv, void (*parse)(void *options, int argc, char **argv), void *options);
