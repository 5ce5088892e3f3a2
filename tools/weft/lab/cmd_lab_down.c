/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/quantity.h"
#include "cmd_lab.h"
#include "lab_bundle.h"
#include "lab_lock.h"
#include "lab_snapshot.h"
#include "os/private_dir.h"

/* weft lab down */

/* Finds the running processes in the run directory: the lab file may have changed since the start,
 * but a different file with the same name must not end the lab. */
static int find_run_dir(const struct lab_arguments *arguments, char *dir, size_t size,
	bool *console, struct error *error)
{
	struct lab_target target = {.by_name = true};
	struct lab lab;
	int result = 0;

	if (arguments->run_dir != NULL) {
		snprintf(target.dir, sizeof(target.dir), "%s", arguments->run_dir);
		target.console = arguments->machine == NULL && lab_snapshot_is_console(target.dir);
	} else {
		result = lab_snapshot_find(arguments, &target, error);
	}
	if (result < 0)
		return result;
	if (target.dir[0] == '\0') {
		result = lab_snapshot_open(arguments, &lab, &target, error);
		if (result < 0)
			return result;
		snprintf(target.dir, sizeof(target.dir), "%s", lab.plan->run_dir);
		result = lab_snapshot_check_source(&lab, error);
		lab_close(&lab);
		if (result < 0)
			return result;
	}
	*console = target.console;
	snprintf(dir, size, "%s", target.dir);
	return 0;
}

/* Takes down the lab on the machines on which it was started from here, or else on the file's. */
static enum weft_exit down_locked(const char *file, const char *dir)
{
	static const char *const names[] = {LAB_KEPT_FILE "*", NULL};
	char path[300];
	struct error error;
	enum weft_exit code;
	struct lab lab;
	bool kept;
	int result;

	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, dir);
	kept = access(path, F_OK) == 0;
	/* Left behind by an 'up' that was killed before it contacted any machine. */
	if (!kept && access(file, F_OK) != 0 && private_dir_remove(dir, names, NULL) == 0) {
		printf("%s down on 0 of 0 machines\n", file);
		return EXIT_DONE;
	}
	result = lab_open(&lab, kept ? path : file, dir, &error);
	if (result < 0)
		return command_error("lab down", result, &error);
	code = console_down(&lab);
	lab_close(&lab);
	return code;
}

static enum weft_exit down_there(const char *file, const char *dir)
{
	struct lab_lock lock;
	struct error error;
	enum weft_exit code;
	int result = lab_lock_take(&lock, dir, "taken down", &error);

	if (result < 0)
		return command_error("lab down", result, &error);
	code = down_locked(file, dir);
	lab_lock_release(&lock);
	return code;
}

/* Like lab_take_down(). -ENOENT: the lab is not up. */
static int take_down(const char *dir, unsigned *processes, struct error *error)
{
	struct lab_state state;
	int result = lab_state_load(&state, dir, error);

	*processes = 0;
	if (result == -ENOENT && lab_state_remove_empty(dir))
		return 0;
	if (result < 0)
		return result;
	*processes = state.processes;
	return lab_take_down(&state, error);
}

int lab_down(const char *dir, unsigned *processes, struct error *error)
{
	struct lab_lock lock;
	int result = lab_lock_take(&lock, dir, "taken down", error);

	if (result < 0 && result != -EINVAL && access(dir, F_OK) != 0 && errno == ENOENT)
		return -ENOENT; /* This user may not lock it, but no lock is needed. */
	if (result < 0)
		return result;
	result = take_down(dir, processes, error);
	if (result >= 0 || result == -ENOENT)
		lab_bundle_remove(dir, NULL);
	lab_lock_release(&lock);
	return result;
}

static void print_down(const char *lab, unsigned processes, int killed)
{
	printf("%s%sdown: %u process%s ended", lab, lab[0] != '\0' ? " " : "", processes,
		plural(processes, "es"));
	if (killed > 0)
		printf(" (%d did not end on their own and were killed)", killed);
	putchar('\n');
}

/* 'context' is the number of labs that could not be taken down. */
static int down_one(void *context, const char *name, const char *dir, const struct lab_state *state,
	struct error *error)
{
	unsigned processes = 0, *failed = context;
	int result;

	if (state == NULL) {
		*failed += down_there(name, dir) != EXIT_DONE;
		return 0;
	}
	result = lab_down(dir, &processes, error);
	if (result >= 0) {
		print_down(name, processes, result);
	} else if (result != -ENOENT) {
		command_error("lab down", result, error);
		(*failed)++;
	}
	return 0;
}

