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
#include "lab_snapshot.h"
#include "os/runtime_dir.h"

static int is_lab(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int lab_list_each(lab_list_visit visit, void *context, struct error *error)
{
	char labs[RUNTIME_DIR_MAX], dir[RUNTIME_DIR_MAX + NAME_MAX + 2];
	struct dirent **entry = NULL;
	int result = 0, count;

	runtime_dir_labs(labs);
	count = scandir(labs, &entry, is_lab, alphasort);
	for (int i = 0; i < count; i++) {
		struct lab_state state;
		struct error ignored;

		snprintf(dir, sizeof(dir), "%s/%s", labs, entry[i]->d_name);
		if (result == 0 && lab_state_load(&state, dir, &ignored) == 0) {
			result = visit(context, entry[i]->d_name, &state, error);
			lab_state_free(&state);
		}
		free(entry[i]);
	}
	free(entry);
	return result;
}

int lab_list_consoles(lab_list_console visit, void *context)
{
	char labs[RUNTIME_DIR_MAX], dir[RUNTIME_DIR_MAX + NAME_MAX + 2];
	struct dirent **entry = NULL;
	int result = 0, count;

	runtime_dir_labs(labs);
	count = scandir(labs, &entry, is_lab, alphasort);
	for (int i = 0; i < count; i++) {
		char *name = entry[i]->d_name, *end = strrchr(name, '.');

		snprintf(dir, sizeof(dir), "%s/%s", labs, name);
		if (end != NULL && strcmp(end, LAB_CONSOLE_END) == 0 && result == 0) {
			*end = '\0';
			result = visit(context, name, dir);
		}
		free(entry[i]);
	}
	free(entry);
	return result;
}

/* The longest name of a lab. */
#define NAME_COLUMNS (LAB_NAME_MAX - 1)

static void print_title(unsigned *labs)
{
	if ((*labs)++ == 0)
		printf("%-*s %9s %8s  %s\n", NAME_COLUMNS, "lab", "processes", "dilation",
			"started from");
}

static int print_console(void *context, const char *name, const char *dir)
{
	unsigned *labs = context;
	char source[512];

	lab_snapshot_source(dir, source, sizeof(source));
	print_title(labs);
	printf("%-*s %9s %8" PRIu32 "  %s\n", NAME_COLUMNS, name, "elsewhere",
		lab_form_dilation(dir, NULL), source);
	return 0;
}

static int print_lab(
	void *context, const char *name, const struct lab_state *state, struct error *error)
{
	unsigned *labs = context;
	char source[512];

	(void)error;
	lab_snapshot_source(state->dir, source, sizeof(source));
	print_title(labs);
	printf("%-*s %4u/%-4u %8" PRIu32 "  %s\n", NAME_COLUMNS, name, lab_state_count_alive(state),
		state->processes, lab_form_dilation(state->dir, NULL), source);
	return 0;
}

static int add_lab(
	void *context, const char *name, const struct lab_state *state, struct error *error)
{
	char source[512];

	lab_snapshot_source(state->dir, source, sizeof(source));
	if (json_array_append_new(
		    context, json_pack("{s:s,s:s,s:s,s:I,s:I,s:I}", "lab", name, "run_dir",
				     state->dir, "file", source, "dilation",
				     (json_int_t)lab_form_dilation(state->dir, NULL), "processes",
				     (json_int_t)state->processes, "running",
				     (json_int_t)lab_state_count_alive(state))) != 0)
		return error_set(error, ENOMEM, "no memory");
	return 0;
}

/* Its machines alone know which processes run. */
static int add_console(void *context, const char *name, const char *dir)
{
	char source[512];

	lab_snapshot_source(dir, source, sizeof(source));
	return json_array_append_new(
		context, json_pack("{s:s,s:s,s:s,s:I,s:n,s:n}", "lab", name, "run_dir", dir, "file",
				 source, "dilation", (json_int_t)lab_form_dilation(dir, NULL),
				 "processes", "running"));
}

static int write_json(struct error *error)
{
	json_t *labs = json_array();
	int result = lab_list_each(add_lab, labs, error);

	if (result == 0 && lab_list_consoles(add_console, labs) != 0)
		result = error_set(error, ENOMEM, "no memory");
	if (result == 0) {
		json_dumpf(labs, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(labs);
	return result;
}

enum weft_exit cmd_lab_list(const struct lab_arguments *arguments)
{
	struct error error;
	unsigned labs = 0;
	int result = arguments->json ? write_json(&error) : lab_list_each(print_lab, &labs, &error);

	if (result == 0 && !arguments->json)
		lab_list_consoles(print_console, &labs);
	if (result < 0)
		return command_fail("lab list", error_exit_code(result), "%s", error.text);
	if (!arguments->json && labs == 0)
		puts("no lab is up");
	return EXIT_DONE;
}
