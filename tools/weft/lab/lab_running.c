/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The lab that is up, for all commands of 'weft lab'. */

#include "cmd_lab.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "experiment/run/run_files.h"
#include "lab_remotes.h"
#include "lab_slow_time.h"
#include "lab_snapshot.h"
#include "lab_spawn.h"
#include "os/atomic_file.h"

const struct lab_record *lab_record_of(
	const struct lab *lab, const struct lab_state *state, const char *device)
{
	int process = lab_plan_find(lab->plan, device);

	for (unsigned i = 0; i < state->processes && process >= 0; i++)
		if (strcmp(state->process[i].name, lab->plan->process[process].name) == 0)
			return &state->process[i];
	return NULL;
}

/* Loads the processes on this machine. 0, or -errno and error; -ENOENT: the lab is not up. */
static int load_here(const struct lab *lab, const struct lab_target *target,
	struct lab_state *state, struct error *error)
{
	int result = lab_state_load(state, lab->plan->run_dir, error);

	if (result < 0 || target->by_name)
		return result;
	result = lab_snapshot_check(lab, error);
	if (result < 0)
		lab_state_free(state);
	return result;
}

/* Loads the processes on all machines. Unreachable machines are reported and skipped. */
static int load_there(
	const struct lab *lab, const char *command, struct lab_state *state, struct error *error)
{
	unsigned broken;
	int result = lab_snapshot_check(lab, error);

	*state = (struct lab_state){.processes = 0};
	if (result == 0)
		result = lab_remotes_open(lab, state, error);
	if (result < 0)
		return result;
	broken = lab_remotes_send(state, command);
	if (broken < state->remotes && lab_remotes_up(state) > 0)
		return 0;
	result = broken == state->remotes
			 ? error_set(error, EHOSTUNREACH, "no machine of lab %s can be reached",
				   lab->plan->lab)
			 : -ENOENT;
	lab_state_free(state);
	return result;
}

/* '-o' must not name a file that the lab is made from. */
static int check_output(const struct lab_arguments *arguments, const struct lab *lab,
	const struct lab_target *target, struct error *error)
{
	char source[PATH_MAX];
	int result = run_files_refuse(&lab->config->run, arguments->output, error);

	if (result < 0 || !target->by_name)
		return result;
	lab_snapshot_source(target->dir, source, sizeof(source));
	return same_file_refuse(arguments->output, source, error);
}

enum weft_exit lab_open_running(const struct lab_arguments *arguments, const char *command,
	struct lab *lab, struct lab_state *state)
{
	struct lab_target target;
	struct error error;
	int result = lab_snapshot_open(arguments, lab, &target, &error);
	enum weft_exit code;

	if (result < 0)
		return command_fail(command, error_exit_code(result), "%s", error.text);
	result = check_output(arguments, lab, &target, &error);
	if (result < 0) {
		lab_close(lab);
		return command_fail(command, error_exit_code(result), "%s", error.text);
	}
	result = target.console ? load_there(lab, command, state, &error)
				: load_here(lab, &target, state, &error);
	if (result == 0)
		return EXIT_DONE;
	if (result == -ENOENT)
		code = command_fail(command, EXIT_BAD_ANSWER,
			"lab %s is not up; 'weft lab up %s' starts it", lab->plan->lab,
			arguments->file);
	else
		code = command_fail(command, result == -EINVAL ? EXIT_BAD_REQUEST : EXIT_NOT_ABLE,
			"%s", error.text);
	lab_close(lab);
	return code;
}

enum weft_exit lab_with_running(
	const struct lab_arguments *arguments, const char *command, lab_running_fn *work)
{
	struct lab_state state;
	struct lab lab;
	enum weft_exit code = lab_open_running(arguments, command, &lab, &state);

	if (code != EXIT_DONE)
		return code;
	code = work(arguments, &lab, &state);
	lab_state_free(&state);
	lab_close(&lab);
	return code;
}

int lab_expect_one_machine(
	const struct lab *lab, const struct lab_state *state, struct error *error)
{
	if (state->remotes == 0)
		return 0;
	return error_set(error, EINVAL,
		"lab %s runs on several machines: expected --machine NAME, on that machine",
		lab->plan->lab);
}

int lab_take_down(struct lab_state *state, struct error *error)
{
	int result = lab_uplink_remove(state->uplink, error);
	int killed = (int)lab_end_processes(state, LAB_END_MS);

	for (unsigned i = 0; i < state->netns_count && result == 0; i++)
		result = lab_veth_remove(state->netns[i], error);
	lab_slow_time_forget(state->dir);
	if (result == 0)
		result = lab_state_remove(state, error);
	lab_state_free(state);
	return result < 0 ? result : killed;
}
