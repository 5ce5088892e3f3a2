/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "console_orders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_query.h"

#define LOOK_MS 100

/* "weft lab up: x" of the machine is "weft lab up: machine b: x" here. */
static void print_said(const struct console_orders *orders, const char *machine, const char *said)
{
	char *copy = strdup(said), *rest = copy, *line, prefix[64];
	size_t length = (size_t)snprintf(prefix, sizeof(prefix), "weft %s: ", orders->command);

	while (copy != NULL && (line = strsep(&rest, "\n")) != NULL) {
		if (*line == '\0')
			continue;
		if (strncmp(line, prefix, length) == 0)
			fprintf(stderr, "%smachine %s: %s\n", prefix, machine, line + length);
		else
			fprintf(stderr, "  %s:%s%s\n", machine, line[0] == ' ' ? "" : " ", line);
	}
	free(copy);
}

static enum weft_exit read_answer(
	const struct console_orders *orders, const struct lab_remote *remote, const json_t *answer)
{
	print_said(orders, remote->target.name, lab_text(answer, "err"));
	return (enum weft_exit)json_integer_value(json_object_get(answer, "code"));
}

static void interrupt_all(struct lab_state *state)
{
	for (unsigned i = 0; i < state->remotes; i++)
		lab_remote_interrupt(&state->remote[i]);
}

static enum weft_exit wait_for(
	struct console_orders *orders, struct lab_remote *remote, int timeout_ms, bool *stopped)
{
	enum weft_exit result;
	struct fault fault;
	json_t *answer;
	int code;

	for (int waited = 0; waited < timeout_ms && !lab_remote_wait(remote, LOOK_MS);
		waited += LOOK_MS)
		if (lab_interrupted() && !*stopped) {
			*stopped = true;
			interrupt_all(orders->state);
		}
	answer = lab_remote_receive(remote, LOOK_MS, &code, &fault);
	if (answer == NULL) {
		bool names = code == -EHOSTUNREACH;

		fprintf(stderr, "weft %s: %s%s%s%s\n", orders->command, names ? "" : "machine ",
			names ? "" : remote->target.name, names ? "" : ": ", fault.text);
		return fault_exit_code(code);
	}
	result = read_answer(orders, remote, answer);
	json_decref(answer);
	return result;
}

void console_order_all(struct console_orders *orders, json_t *request, int timeout_ms)
{
	struct lab_state *state = orders->state;
	bool stopped = false;

	for (unsigned i = 0; i < state->remotes; i++) {
		struct fault ignored;

		orders->code[i] = EXIT_NOT_ABLE;
		if (!lab_remote_is_broken(&state->remote[i]))
			lab_remote_send(&state->remote[i], json_incref(request), &ignored);
	}
	json_decref(request);
	for (unsigned i = 0; i < state->remotes; i++)
		if (!lab_remote_is_broken(&state->remote[i]))
			orders->code[i] = wait_for(orders, &state->remote[i], timeout_ms, &stopped);
}

unsigned console_orders_done(const struct console_orders *orders)
{
	unsigned done = 0;

	for (unsigned i = 0; i < orders->state->remotes; i++)
		done += orders->code[i] == EXIT_DONE;
	return done;
}

enum weft_exit console_orders_code(const struct console_orders *orders)
{
	enum weft_exit code = EXIT_DONE;

	for (unsigned i = 0; i < orders->state->remotes; i++)
		if (orders->code[i] == EXIT_BAD_REQUEST && code == EXIT_DONE)
			code = EXIT_BAD_REQUEST;
		else if (orders->code[i] != EXIT_DONE && orders->code[i] != EXIT_BAD_REQUEST)
			code = EXIT_NOT_ABLE;
	return code;
}
