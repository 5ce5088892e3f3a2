/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "console_orders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_lab.h"
#include "lab_kept.h"
#include "lab_query.h"

#define WORK_MS 60000

static bool has_machine(const struct lab *lab, const struct lab_config_machine *machine)
{
	for (unsigned i = 0; i < lab->config->machines.count; i++) {
		const struct lab_config_machine *at = &lab->config->machines.at[i];

		if (strcmp(at->name, machine->name) == 0 && strcmp(at->ssh, machine->ssh) == 0)
			return true;
	}
	return false;
}

/* Sessions with the machines of 'old' that are gone from 'lab'. */
static int open_gone(
	const struct lab *old, const struct lab *lab, struct lab_state *state, const char *control)
{
	unsigned count = old->config->machines.count;

	state->remote = calloc((size_t)count + 1, sizeof(*state->remote));
	if (state->remote == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		struct lab_ssh_target target = lab_remotes_target(old, i, control);

		if (!has_machine(lab, &old->config->machines.at[i]))
			lab_remote_start(&state->remote[state->remotes++], &target, lab->plan->lab);
	}
	return 0;
}

/* Where nothing of the lab is up, nothing has to end. */
static void greet(struct lab_state *state, bool *spare)
{
	for (unsigned i = 0; i < state->remotes; i++) {
		struct fault ignored;
		json_t *answer =
			lab_remote_greeted(&state->remote[i], LAB_REMOTE_GREET_MS, &ignored);

		spare[i] = answer != NULL && !json_is_true(json_object_get(answer, "up"));
		json_decref(answer);
	}
}

static void tell(const struct console_orders *orders, const char *lab)
{
	for (unsigned i = 0; i < orders->state->remotes; i++) {
		const char *name = orders->state->remote[i].target.name;

		if (orders->code[i] != EXIT_DONE)
			fprintf(stderr,
				"weft %s: machine %s is no longer in the file, and lab %s may "
				"still be up there: 'weft lab down %s' on that machine ends it\n",
				orders->command, name, lab, lab);
		else if (!orders->spare[i])
			printf("lab %s is down on machine %s, which is no longer in the file\n",
				lab, name);
	}
}

static void end_there(const struct lab *old, const struct lab *lab, const char *command)
{
	struct lab_state state = {.processes = 0};
	unsigned count = old->config->machines.count;
	bool *spare = calloc((size_t)count + 1, sizeof(*spare));
	struct console_orders orders = {.command = command,
		.state = &state,
		.spare = spare,
		.code = calloc((size_t)count + 1, sizeof(*orders.code))};
	char control[LAB_SSH_CONTROL_MAX];

	lab_remotes_control(lab, control);
	if (spare == NULL || orders.code == NULL || open_gone(old, lab, &state, control) < 0) {
		command_fail(command, EXIT_NOT_ABLE, "no memory");
	} else {
		greet(&state, spare);
		lab_remotes_tell(&state, command);
		console_order_all(&orders, json_pack("{s:s}", "op", "down"), WORK_MS);
		tell(&orders, lab->plan->lab);
	}
	lab_state_free(&state);
	free(orders.code);
	free(spare);
}

void console_gone_end(const struct lab *lab, const char *command)
{
	char path[300];
	struct fault fault;
	struct lab old;

	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, lab->plan->run_dir);
	if (access(path, F_OK) != 0)
		return;
	if (lab_open(&old, path, lab->plan->run_dir, &fault) < 0) {
		fprintf(stderr,
			"weft %s: %s; on machines that are no longer in the file the lab may still "
			"be up\n",
			command, fault.text);
		return;
	}
	end_there(&old, lab, command);
	lab_close(&old);
}
