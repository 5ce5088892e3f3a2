/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab clear */

#include <errno.h>
#include <stdio.h>

#include "lab/cmd_lab.h"
#include "lab_collect.h"

#define COMMAND "lab clear"

static enum weft_exit clear(
	const struct lab_arguments *arguments, const struct lab *lab, const struct lab_state *state)
{
	struct error error;
	json_t *all;
	unsigned silent;
	int result = lab_expect_one_machine(lab, state, &error);

	(void)arguments;
	if (result < 0)
		return command_error(COMMAND, result, &error);
	all = lab_collect_raw(lab, state);
	silent = lab_count_not(json_object_get(all, "processes"), "running");
	result = silent > 0 ? error_set(&error, ETIMEDOUT,
				      "%u process%s did not answer: nothing was cleared", silent,
				      silent == 1 ? "" : "es")
			    : lab_cleared_write(state, all, &error);
	json_decref(all);
	if (result < 0)
		return command_error(COMMAND, result, &error);
	printf("%s: counters begin at 0\n", lab->plan->lab);
	return EXIT_DONE;
}

enum weft_exit cmd_lab_clear(const struct lab_arguments *arguments)
{
	return lab_with_running(arguments, COMMAND, clear);
}
