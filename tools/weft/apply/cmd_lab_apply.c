/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab apply: changes the devices and cables of a running lab to match a file. Everything is
 * checked before anything changes. The files in the run directory change first: if 'apply' is
 * killed, the next 'apply' completes the change, and 'down' finds every process. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/lab_lock.h"
#include "lab/lab_query.h"
#include "lab/lab_snapshot.h"
#include "lab/lab_spawn.h"
#include "lab/lab_state.h"
#include "lab_apply.h"

#define COMMAND "lab apply"
#define STEP_MS 50

/* --- opening --- */

static int open_labs(struct lab_apply *apply, struct error *error)
{
	const struct lab_arguments *arguments = apply->arguments;
	struct lab_security security;
	int result = lab_state_load(&apply->up.state, apply->dir, error);

	if (result == 0 && apply->up.state.starting)
		return error_set(error, ESRCH,
			"the lab in %s is not up; 'weft lab up %s' starts it", apply->dir,
			arguments->file);
	if (result < 0)
		return result;
	snprintf(apply->kept, sizeof(apply->kept), "%s/" LAB_KEPT_FILE, apply->dir);
	result = lab_open(&apply->from, apply->kept, apply->dir, error);
	if (result == 0)
		result = lab_check_changes(&apply->from, error);
	if (result == 0)
		result = lab_security_load(&apply->from, &security, error);
	if (result < 0)
		return result;
	lab_security_wipe(&security);
	apply->fabric = security.fabric;
	return lab_open_change(&apply->up.lab, arguments->file, &apply->from, apply->fabric, error);
}

/* Selects the processes to start: those that are not running, and those to be restarted. */
static int choose_processes(struct lab_apply *apply, struct error *error)
{
	const struct lab_plan *plan = apply->up.lab.plan;

	apply->restart = calloc(plan->processes, sizeof(*apply->restart));
	apply->up.ended = calloc(plan->processes, sizeof(*apply->up.ended));
	if (apply->restart == NULL || apply->up.ended == NULL)
		return error_set(error, ENOMEM, "out of memory");
	lab_apply_find_restarts(apply);
	for (unsigned i = 0; i < plan->processes; i++)
		apply->up.ended[i] =
			apply->restart[i] || !lab_apply_runs(apply, plan->process[i].name);
	return 0;
}

/* --- the steps --- */

/* 'ending': also lists the processes of removed devices, until they have ended. */
static int write_devices(const struct lab_apply *apply, bool ending, struct error *error)
{
	struct lab_devices devices = {.fabric = 0}, before = {.fabric = 0};
	int result = lab_devices_of(&devices, &apply->up.lab, apply->fabric);

	if (result == 0 && ending)
		result = lab_devices_of(&before, &apply->from, apply->fabric);
	if (result < 0)
		error_set(error, ENOMEM, "out of memory");
	for (unsigned kind = 0; kind < 2 && result == 0; kind++)
		for (uint32_t i = 0; i < before.count[kind]; i++)
			if (devices.at[kind][i].process[0] == '\0')
				devices.at[kind][i] = before.at[kind][i];
	if (result == 0)
		result = lab_devices_write(&devices, apply->dir, error);
	lab_devices_free(&devices);
	lab_devices_free(&before);
	return result;
}

static int write_files(const struct lab_apply *apply, struct error *error)
{
	int result = write_devices(apply, true, error);

	if (result == 0)
		result = lab_snapshot_write(&apply->up.lab, error);
	return result == 0 ? lab_up_write_plan(&apply->up, error) : result;
}

/* Ends the recorded processes for which 'ends' returns true. */
static int end_processes(struct lab_apply *apply,
	bool (*ends)(const struct lab_apply *apply, const char *process), bool forget,
	struct error *error)
{
	struct lab_state *state = &apply->up.state;
	struct lab_state some = {.process = calloc(state->processes + 1u, sizeof(*some.process))};

	if (some.process == NULL)
		return error_set(error, ENOMEM, "out of memory");
	for (unsigned i = 0; i < state->processes; i++)
		if (ends(apply, state->process[i].name))
			some.process[some.processes++] = state->process[i];
	lab_end_processes(&some, LAB_END_MS);
	for (unsigned i = 0; i < some.processes && forget; i++)
		lab_state_drop(state, some.process[i].name);
	free(some.process);
	return lab_state_save(state, error);
}

static bool is_restarted(const struct lab_apply *apply, const char *process)
{
	int number = lab_plan_find(apply->up.lab.plan, process);

	return number >= 0 && apply->restart[number];
}

static bool is_removed(const struct lab_apply *apply, const char *process)
{
	return lab_plan_find(apply->up.lab.plan, process) < 0;
}

/* Returns -EAGAIN if the process does not accept commands. */
static int ask_process(
	const struct lab_apply *apply, const struct lab_record *record, struct error *error)
{
	struct lab_connection connection;
	json_t *answer;
	int result = lab_connect(&connection, record, error);

	if (result < 0)
		return -EAGAIN;
	answer = lab_control_json(&connection, record, apply->dir, "cables", error);
	lab_disconnect(&connection);
	if (answer == NULL)
		result = -EAGAIN;
	else if (lab_text(answer, "error")[0] != '\0')
		result = error_set(error, ENODEV,
			"%s: %s; run 'weft lab apply' again to apply the remaining changes",
			record->name, lab_text(answer, "error"));
	json_decref(answer);
	return result;
}

