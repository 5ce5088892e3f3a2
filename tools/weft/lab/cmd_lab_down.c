/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab down */

#include "cmd_lab.h"

#include <stdio.h>
#include <unistd.h>

#include "lab_lock.h"

/* The run directory, not the lab file, knows the running processes: the file may have changed
 * since, and only the lab's name is read from it. */
static int find_run_dir(
	const struct lab_arguments *arguments, char *dir, size_t size, struct fault *fault)
{
	struct lab lab;
	int result;

	if (arguments->run_dir != NULL) {
		snprintf(dir, size, "%s", arguments->run_dir);
		return 0;
	}
	result = lab_open(&lab, arguments->file, NULL, fault);
	if (result < 0)
		return result;
	snprintf(dir, size, "%s", lab.plan->run_dir);
	lab_close(&lab);
	return 0;
}

/* As lab_take_down(), but -ENOENT: the lab is not up. */
static int take_down(const char *dir, unsigned *processes, struct fault *fault)
{
	struct lab_state state;
	int result = lab_state_load(&state, dir, fault);

	if (result < 0)
		return result;
	*processes = state.processes;
	return lab_take_down(&state, fault);
}

static int take_down_locked(const char *dir, unsigned *processes, struct fault *fault)
{
	struct lab_lock lock;
	int result = lab_lock_take(&lock, dir, "taken down", fault);

	if (result < 0 && result != -EINVAL && access(dir, F_OK) != 0)
		return -ENOENT; /* This user may not lock it, and nothing needs the lock. */
	if (result < 0)
		return result;
	result = take_down(dir, processes, fault);
	lab_lock_release(&lock);
	return result;
}

enum weft_exit cmd_lab_down(const struct lab_arguments *arguments)
{
	struct fault fault;
	unsigned processes;
	char dir[256];
	int result = find_run_dir(arguments, dir, sizeof(dir), &fault);

	if (result < 0)
		return command_fail("lab down", fault_exit_code(result), "%s", fault.text);
	result = take_down_locked(dir, &processes, &fault);
	if (result == -ENOENT) {
		printf("not up: %s\n", dir);
		return EXIT_DONE;
	}
	if (result < 0)
		return command_fail("lab down", fault_exit_code(result), "%s", fault.text);
	printf("down: %u processes ended", processes);
	if (result > 0)
		printf(" (%d did not end by themselves and were killed)", result);
	putchar('\n');
	return EXIT_DONE;
}
