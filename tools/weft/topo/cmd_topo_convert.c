/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft topo import, export and dot: converts topologies to and from formats of other programs. */

#include "cmd_topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "common/output_file.h"
#include "topo/formats/topology_format.h"
#include "topo/topology_levels.h"

#define INPUT_MAX ((size_t)256 << 20) /* bytes; the largest network takes about 40 MB */

/* A regular expression of an option. */
struct pattern {
	regex_t regex;
	bool given;
};

struct request {
	const char *name; /* "topo export" */
	const struct topology_format *format;
	const char *in, *out; /* 'out' NULL or "-": standard output */
	bool reading;
	/* import */
	bool strict;
	struct pattern only, exclude;
	struct ib_addresses *addresses;
};

/* "ibnetdiscover, booksim or dot": the formats that can be read, or those that can be written. */
static void list_formats(bool reading, char *text, size_t size)
{
	const struct topology_format *format;
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; (format = topology_format_at(i)) != NULL; i++)
		if (reading ? format->read != NULL : format->write != NULL)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
				used == 0 ? "" : ", ", format->name);
}

static bool take_format(void *member, const char *name, char expected[COMMAND_EXPECTED_MAX])
{
	struct request *request = member;
	const struct topology_format *format = request->format = topology_format_find(name);
	char known[128];

	list_formats(request->reading, known, sizeof(known));
	snprintf(expected, COMMAND_EXPECTED_MAX, "one of %s", known);
	return format != NULL && (request->reading ? format->read != NULL : format->write != NULL);
}