/* Retries while the process is starting, because a killed 'apply' may have just started it. */
static int order_process(
	const struct lab_apply *apply, const struct lab_record *record, struct error *error)
{
	uint64_t deadline = lab_now_ms() + lab_real_ms(&apply->up.lab, apply->arguments->wait_ps);
	int result;

	while ((result = ask_process(apply, record, error)) == -EAGAIN &&
		lab_record_alive(record) && lab_now_ms() < deadline && !lab_interrupted())
		lab_sleep_ms(STEP_MS);
	return result;
}

/* Changes the cables of the running processes that stay. Processes of removed devices are ended
 * afterwards. */
static int order_cables(const struct lab_apply *apply, struct error *error)
{
	const struct lab_state *state = &apply->up.state;
	int result = 0;

	for (unsigned i = 0; i < state->processes && result == 0; i++) {
		int number = lab_plan_find(apply->up.lab.plan, state->process[i].name);

		if (lab_interrupted())
			return error_set(error, EINTR, "interrupted");
		if (number >= 0 && !apply->up.ended[number])
			result = order_process(apply, &state->process[i], error);
	}
	return result;
}

/* Waits until the mapper has discovered the fabric that the file describes, or until the timeout.
 */
static int wait_whole(struct lab_apply *apply, struct error *error)
{
	struct lab_up *up = &apply->up;
	uint64_t deadline = lab_now_ms() + lab_real_ms(&up->lab, apply->arguments->wait_ps);
	int result = lab_up_wait_whole(up, error);

	while (result == 0 && up->mapper.miscabled > 0 && lab_now_ms() < deadline) {
		if (lab_interrupted())
			return error_set(error, EINTR, "interrupted");
		lab_sleep_ms(STEP_MS);
		result = lab_wait_mapped(
			&up->lab, &up->state, false, deadline - lab_now_ms(), &up->mapper, error);
	}
	return result;
}

static int carry_out(struct lab_apply *apply, struct error *error)
{
	int result = write_files(apply, error);

	if (result == 0)
		result = end_processes(apply, is_restarted, false, error);
	if (result == 0)
		result = lab_up_start(&apply->up, error);
	if (result == 0)
		result = order_cables(apply, error);
	if (result == 0)
		result = end_processes(apply, is_removed, true, error);
	if (result == 0)
		result = write_devices(apply, false, error);
	if (result == 0)
		result = wait_whole(apply, error);
	return result == 0 ? lab_uplink_make(&apply->up, error) : result;
}

/* --- the whole --- */

static int apply_locked(struct lab_apply *apply, struct error *error)
{
	uint64_t began = lab_now_ms();
	int result = open_labs(apply, error);

	if (result == 0)
		result = choose_processes(apply, error);
	if (result == 0)
		result = lab_apply_check(apply, error);
	if (result < 0)
		return result;
	lab_apply_print(apply, stdout);
	if (apply->arguments->dry_run)
		return 0;
	/* The whole plan is known before anything changes. */
	fflush(stdout);
	result = carry_out(apply, error);
	if (result < 0)
		return result;
	printf("lab %s matches the file after %" PRIu64 " ms\n", apply->up.lab.plan->lab,
		lab_now_ms() - began);
	if (apply->up.mapper.miscabled > 0)
		fprintf(stderr,
			"weft " COMMAND
			": warning: the fabric that the mapper discovered differs from the file; 'weft lab map %s' shows the differences\n",
			apply->up.lab.plan->lab);
	return 0;
}

/* Excludes 'up', 'down' and runs. The traffic of a run uses the hosts that existed at its start. */
static int take_locks(
	struct lab_apply *apply, struct lab_lock *lab, struct lab_lock *run, struct error *error)
{
	char dir[sizeof(apply->dir) + 8];
	int result = lab_lock_take(lab, apply->dir, "changed", error);

	snprintf(dir, sizeof(dir), "%s/run", apply->dir);
	return result == 0 ? lab_lock_take(run, dir, "changed", error) : result;
}

enum weft_exit cmd_lab_apply(const struct lab_arguments *arguments)
{
	struct lab_arguments up = *arguments;
	struct lab_apply apply = {.arguments = arguments, .up = {.arguments = &up, .again = true}};
	struct lab_lock lab = {.fd = -1}, run = {.fd = -1};
	struct error error;
	enum weft_exit code;
	int result;

	lab_catch_signals();
	result = lab_apply_find(&apply, &error);
	if (result == 0)
		result = take_locks(&apply, &lab, &run, &error);
	if (result == 0)
		result = apply_locked(&apply, &error);
	if (result < 0 && lab_interrupted())
		result = error_set(&error, EINTR, "interrupted");
	lab_lock_release(&run);
	lab_lock_release(&lab);
	code = result == 0        ? EXIT_DONE
	       : result == -ESRCH ? command_fail(COMMAND, EXIT_BAD_ANSWER, "%s", error.text)
				  : command_error(COMMAND, result, &error);
	json_decref(apply.up.elsewhere);
	free(apply.up.ready);
	free(apply.up.ended);
	free(apply.restart);
	lab_state_free(&apply.up.state);
	lab_close(&apply.up.lab);
	lab_close(&apply.from);
	return code;
}
