/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Commands that a console gives to all machines of a lab at once, and what they say. */

#include <jansson.h>

#include "experiment/lab/lab.h"
#include "lab/cmd_lab.h"
#include "lab/lab_remotes.h"
#include "lab/lab_state.h"

struct console_commands {
	const char *command; /* "lab up", for messages */
	struct lab_state *state;
	const bool *spare; /* [machine] that gets no order, and counts as done; NULL: none */
	/* [machine] of the last order; what cannot be reached: EXIT_NOT_ABLE */
	enum weft_exit *code;
};

/* Sends the request, whose reference it takes, to all machines that can be reached, and waits for
 * their answers, for so long at most. A signal asks all of them to stop, and waits for a little
 * longer. Prints what they complain of, with the machine's name, and fills 'code'. */
void console_command_all(struct console_commands *orders, json_t *request, int timeout_ms);

/* Machines whose code is EXIT_DONE. */
unsigned console_commands_done(const struct console_commands *orders);
/* The exit code of the whole: EXIT_DONE; a bad request, if all that failed were one; else
 * EXIT_NOT_ABLE. */
enum weft_exit console_commands_code(const struct console_commands *orders);
