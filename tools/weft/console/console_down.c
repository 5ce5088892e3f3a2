/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab down of a lab on several machines. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "console_commands.h"
#include "lab/cmd_lab.h"
#include "lab/lab_signals.h"
#include "os/private_dir.h"

#define COMMAND "lab down"
#define WORK_MS 60000

/* Ends the connection that commands share. */
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
	/* The names of sockets are hashes. */
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
		"lab %s may still be up on %u machines; 'weft lab down %s' again when they can be "
		"reached",
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
		return command_fail(COMMAND, error_exit_code(result), "%s", error.text);
	orders.code = calloc((size_t)state.remotes + 1, sizeof(*orders.code));
	if (orders.code == NULL) {
		lab_state_free(&state);
		return command_fail(COMMAND, EXIT_NOT_ABLE, "no memory");
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