static bool take_regex(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	struct pattern *pattern = member;
	char why[128];
	int code;

	strcpy(expected, "one extended regular expression");
	if (value[0] == '\0' || pattern->given)
		return false;
	code = regcomp(&pattern->regex, value, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	pattern->given = code == 0;
	if (code == 0)
		return true;
	regerror(code, &pattern->regex, why, sizeof(why));
	snprintf(expected, COMMAND_EXPECTED_MAX, "an extended regular expression (%s)", why);
	return false;
}

static int parse(struct request *request, int argc, char **argv)
{
#define S struct request
	static const struct command_option options[] = {
		{"strict", 0, OPTION_SET(S, strict)},
		{"only", 0, OPTION_MEMBER(S, only), .take = take_regex},
		{"exclude", 0, OPTION_MEMBER(S, exclude), .take = take_regex},
		/* also of export */
		{"format", 0, OPTION_WHOLE, .take = take_format},
		COMMAND_OUTPUT(S, out),
		{NULL},
	};
#undef S
	int result = command_options(
		request->name, request->reading ? options : &options[3], request, &argc, &argv);
	char known[128];

	if (result != EXIT_DONE)
		return result;
	list_formats(request->reading, known, sizeof(known));
	if (request->format == NULL)
		return command_fail(request->name, EXIT_BAD_REQUEST,
			"--format is missing; expected one of %s", known);
	if (argc == 0)
		return command_fail(request->name, EXIT_BAD_REQUEST, "a file is required");
	if (argc > 1)
		return command_fail(request->name, EXIT_BAD_REQUEST,
			"only one file is allowed; found a second: '%s'", argv[1]);
	request->in = argv[0];
	return EXIT_DONE;
}

static int write_format(const struct request *request, const struct topology *topology)
{
	struct output_file output = {
		.command = request->name, .path = request->out, .inputs = {request->in}};
	struct error error;
	int result = output_file_open(&output);

	if (result != EXIT_DONE)
		return result;
	result = request->format->write(topology, output.file, &error);
	if (result == 0)
		return output_file_close(&output);
	output_file_discard(&output);
	return command_error(request->name, result, &error);
}

static int export(const struct request *request)
{
	struct error error;
	struct topology *topology = topology_open(request->in, &error);
	int result;

	if (topology == NULL)
		return command_error(request->name, -errno, &error);
	result = write_format(request, topology);
	topology_destroy(topology);
	return result;
}

int cmd_topo_export(int argc, char **argv)
{
	struct request request = {.name = "topo export"};
	int result = parse(&request, argc, argv);

	return result == EXIT_DONE ? export(&request) : result;
}

/* Returns NULL after printing an error; '*result' is then the exit code. */
static struct topology *import_from(struct request *request, int *result)
{
	bool piped = strcmp(request->in, "-") == 0;
	struct topology_import import = {.strict = request->strict,
		.only = request->only.given ? &request->only.regex : NULL,
		.exclude = request->exclude.given ? &request->exclude.regex : NULL,
		.note = command_note,
		.context = (void *)(uintptr_t)request->name,
		.addresses = request->addresses};
	struct topology *topology = NULL;
	struct error error;
	size_t length;
	char *text = file_text_read(piped ? "/dev/stdin" : request->in, INPUT_MAX, &length, &error);

	if (text != NULL)
		topology = request->format->read(
			text, length, piped ? "stdin" : request->in, &import, &error);
	if (topology == NULL)
		*result = command_error(request->name, -errno, &error);
	free(text);
	return topology;
}

/* Recognises a format by words that occur only in its files. NULL: the line is inconclusive. */
static const struct topology_format *recognise_line(const char *line, size_t length)
{
	static const struct {
		const char *word;
		bool first; /* must be at the start of the line */
		const struct topology_format *format;
	} signs[] = {{"Podsize", true, &format_htsim}, {")==>", false, &format_iblinkinfo},
		{"PHY=", false, &format_opensm}, {"SwitchName=", true, &format_slurm},
		{"BlockName=", true, &format_slurm}, {"BlockSizes=", true, &format_slurm},
		{"- topology:", true, &format_slurm}, {"Switch\t", true, &format_ibnetdiscover},
		{"Switch ", true, &format_ibsim}, {"include ", true, &format_ibsim},
		{" - CA ", false, &format_ibnetdiscover_p},
		{" - SW ", false, &format_ibnetdiscover_p}, {"router ", true, &format_booksim}};

	for (unsigned i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		size_t word = strlen(signs[i].word);

		if (signs[i].first ? strncasecmp(line, signs[i].word, word) == 0
				   : memmem(line, length, signs[i].word, word) != NULL)
			return signs[i].format;
	}
	return NULL;
}

/* Returns NULL for a topology file or a generator. */
static const struct topology_format *recognise(const char *text, size_t length)
{
	const struct topology_format *format = NULL;
	size_t line;

	if (memmem(text, length, "weft: topology", strlen("weft: topology")) != NULL)
		return NULL;
	for (const char *at = text; *at != '\0' && format == NULL;
		at += line + (at[line] != '\0')) {
		at += strspn(at, " \t\r");
		line = strcspn(at, "\n");
		if (*at != '#')
			format = recognise_line(at, line);
	}
	if (format != NULL)
		return format;
	return text[0] >= '0' && text[0] <= '9' ? &format_ns3 : NULL;
}

struct topology *cmd_topo_read_listing(
	const char *command, const char *path, struct ib_addresses *addresses, int *result)
{
	struct request request = {.name = command, .in = path, .addresses = addresses};
	struct topology *topology;
	struct error error;
	size_t length;
	char *text = topology_is_generated(path) ? NULL
						 : file_text_read(path, INPUT_MAX, &length, &error);

	if (text != NULL)
		request.format = recognise(text, length);
	free(text);
	if (request.format != NULL) {
		topology = import_from(&request, result);
		if (topology != NULL && !topology_has_levels(topology) &&
			topology_levels_find(topology, &error) == -ENOMEM)
			*result = command_error(command, -ENOMEM, &error);
		return topology;
	}
	topology = topology_open(path, &error);
	if (topology == NULL)
		*result = command_error(command, -errno, &error);
	return topology;
}

static int import(struct request *request)
{
	int result = EXIT_DONE;
	struct topology *topology = import_from(request, &result);
	struct error why;

	if (topology == NULL)
		return result;
	if (!topology_has_levels(topology) && topology_levels_find(topology, &why) < 0)
		fprintf(stderr, "weft %s: %s\n", request->name, why.text);
	cmd_topo_print_levels(topology, stderr);
	result = cmd_topo_write(request->name, topology, request->in, request->out);
	topology_destroy(topology);
	return result;
}

int cmd_topo_import(int argc, char **argv)
{
	struct request request = {.name = "topo import", .reading = true};
	int result = parse(&request, argc, argv);

	if (result == EXIT_DONE)
		result = import(&request);
	if (request.only.given)
		regfree(&request.only.regex);
	if (request.exclude.given)
		regfree(&request.exclude.regex);
	return result;
}

int cmd_topo_dot(int argc, char **argv)
{
	struct request request = {.name = "topo dot", .format = &format_dot};
	int result = cmd_topo_arguments(argc, argv, &request.in, NULL);

	return result == EXIT_DONE ? export(&request) : result;
}