static enum weft_exit down_all(void)
{
	struct error error;
	unsigned failed = 0;

	lab_list_each(true, down_one, &failed, &error);
	lab_list_each(false, down_one, &failed, &error);
	return failed == 0 ? EXIT_DONE : EXIT_NOT_ABLE;
}

static enum weft_exit not_up(const struct lab_arguments *arguments, const char *what)
{
	if (!arguments->if_up)
		return command_fail("lab down", EXIT_BAD_REQUEST,
			"%s is not up; use --if-up if this is not an error", what);
	printf("not up: %s\n", what);
	return EXIT_DONE;
}

/* Cleans up after a lab without a folder: a killed 'up' or 'down' may have left files next to
 * it. */
static enum weft_exit down_remains(const struct lab_arguments *arguments)
{
	static const char *const ends[] = {"", LAB_CONSOLE_END};
	char labs[RUNTIME_DIR_MAX], dir[RUNTIME_DIR_MAX + LAB_NAME_MAX + sizeof(LAB_CONSOLE_END)];
	struct error error;
	unsigned processes;

	runtime_dir_labs(labs);
	for (unsigned i = 0; i < 2; i++)
		if (snprintf(dir, sizeof(dir), "%s/%s%s", labs, arguments->file, ends[i]) <
			(int)sizeof(dir))
			lab_down(dir, &processes, &error);
	return not_up(arguments, arguments->file);
}

enum weft_exit cmd_lab_down(const struct lab_arguments *arguments)
{
	struct error error;
	bool console = false;
	unsigned processes;
	char dir[256];
	int result;

	if (arguments->all)
		return down_all();
	result = find_run_dir(arguments, dir, sizeof(dir), &console, &error);
	if (result == -ENOENT && arguments->run_dir == NULL &&
		strpbrk(arguments->file, "/.") == NULL)
		return down_remains(arguments);
	if (result < 0)
		return command_error("lab down", result, &error);
	if (console)
		return down_there(arguments->file, dir);
	result = lab_down(dir, &processes, &error);
	if (result == -ENOENT)
		return not_up(arguments, dir);
	if (result < 0)
		return command_error("lab down", result, &error);
	print_down("", processes, result);
	return EXIT_DONE;
}

/* weft lab restart: ends processes of a running lab, and starts them again. */

#define COMMAND "lab restart"

/* Returns 0, or -EINVAL with error set. */
static int check(const struct lab_arguments *arguments, const struct lab *lab,
	const struct lab_state *state, struct error *error)
{
	int result = lab_expect_one_machine(lab, state, error);

	if (result < 0)
		return result;
	if (lab->plan->processes == 1)
		return error_set(error, EINVAL,
			"lab %s runs in a single process; 'weft lab up --restart' restarts the whole lab",
			lab->plan->lab);
	if (arguments->words > LAB_ONLY_MAX)
		return error_set(error, EINVAL, "at most %d devices are allowed", LAB_ONLY_MAX);
	for (unsigned i = 0; i < arguments->words; i++) {
		const char *device = arguments->word[i];

		if (lab_plan_find(lab->plan, device) < 0)
			return error_set(error, EINVAL, "%s: no such switch or host in lab %s",
				device, lab->plan->lab);
		if (lab_record_of(lab, state, device) == NULL)
			return error_set(
				error, EINVAL, "%s is not running on this machine", device);
	}
	return 0;
}

/* Restarts use the copy of the lab file in the run directory. */
enum weft_exit cmd_lab_restart(const struct lab_arguments *arguments)
{
	struct lab_arguments up = *arguments;
	char file[PATH_MAX], dir[sizeof(((struct lab_state *)NULL)->dir)];
	struct lab_state state;
	struct error error;
	struct lab lab;
	enum weft_exit opened = lab_open_running(arguments, COMMAND, &lab, &state);
	int result;

	if (opened != EXIT_DONE)
		return opened;
	result = check(arguments, &lab, &state, &error);
	snprintf(dir, sizeof(dir), "%s", state.dir);
	snprintf(file, sizeof(file), "%s/" LAB_KEPT_FILE, dir);
	lab_state_free(&state);
	lab_close(&lab);
	if (result < 0)
		return command_error(COMMAND, result, &error);
	up.file = file;
	up.run_dir = dir;
	up.again = true;
	up.only_count = arguments->words;
	for (unsigned i = 0; i < arguments->words; i++)
		up.only[i] = arguments->word[i];
	return cmd_lab_up(&up);
}
