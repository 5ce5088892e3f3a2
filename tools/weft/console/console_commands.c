/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console_commands.h"
#include "lab/lab_lock.h"
#include "lab/lab_query.h"
#include "os/private_dir.h"

#define LOOK_MS 100
#define STOP_MS 15000 /* extra time after a signal, for machines to finish their command */

/* Prints the machine's "weft lab up: x" as "weft lab up: machine b: x". */
static void print_said(const struct console_commands *orders, const char *machine, const char *said)
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

/* Deadline for the answers of all machines. */
struct patience {
	uint64_t until_ms;
	bool stopped;
};

/* Interrupts all machines after a signal, and shortens the deadline, because a stopped machine
 * would never answer. */
static void heed_signal(struct lab_state *state, struct patience *patience)
{
	uint64_t until = lab_now_ms() + STOP_MS;

	if (!lab_interrupted() || patience->stopped)
		return;
	patience->stopped = true;
	if (until < patience->until_ms)
		patience->until_ms = until;
	for (unsigned i = 0; i < state->remotes; i++)
		lab_remote_interrupt(&state->remote[i]);
}

static enum weft_exit wait_for(
	struct console_commands *orders, struct lab_remote *remote, struct patience *patience)
{
	enum weft_exit result;
	struct error error;
	json_t *answer;
	int code;

	while (lab_now_ms() < patience->until_ms && !lab_remote_wait(remote, LOOK_MS))
		heed_signal(orders->state, patience);
	answer = lab_remote_receive(remote, LOOK_MS, &code, &error);
	if (answer == NULL) {
		bool names = code == -EHOSTUNREACH;

		fprintf(stderr, "weft %s: %s%s%s%s\n", orders->command, names ? "" : "machine ",
			names ? "" : remote->target.name, names ? "" : ": ", error.text);
		return error_exit_code(code);
	}
	print_said(orders, remote->target.name, lab_text(answer, "err"));
	result = (enum weft_exit)json_integer_value(json_object_get(answer, "code"));
	json_decref(answer);
	return result;
}

static bool gets_order(const struct console_commands *orders, unsigned machine)
{
	return (orders->spare == NULL || !orders->spare[machine]) &&
	       !lab_remote_is_broken(&orders->state->remote[machine]);
}

void console_command_all(struct console_commands *orders, json_t *request, int timeout_ms)
{
	struct lab_state *state = orders->state;
	struct patience patience = {.until_ms = lab_now_ms() + (uint64_t)timeout_ms};

	for (unsigned i = 0; i < state->remotes; i++) {
		struct error error;
		bool spared = orders->spare != NULL && orders->spare[i];

		orders->code[i] = spared ? EXIT_DONE : EXIT_NOT_ABLE;
		if (gets_order(orders, i) &&
			lab_remote_send(&state->remote[i], json_incref(request), &error) < 0)
			fprintf(stderr, "weft %s: %s\n", orders->command, error.text);
	}
	json_decref(request);
	for (unsigned i = 0; i < state->remotes; i++)
		if (gets_order(orders, i))
			orders->code[i] = wait_for(orders, &state->remote[i], &patience);
}

unsigned console_commands_done(const struct console_commands *orders)
{
	unsigned done = 0;

	for (unsigned i = 0; i < orders->state->remotes; i++)
		done += orders->code[i] == EXIT_DONE;
	return done;
}

enum weft_exit console_commands_code(const struct console_commands *orders)
{
	enum weft_exit code = EXIT_DONE;

	for (unsigned i = 0; i < orders->state->remotes; i++)
		if (orders->code[i] == EXIT_BAD_REQUEST && code == EXIT_DONE)
			code = EXIT_BAD_REQUEST;
		else if (orders->code[i] != EXIT_DONE && orders->code[i] != EXIT_BAD_REQUEST)
			code = EXIT_NOT_ABLE;
	return code;
}

/* weft lab down for a lab on several machines. */

#define COMMAND "lab down"
#define WORK_MS 60000

/* Ends the SSH connection that commands share. */
static void end_sharing(const struct lab_ssh_target *target)
{
	struct lab_ssh_command command;
	pid_t pid;

	if (target->ssh[0] == '\0' || target->control[0] == '\0')
		return;
	lab_ssh_end_command(target, &command);
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		execvp(command.word[0], command.word);
		_exit(EXIT_NOT_ABLE);
	}
	if (pid > 0)
		lab_wait_child(pid);
}

void console_forget(const struct lab *lab)
{
	/* Socket names are hexadecimal hashes. */
	static const char *const names[] = {LAB_KEPT_FILE "*", "[0-9a-f]*", NULL};
	char control[LAB_SSH_CONTROL_MAX];

	lab_remotes_control(lab, control);
	for (unsigned i = 0; i < lab->config->machines.count; i++) {
		struct lab_ssh_target target = lab_remotes_target(lab, i, control);

		end_sharing(&target);
	}
	private_dir_remove(lab->plan->run_dir, names, NULL);
}

static unsigned count_spared(const struct console_commands *orders)
{
	unsigned spared = 0;

	for (unsigned i = 0; i < orders->state->remotes; i++)
		spared += orders->spare != NULL && orders->spare[i];
	return spared;
}

static enum weft_exit report(const struct console_commands *orders, const struct lab *lab)
{
	unsigned spared = count_spared(orders), all = orders->state->remotes - spared;
	unsigned done = console_commands_done(orders) - spared;

	printf("%s down on %u of %u machines\n", lab->plan->lab, done, all);
	if (done == all)
		return EXIT_DONE;
	return command_fail(COMMAND, console_commands_code(orders),
		"lab %s may still be up on %u machines; run 'weft lab down %s' again when they can be reached",
		lab->plan->lab, all - done, lab->plan->lab);
}

enum weft_exit console_end(const struct lab *lab, const bool *spare)
{
	struct lab_state state;
	struct console_commands orders = {.command = COMMAND, .state = &state, .spare = spare};
	struct error error;
	enum weft_exit code;
	int result = lab_remotes_open(lab, &state, &error);

	if (result < 0)
		return command_error(COMMAND, result, &error);
	orders.code = calloc((size_t)state.remotes + 1, sizeof(*orders.code));
	if (orders.code == NULL) {
		lab_state_free(&state);
		return command_fail(COMMAND, EXIT_NOT_ABLE, "out of memory");
	}
	lab_remotes_send(&state, COMMAND);
	console_command_all(&orders, json_pack("{s:s}", "op", "down"), WORK_MS);
	code = report(&orders, lab);
	free(orders.code);
	lab_state_free(&state);
	return code;
}

enum weft_exit console_down(const struct lab *lab)
{
	enum weft_exit code = console_end(lab, NULL);

	if (code == EXIT_DONE)
		console_forget(lab);
	return code;
}
