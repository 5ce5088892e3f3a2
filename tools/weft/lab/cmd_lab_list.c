/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab list */

#include "cmd_lab.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/lab/lab.h"
#include "lab_query.h"
#include "lab_snapshot.h"
#include "os/private_dir.h"

static int is_lab(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int visit_lab(
	const char *dir, const char *name, lab_list_visit visit, void *context, struct error *error)
{
	struct lab_state state;
	struct error ignored;
	int result;

	if (lab_state_load(&state, dir, &ignored) < 0)
		return 0;
	result = visit(context, name, dir, &state, error);
	lab_state_free(&state);
	return result;
}

int lab_list_each(bool consoles, lab_list_visit visit, void *context, struct error *error)
{
	char labs[RUNTIME_DIR_MAX], dir[RUNTIME_DIR_MAX + NAME_MAX + 2];
	struct dirent **entry = NULL;
	int result = 0, count;

	runtime_dir_labs(labs);
	count = scandir(labs, &entry, is_lab, alphasort);
	for (int i = 0; i < count; i++) {
		char *name = entry[i]->d_name, *end = strrchr(name, '.');

		snprintf(dir, sizeof(dir), "%s/%s", labs, name);
		if (result == 0 && !consoles) {
			result = visit_lab(dir, name, visit, context, error);
		} else if (result == 0 && end != NULL && strcmp(end, LAB_CONSOLE_END) == 0) {
			*end = '\0';
			result = visit(context, name, dir, NULL, error);
		}
		free(entry[i]);
	}
	free(entry);
	return result;
}

/* Returns how many processes are running, as in 'weft lab status': they also answer. */
static unsigned count_running(const struct lab_state *state)
{
	struct lab_connection connection;
	struct error ignored;
	unsigned running = 0;

	for (unsigned i = 0; i < state->processes; i++) {
		if (!lab_record_alive(&state->process[i]) ||
			lab_connect(&connection, &state->process[i], &ignored) < 0)
			continue;
		lab_disconnect(&connection);
		running++;
	}
	return running;
}

/* Length of the longest lab name. */
#define NAME_COLUMNS (LAB_NAME_MAX - 1)

static void print_title(unsigned *labs)
{
	if ((*labs)++ == 0)
		printf("%-*s %9s %8s  %s\n", NAME_COLUMNS, "lab", "processes", "dilation",
			"started from");
}

/* Only the machines of a console know which processes run. */
static int print_lab(void *context, const char *name, const char *dir,
	const struct lab_state *state, struct error *error)
{
	unsigned *labs = context;
	char source[512], processes[32] = "elsewhere";

	lab_snapshot_source(dir, source, sizeof(source));
	print_title(labs);
	if (state != NULL)
		snprintf(processes, sizeof(processes), "%4u/%-4u", count_running(state),
			state->processes);
	printf("%-*s %9s %8" PRIu32 "  %s\n", NAME_COLUMNS, name, processes,
		lab_form_dilation(dir, NULL), source);
	return 0;
}

static int add_lab(void *context, const char *name, const char *dir, const struct lab_state *state,
	struct error *error)
{
	char source[512];

	lab_snapshot_source(dir, source, sizeof(source));
	if (json_array_append_new(context,
		    json_pack("{s:s,s:s,s:s,s:I,s:o,s:o}", "lab", name, "run_dir", dir, "file",
			    source, "dilation", (json_int_t)lab_form_dilation(dir, NULL),
			    "processes",
			    state != NULL ? json_integer(state->processes) : json_null(), "running",
			    state != NULL ? json_integer(count_running(state)) : json_null())) != 0)
		return error_set(error, ENOMEM, "out of memory");
	return 0;
}

enum weft_exit cmd_lab_list(const struct lab_arguments *arguments)
{
	struct error error;
	unsigned labs = 0;
	json_t *list = arguments->json ? json_array() : NULL;
	int result = 0;

	for (unsigned consoles = 0; consoles < 2 && result == 0; consoles++)
		result = list != NULL ? lab_list_each(consoles, add_lab, list, &error)
				      : lab_list_each(consoles, print_lab, &labs, &error);
	if (result == 0 && list != NULL)
		command_print_json(json_incref(list), 0);
	json_decref(list);
	if (result < 0)
		return command_error("lab list", result, &error);
	if (!arguments->json && labs == 0)
		puts("no lab is up");
	return EXIT_DONE;
}
