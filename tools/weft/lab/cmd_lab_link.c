/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab link: cuts a cable, or restores it, at its ends on this machine. */

#include "cmd_lab.h"

#include <stdio.h>
#include <string.h>

#include "lab_cable.h"

enum weft_exit cmd_lab_link(const struct lab_arguments *arguments)
{
	struct lab_cable cable = {.cut = strcmp(arguments->word[1], "down") == 0};
	struct lab_state state;
	enum weft_exit opened;
	struct error error;
	struct lab lab;
	int result;

	if (!cable.cut && strcmp(arguments->word[1], "up") != 0)
		return command_fail("lab link", EXIT_BAD_REQUEST, "'%s': expected down or up",
			arguments->word[1]);
	opened = lab_open_running(arguments, "lab link", &lab, &state);
	if (opened != EXIT_DONE)
		return opened;
	result = lab_cable_find(&lab, arguments->word[0], &cable, &error);
	if (result == 0)
		result = lab_cable_order(&lab, &state, &cable, &error);
	lab_state_free(&state);
	lab_close(&lab);
	if (result < 0)
		return command_fail("lab link", error_exit_code(result), "%s", error.text);
	printf("%s - %s is %s\n", cable.name[0], cable.name[1], cable.cut ? "cut" : "joined");
	return EXIT_DONE;
}
