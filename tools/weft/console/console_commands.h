/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Sends commands from the console to all machines of a lab concurrently. */

#include <jansson.h>

#include "experiment/lab/lab.h"
#include "lab/cmd_lab.h"
#include "lab/lab_remotes.h"
#include "lab/lab_state.h"

struct console_commands {
	const char *command; /* "lab up", for messages */
	struct lab_state *state;
	const bool *spare; /* [machine]: gets no command and counts as done; NULL: none */
	/* [machine]: exit code of the last command; EXIT_NOT_ABLE if unreachable */
	enum weft_exit *code;
};

/* Sends the request (takes its reference) to all reachable machines, and waits for their answers
 * until the timeout. After a signal, asks all machines to stop and waits up to 15 s longer. Prints
 * their errors with the name of the machine, and fills in 'code'. */
void console_command_all(struct console_commands *orders, json_t *request, int timeout_ms);

/* Returns the number of machines whose code is EXIT_DONE. */
unsigned console_commands_done(const struct console_commands *orders);
/* Returns the overall exit code: EXIT_DONE, EXIT_BAD_REQUEST if all failures were bad requests,
 * otherwise EXIT_NOT_ABLE. */
enum weft_exit console_commands_code(const struct console_commands *orders);
