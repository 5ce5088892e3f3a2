/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "commands.h"

#define MESSAGE_BYTES 4096

enum weft_exit command_fail(const char *name, enum weft_exit code, const char *format, ...)
{
	char text[MESSAGE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_escape(text, sizeof(text));
	fprintf(stderr, "weft %s: %s\n", name, text);
	return code;
}

enum weft_exit command_error(const char *name, int result, const struct error *error)
{
	return command_fail(name, error_exit_code(result), "%s", error->text);
}

void command_note(void *command, const char *text)
{
	command_fail(command, EXIT_DONE, "%s", text);
}

bool command_help(int argc, char **argv, const char *usage)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0) {
			fputs(usage, stdout);
			return true;
		}
	return false;
}

int command_print_json(json_t *document, size_t flags)
{
	int result = json_dumpf(document, stdout, JSON_INDENT(2) | flags);

	putchar('\n');
	json_decref(document);
	return result;
}

const char *command_root(void)
{
	const char *root = getenv("WEFT_SYSFS_ROOT");

	return root != NULL ? root : "";
}

/* --- options --- */

static int store(
	const char *command, const struct command_option *option, void *request, const char *value)
{
	void *member = (char *)request + option->key % OPTION_KEYS;
	char expected[COMMAND_EXPECTED_MAX];
	uint64_t number;
	bool good = option_key_store(request, option->key, value);

	if (!good && option->take != NULL) {
		good = option->take(member, value, expected);
	} else if (!good) {
		snprintf(expected, sizeof(expected), "%" PRIu64 " to %" PRIu64, option->min,
			option->max);
		good = quantity_number(value, option->min, option->max, &number);
		if (good)
			*(unsigned *)member = (unsigned)number;
	}
	if (good)
		return EXIT_DONE;
	return command_fail(
		command, EXIT_BAD_REQUEST, "--%s '%s': expected %s", option->name, value, expected);
}

static void fill_known(const struct command_option *options,
	struct option known[COMMAND_OPTIONS_MAX + 1], char letters[2 * COMMAND_OPTIONS_MAX + 1])
{
	for (int i = 0; options[i].name != NULL; i++) {
		bool flag = options[i].key / OPTION_KEYS == OPTION_SET_ / OPTION_KEYS;

		known[i] = (struct option){options[i].name, flag ? no_argument : required_argument,
			NULL, options[i].letter != 0 ? options[i].letter : UCHAR_MAX + 1 + i};
		if (options[i].letter != 0)
			snprintf(letters + strlen(letters), 3, "%c%s", options[i].letter,
				flag ? "" : ":");
	}
}

bool command_find_unknown(const struct command_option *options, int argc, char **argv,
	char name[OPTION_NAME_MAX], char hint[OPTION_HINT_MAX])
{
	struct option known[COMMAND_OPTIONS_MAX + 1] = {{NULL}};
	char letters[2 * COMMAND_OPTIONS_MAX + 1] = "";

	fill_known(options, known, letters);
	return option_find_unknown(known, false, argc, argv, name, hint);
}

int command_options(const char *command, const struct command_option *options, void *request,
	int *argc, char ***argv)
{
	struct option known[COMMAND_OPTIONS_MAX + 1] = {{NULL}};
	char letters[2 * COMMAND_OPTIONS_MAX + 1] = "", name[64], *word = (*argv)[0];
	char unknown[OPTION_NAME_MAX], hint[OPTION_HINT_MAX];
	int key, result = EXIT_DONE;

	fill_known(options, known, letters);
	if (option_find_unknown(known, false, *argc, *argv, unknown, hint))
		return command_fail(
			command, EXIT_BAD_REQUEST, "unrecognized option '--%s'%s", unknown, hint);
	snprintf(name, sizeof(name), "weft %s", command);
	(*argv)[0] = name; /* prefix of the messages of getopt_long() */
	optind = 0;
	while (result == EXIT_DONE &&
		(key = getopt_long(*argc, *argv, letters, known, NULL)) != -1) {
		unsigned i = 0;

		while (options[i].name != NULL && known[i].val != key)
			i++;
		result = options[i].name == NULL ? (int)EXIT_BAD_REQUEST
						 : store(command, &options[i], request, optarg);
	}
	(*argv)[0] = word;
	*argc -= optind;
	*argv += optind;
	return result;
}

