/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab status */

#include "cmd_lab.h"

#include <stdio.h>

#include "lab_collect.h"
#include "status_print.h"

enum weft_exit cmd_lab_status(const struct lab_arguments *arguments)
{
	struct lab_state state;
	struct lab lab;
	json_t *all;
	bool up;
	enum weft_exit result = lab_open_running(arguments, "lab status", &lab, &state);

	if (result != EXIT_DONE) {
		if (arguments->json && result == EXIT_BAD_ANSWER)
			puts("{\"up\": false}");
		return result;
	}
	all = lab_collect(&lab, &state, arguments->json);
	up = json_is_true(json_object_get(all, "up"));
	if (arguments->json)
		command_print_json(json_incref(all), 0);
	else if (arguments->wide)
		status_print_wide(all);
	else
		status_print(all);
	json_decref(all);
	lab_state_free(&state);
	lab_close(&lab);
	return up ? EXIT_DONE : EXIT_BAD_ANSWER;
}
