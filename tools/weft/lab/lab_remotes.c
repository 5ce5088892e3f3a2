/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_remotes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/lab/lab_config.h"
#include "lab_query.h"

void lab_remotes_control(const struct lab *lab, char control[LAB_SSH_CONTROL_MAX])
{
	struct error error;

	control[0] = '\0';
	if (access(lab->plan->run_dir, W_OK) != 0)
		return;
	if (lab_ssh_control(lab->plan->run_dir, control, &error) < 0)
		fprintf(stderr, "weft lab: every command must log in to all machines again: %s\n",
			error.text);
}

struct lab_ssh_target lab_remotes_target(
	const struct lab *lab, unsigned machine, const char *control)
{
	const struct lab_config_machine *at = &lab->config->machines.at[machine];

	struct lab_ssh_target target = {.name = at->name, .ssh = at->ssh, .weft = at->weft};

	snprintf(target.control, sizeof(target.control), "%s", control);
	return target;
}

/* --- records --- */

static struct lab_record *record_at(
	struct lab_state *state, const struct lab_remote *remote, const char *name)
{
	for (unsigned i = 0; i < state->processes; i++)
		if (state->process[i].remote == remote && strcmp(state->process[i].name, name) == 0)
			return &state->process[i];
	return NULL;
}

/* Processes an answer to "open" or "state". */
static void take_answer(struct lab_state *state, struct lab_remote *remote, const json_t *answer)
{
	json_t *process;

	remote->up = json_flag_of(answer, "up");
	for (size_t i = 0;
		(process = json_array_get(json_object_get(answer, "processes"), i)) != NULL; i++) {
		struct lab_record *record = record_at(state, remote, lab_text(process, "name"));

		if (record == NULL)
			continue;
		record->pid = (pid_t)json_integer_value(json_object_get(process, "pid"));
		record->cpu_ns = json_count_of(process, "cpu_ns");
		record->restarts = (unsigned)json_count_of(process, "restarts");
	}
}

static int add_records(const struct lab *lab, struct lab_state *state, struct error *error)
{
	const struct lab_plan *plan = lab->plan;

	state->process = calloc((size_t)plan->processes + 1, sizeof(*state->process));
	if (state->process == NULL)
		return error_set(error, ENOMEM, "out of memory");
	for (unsigned i = 0; i < plan->processes; i++) {
		const struct lab_plan_process *process = &plan->process[i];
		struct lab_record *record = &state->process[state->processes++];
		int machine = lab_machine_of(lab->config, process->name);

		snprintf(record->name, sizeof(record->name), "%s", process->name);
		snprintf(record->prefix, sizeof(record->prefix), "%s", process->prefix);
		snprintf(record->program, sizeof(record->program), "%s",
			lab_role_program(process->role));
		record->remote = &state->remote[machine];
	}
	return 0;
}

/* --- sessions --- */

int lab_remotes_open(const struct lab *lab, struct lab_state *state, struct error *error)
{
	unsigned count = lab->config->machines.count;
	char control[LAB_SSH_CONTROL_MAX];
	int result;

	*state = (struct lab_state){.processes = 0};
	if (count == 0)
		return error_set(error, EINVAL, "%s: the lab file has no 'machines'", lab->path);
	snprintf(state->dir, sizeof(state->dir), "%s", lab->plan->run_dir);
	state->remote = calloc((size_t)count + 1, sizeof(*state->remote));
	if (state->remote == NULL)
		return error_set(error, ENOMEM, "out of memory");
	lab_remotes_control(lab, control);
	for (unsigned i = 0; i < count; i++) {
		struct lab_ssh_target target = lab_remotes_target(lab, i, control);

		lab_remote_start(&state->remote[state->remotes++], &target, lab->plan->lab);
	}
	result = add_records(lab, state, error);
	for (unsigned i = 0; i < count && result == 0; i++) {
		struct error ignored;
		json_t *answer =
			lab_remote_greeted(&state->remote[i], LAB_REMOTE_GREET_MS, &ignored);

		take_answer(state, &state->remote[i], answer);
		json_decref(answer);
	}
	if (result < 0)
		lab_state_free(state);
	return result;
}

void lab_remotes_refresh(struct lab_state *state)
{
	for (unsigned i = 0; i < state->remotes; i++) {
		struct lab_remote *remote = &state->remote[i];
		struct error ignored;
		json_t *answer;

		if (lab_remote_is_broken(remote))
			answer = lab_remote_retry(remote);
		else
			answer = lab_remote_call(
				remote, json_pack("{s:s}", "op", "state"), NULL, &ignored);
		if (answer != NULL)
			take_answer(state, remote, answer);
		json_decref(answer);
	}
}

unsigned lab_remotes_send(const struct lab_state *state, const char *command)
{
	unsigned broken = 0;

	for (unsigned i = 0; i < state->remotes; i++)
		if (lab_remote_is_broken(&state->remote[i])) {
			fprintf(stderr, "weft %s: %s\n", command, state->remote[i].why);
			broken++;
		}
	return broken;
}

unsigned lab_remotes_up(const struct lab_state *state)
{
	unsigned up = 0;

	for (unsigned i = 0; i < state->remotes; i++)
		up += !lab_remote_is_broken(&state->remote[i]) && state->remote[i].up;
	return up;
}

int lab_remotes_lock(struct lab_state *state, struct error *error)
{
	for (unsigned i = 0; i < state->remotes; i++) {
		struct lab_remote *remote = &state->remote[i];
		struct error there;
		json_t *answer;
		int code;

		if (lab_remote_is_broken(remote) || !remote->up)
			continue;
		answer = lab_remote_call(remote, json_pack("{s:s}", "op", "lock"), &code, &there);
		json_decref(answer);
		if (answer == NULL && code != -EHOSTUNREACH)
			return error_set(
				error, -code, "machine %s: %s", remote->target.name, there.text);
	}
	return 0;
}
