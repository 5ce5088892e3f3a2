/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Commands that a console gives to all machines of a lab at once, and what they say. */

#include <jansson.h>

#include "cmd_lab.h"
#include "lab.h"
#include "lab_remotes.h"
#include "lab_state.h"

struct console_orders {
	const char *command; /* "lab up", for messages */
	struct lab_state *state;
	const bool *spare; /* [machine] that gets no order, and counts as done; NULL: none */
	/* [machine] of the last order; what cannot be reached: EXIT_NOT_ABLE */
	enum weft_exit *code;
};

/* Sends the request, whose reference it takes, to all machines that can be reached, and waits for
 * their answers, for so long at most. A signal asks all of them to stop, and waits for a little
 * longer. Prints what they complain of, with the machine's name, and fills 'code'. */
void console_order_all(struct console_orders *orders, json_t *request, int timeout_ms);

/* Machines whose code is EXIT_DONE. */
unsigned console_orders_done(const struct console_orders *orders);
/* The exit code of the whole: EXIT_DONE; a bad request, if all that failed were one; else
 * EXIT_NOT_ABLE. */
enum weft_exit console_orders_code(const struct console_orders *orders);

/* The time of day of machines, which captures of a lab have. Latencies do not depend on it
 * (lib/nic/clock). */

/* Whether the time of day of each machine, but those that are 'spare' ([machine]), is within a
 * second of the console's: 0, or -ETIME with fault, which names the first one and what to do. A
 * moment for each machine. One that does not answer is not judged; a signal ends it with 0. */
int console_check_clocks(const struct lab_state *state, const bool *spare, struct fault *fault);

/* Machines on which a lab was brought up, and which its file no longer has. */

/* Ends the lab on machines of the file that the console keeps (lab_kept.h) which are not in 'lab':
 * none of them has the same name and the same address. Prints on which it has ended, and for the
 * others which command does it there. 'command' is for messages. */
void console_gone_end(const struct lab *lab, const char *command);
