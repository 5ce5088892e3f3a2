/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab logs: prints the output of a lab's processes, whichever machine they run on. */

#include "cmd_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_state.h"

#define COMMAND "lab logs"

static char *read_there(const struct lab_record *record, struct error *error)
{
	json_t *answer = lab_remote_call(record->remote,
		json_pack("{s:s,s:s}", "op", "log", "process", record->name), NULL, error);
	char *text = answer != NULL ? strdup(lab_text(answer, "text")) : NULL;

	json_decref(answer);
	return text;
}

static int show(const struct lab_state *state, const struct lab_record *record, struct error *error)
{
	char *text = record->remote != NULL ? read_there(record, error)
					    : lab_log_read(state, record, error);
	char *line, *rest;

	if (text == NULL)
		return -ENOENT;
	/* Prefixes each line with the name of its process. */
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0' || rest != NULL)
			printf("%s: %s\n", record->name, line);
	free(text);
	return 0;
}

/* Prints the logs of the named devices' processes, or all logs. Returns the code of the first
 * failure. */
static enum weft_exit show_chosen(
	const struct lab_arguments *arguments, const struct lab *lab, const struct lab_state *state)
{
	enum weft_exit code = EXIT_DONE;
	struct error error;

	for (unsigned i = 0; i < arguments->words; i++) {
		const char *device = arguments->word[i];
		const struct lab_record *record = lab_record_of(lab, state, device);

		if (lab_plan_find(lab->plan, device) < 0)
			code = command_fail(COMMAND, EXIT_BAD_REQUEST,
				"%s: no such switch or host in %s", device, lab->path);
		else if (record == NULL)
			code = command_fail(COMMAND, EXIT_BAD_REQUEST,
				"%s: the process of this device was not started here", device);
		else if (show(state, record, &error) < 0)
			code = command_fail(COMMAND, EXIT_NOT_ABLE, "%s", error.text);
	}
	for (unsigned i = 0; i < state->processes && arguments->words == 0; i++)
		if (show(state, &state->process[i], &error) < 0)
			code = command_fail(COMMAND, EXIT_NOT_ABLE, "%s", error.text);
	return code;
}

enum weft_exit cmd_lab_logs(const struct lab_arguments *arguments)
{
	return lab_with_running(arguments, COMMAND, show_chosen);
}
