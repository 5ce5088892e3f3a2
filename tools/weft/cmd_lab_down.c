/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab down */

#include "cmd_lab.h"

#include <stdio.h>
#include <string.h>

/* What is up is in the run directory, not in the file: that may have changed since, and has to be
 * readable only for the lab's name. */
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

enum weft_exit cmd_lab_down(const struct lab_arguments *arguments)
{
	struct lab_state state;
	struct fault fault;
	unsigned processes;
	char dir[256];
	int result = find_run_dir(arguments, dir, sizeof(dir), &fault);

	if (result < 0)
		return command_fail("lab down", fault_exit_code(result), "%s", fault.text);
	result = lab_state_load(&state, dir, &fault);
	if (result == -ENOENT) {
		printf("not up: %s\n", dir);
		return EXIT_DONE;
	}
	if (result < 0)
		return command_fail("lab down", EXIT_NOT_ABLE, "%s", fault.text);
	processes = state.processes;
	result = lab_take_down(&state, &fault);
	if (result < 0)
		return command_fail("lab down", EXIT_NOT_ABLE, "%s", fault.text);
	printf("down: %u processes ended", processes);
	if (result > 0)
		printf(" (%d did not end by themselves and were killed)", result);
	putchar('\n');
	return EXIT_DONE;
}
