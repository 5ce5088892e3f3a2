/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What the starts of weft-switch, weft-nic and weft-fabric have in common: how they are told to
 * stop, and which of their arguments are theirs. */

#include <stdatomic.h>
#include <stdbool.h>

/* SIGINT and SIGTERM set what is returned; a second one ends the program the hard way. SIGPIPE is
 * ignored. Main thread, before any other. */
const atomic_bool *program_catch_signals(void);

/* EAL's options stand before "--", ours after it, or all are ours. The index of the "--", or 0. */
int program_first_of_ours(int argc, char **argv);

/* Hands ours to 'parse', argv[0] before them. */
void program_parse(
	int argc, char **argv, void (*parse)(void *options, int argc, char **argv), void *options);
