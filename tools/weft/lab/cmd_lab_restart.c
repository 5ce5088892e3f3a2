/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab restart: ends processes of a lab that is up, and starts them again. */

#include "cmd_lab.h"

#include <limits.h>
#include <stdio.h>

#define COMMAND "lab restart"

/* 0, or -EINVAL and error. */
static int check(const struct lab_arguments *arguments, const struct lab *lab,
	const struct lab_state *state, struct error *error)
{
	int result = lab_expect_one_machine(lab, state, error);

	if (result < 0)
		return result;
	if (lab->plan->processes == 1)
		return error_set(error, EINVAL,
			"lab %s is one process; 'weft lab up --restart' starts all of it again",
			lab->plan->lab);
	if (arguments->words > LAB_ONLY_MAX)
		return error_set(error, EINVAL, "expected at most %d devices", LAB_ONLY_MAX);
	for (unsigned i = 0; i < arguments->words; i++) {
		const char *device = arguments->word[i];

		if (lab_plan_find(lab->plan, device) < 0)
			return error_set(error, EINVAL, "%s: no such switch or host in lab %s",
				device, lab->plan->lab);
		if (lab_record_of(lab, state, device) == NULL)
			return error_set(error, EINVAL, "%s does not run on this machine", device);
	}
	return 0;
}

/* Restarts from the copy of the lab file in the run directory. */
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