/* --- command parts --- */

#define NAMES_BYTES 256
#define DOC_BYTES   1024

static const struct command_part *part_at(const struct command_parts *parts, unsigned i)
{
	return (const struct command_part *)((const char *)parts->first + i * parts->size);
}

static void print_usage(const struct command_parts *parts, FILE *out)
{
	for (unsigned i = 0; i < parts->count && part_at(parts, i)->arguments != NULL; i++)
		fprintf(out, "%s weft %s %-9s %s\n", i == 0 ? "usage:" : "      ", parts->command,
			part_at(parts, i)->name, part_at(parts, i)->arguments);
	fputs(parts->usage, out);
}

/* "list, bind, release or check". */
static void list_names(const struct command_parts *parts, char text[NAMES_BYTES])
{
	int used = 0;

	for (unsigned i = 0; i < parts->count && used < NAMES_BYTES; i++) {
		const char *between = i + 1 == parts->count ? " or " : ", ";

		used += snprintf(text + used, NAMES_BYTES - (size_t)used, "%s%s",
			i == 0 ? "" : between, part_at(parts, i)->name);
	}
}

int command_parts_choose(const struct command_parts *parts, int argc, char **argv, int *code)
{
	char names[NAMES_BYTES];

	if (argc < 2 || strcmp(argv[1], "--help") == 0) {
		print_usage(parts, argc < 2 ? stderr : stdout);
		*code = argc < 2 ? EXIT_BAD_REQUEST : EXIT_DONE;
		return -1;
	}
	for (unsigned i = 0; i < parts->count; i++)
		if (strcmp(part_at(parts, i)->name, argv[1]) == 0)
			return (int)i;
	list_names(parts, names);
	*code = (int)command_fail(
		parts->command, EXIT_BAD_REQUEST, "'%s': expected %s", argv[1], names);
	return -1;
}

void command_part_parse(const struct command_parts *parts, const struct command_part *part,
	argp_parser_t parser, unsigned flags, int argc, char **argv, void *input)
{
	char doc[DOC_BYTES], name[64], *word = argv[0];
	struct option known[OPTION_KNOWN_MAX + 1];
	char unknown[OPTION_NAME_MAX], hint[OPTION_HINT_MAX];
	const struct argp argp = {
		.options = part->options,
		.parser = parser,
		.args_doc = part->arguments,
		.doc = doc,
	};

	snprintf(doc, sizeof(doc), "%s\vExit: %s.", part->doc,
		part->exit != NULL
			? part->exit
			: "0 success, 2 invalid request, 3 not possible on this machine");
	snprintf(name, sizeof(name), "weft %s %s", parts->command, part->name);
	argv[0] = name;
	option_of_argp(part->options, known);
	if (option_find_unknown(known, (flags & ARGP_IN_ORDER) != 0, argc, argv, unknown, hint)) {
		fprintf(stderr, "%s: unrecognized option '--%s'%s\n", name, unknown, hint);
		exit(EXIT_BAD_REQUEST);
	}
	argp_err_exit_status = EXIT_BAD_REQUEST;
	argp_parse(&argp, argc, argv, flags, NULL, input);
	argv[0] = word;
}

enum weft_exit command_part_refuse(
	const struct command_parts *parts, const struct command_part *part)
{
	fprintf(stderr, "weft %s %s: usage: weft %s %s [OPTION]...%s%s\n", parts->command,
		part->name, parts->command, part->name, part->arguments[0] != '\0' ? " " : "",
		part->arguments);
	return EXIT_BAD_REQUEST;
}
