/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "command_parts.h"

#include <string.h>

#include "commands.h"

#define NAMES_BYTES 256

void command_parts_print(const struct command_parts *parts, FILE *out)
{
	const char *name, *arguments;

	for (unsigned i = 0; (name = parts->at(i, &arguments)) != NULL; i++)
		fprintf(out, "%s weft %s %-8s %s\n", i == 0 ? "usage:" : "      ", parts->command,
			name, arguments);
}

/* "list, bind, release or check". */
static void list_names(const struct command_parts *parts, char text[NAMES_BYTES])
{
	const char *name, *between = "";
	int used = 0;

	for (unsigned i = 0; (name = parts->at(i, NULL)) != NULL && used < NAMES_BYTES; i++) {
		used += snprintf(text + used, NAMES_BYTES - (size_t)used, "%s%s", between, name);
		between = parts->at(i + 2, NULL) == NULL ? " or " : ", ";
	}
}

int command_parts_choose(const struct command_parts *parts, int argc, char **argv, int *code)
{
	char names[NAMES_BYTES];
	const char *name;

	if (argc < 2 || strcmp(argv[1], "--help") == 0) {
		parts->print_usage(argc < 2 ? stderr : stdout);
		*code = argc < 2 ? EXIT_BAD_REQUEST : EXIT_DONE;
		return -1;
	}
	for (unsigned i = 0; (name = parts->at(i, NULL)) != NULL; i++)
		if (strcmp(name, argv[1]) == 0)
			return (int)i;
	list_names(parts, names);
	*code = (int)command_fail(
		parts->command, EXIT_BAD_REQUEST, "'%s', expected %s", argv[1], names);
	return -1;
}

void command_part_parse(const struct command_parts *parts, const struct argp *argp, unsigned flags,
	int argc, char **argv, void *input)
{
	char name[64], *part = argv[0];

	snprintf(name, sizeof(name), "weft %s %s", parts->command, part);
	argv[0] = name;
	argp_err_exit_status = EXIT_BAD_REQUEST;
	argp_parse(argp, argc, argv, flags, NULL, input);
	argv[0] = part;
}

enum weft_exit command_part_refuse(
	const struct command_parts *parts, const char *part, const char *arguments)
{
	fprintf(stderr, "usage: weft %s %s [OPTION]... %s\n", parts->command, part, arguments);
	return EXIT_BAD_REQUEST;
}
