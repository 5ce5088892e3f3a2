/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab clear */

#include <errno.h>
#include <stdio.h>

#include "cmd_lab.h"
#include "lab_collect.h"

#define COMMAND "lab clear"

static enum weft_exit clear(const struct lab *lab, const struct lab_state *state)
{
	struct fault fault;
	json_t *all;
	unsigned silent;
	int result;

	if (state->remotes > 0)
		return command_fail(COMMAND, EXIT_BAD_REQUEST,
			"lab %s runs on several machines: expected --machine NAME, on that machine",
			lab->plan->lab);
	all = lab_collect_raw(lab, state);
	silent = lab_count_not(json_object_get(all, "processes"), "running");
	result = silent > 0 ? fault_set(&fault, ETIMEDOUT,
				      "%u process%s did not answer: nothing was cleared", silent,
				      silent == 1 ? "" : "es")
			    : lab_cleared_write(state, all, &fault);
	json_decref(all);
	if (result < 0)
		return command_fail(COMMAND, fault_exit_code(result), "%s", fault.text);
	printf("%s: counters begin at 0\n", lab->plan->lab);
	return EXIT_DONE;
}

enum weft_exit cmd_lab_clear(const struct lab_arguments *arguments)
{
	struct lab_state state;
	struct lab lab;
	enum weft_exit code = lab_open_running(arguments, COMMAND, &lab, &state);

	if (code != EXIT_DONE)
		return code;
	code = clear(&lab, &state);
	lab_state_free(&state);
	lab_close(&lab);
	return code;
}
