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

struct request {
	const char *name; /* "topo export" */
	const struct topology_format *format;
	const char *in, *out; /* 'out' NULL or "-": standard output */
	/* import */
	bool strict;
	regex_t only, exclude;
	bool has_only, has_exclude;
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

static int take_format(struct request *request, const char *name, bool reading)
{
	char known[128];

	request->format = topology_format_find(name);
	if (request->format != NULL &&
		(reading ? request->format->read != NULL : request->format->write != NULL))
		return EXIT_DONE;
	list_formats(reading, known, sizeof(known));
	return command_fail(
		request->name, EXIT_BAD_REQUEST, "--format %s: expected one of %s", name, known);
}

/* Returns the value of "--option VALUE" or "--option=VALUE"; NULL if argv[*i] is a different
 * argument, "" if the value is missing. */
static const char *value_of(const char *option, int argc, char **argv, int *i)
{
	size_t length = strlen(option);

	if (strncmp(argv[*i], option, length) != 0)
		return NULL;
	if (argv[*i][length] == '=' && option[1] == '-')
		return argv[*i] + length + 1;
	if (argv[*i][length] != '\0')
		return NULL;
	return *i + 1 < argc ? argv[++*i] : "";
}

/* Parses --only or --exclude REGEX. Returns -1 for other arguments. */
static int take_regex(struct request *request, const char *option, int argc, char **argv, int *i,
	regex_t *regex, bool *has)
{
	const char *value = value_of(option, argc, argv, i);
	char why[128];
	int code;

	if (value == NULL)
		return -1;
	if (value[0] == '\0' || *has)
		return command_fail(request->name, EXIT_BAD_REQUEST,
			"%s: expected one extended regular expression", option);
	code = regcomp(regex, value, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	if (code != 0) {
		regerror(code, regex, why, sizeof(why));
		return command_fail(
			request->name, EXIT_BAD_REQUEST, "%s %s: %s", option, value, why);
	}
	*has = true;
	return EXIT_DONE;
}

/* Parses the options specific to import. Returns -1 for other arguments. */
static int take_import_option(struct request *request, int argc, char **argv, int *i)
{
	int result;

	if (strcmp(argv[*i], "--strict") == 0) {
		request->strict = true;
		return EXIT_DONE;
	}
	result = take_regex(request, "--only", argc, argv, i, &request->only, &request->has_only);
	if (result < 0)
		result = take_regex(request, "--exclude", argc, argv, i, &request->exclude,
			&request->has_exclude);
	return result;
}

static int take_argument(struct request *request, int argc, char **argv, int *i, bool reading)
{
	const char *value = value_of("--format", argc, argv, i);

	if (value != NULL)
		return take_format(request, value, reading);
	value = value_of("-o", argc, argv, i);
	if (value != NULL) {
		request->out = value;
		return value[0] != '\0' ? EXIT_DONE
					: (int)command_fail(request->name, EXIT_BAD_REQUEST,
						  "-o: expected a file");
	}
	if (reading) {
		int result = take_import_option(request, argc, argv, i);

		if (result >= 0)
			return result;
	}
	if (argv[*i][0] == '-' && argv[*i][1] != '\0')
		return command_fail(
			request->name, EXIT_BAD_REQUEST, "unknown option '%s'", argv[*i]);
	if (request->in != NULL)
		return command_fail(request->name, EXIT_BAD_REQUEST,
			"expected one file; found a second: '%s'", argv[*i]);
	request->in = argv[*i];
	return EXIT_DONE;
}

static int parse(struct request *request, int argc, char **argv, bool reading)
{
	int result = EXIT_DONE;
	char known[128];

	for (int i = 1; i < argc && result == EXIT_DONE; i++)
		result = take_argument(request, argc, argv, &i, reading);
	if (result != EXIT_DONE)
		return result;
	list_formats(reading, known, sizeof(known));
	if (request->format == NULL)
		return command_fail(request->name, EXIT_BAD_REQUEST,
			"--format is missing; expected one of %s", known);
	if (request->in == NULL)
		return command_fail(request->name, EXIT_BAD_REQUEST, "expected a file");
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
	int result = parse(&request, argc, argv, false);

	return result == EXIT_DONE ? export(&request) : result;
}

/* Returns NULL after printing an error; '*result' is then the exit code. */
static struct topology *import_from(struct request *request, int *result)
{
	bool piped = strcmp(request->in, "-") == 0;
	struct topology_import import = {.strict = request->strict,
		.only = request->has_only ? &request->only : NULL,
		.exclude = request->has_exclude ? &request->exclude : NULL,
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
	struct request request = {.name = "topo import"};
	int result = parse(&request, argc, argv, true);

	if (result == EXIT_DONE)
		result = import(&request);
	if (request.has_only)
		regfree(&request.only);
	if (request.has_exclude)
		regfree(&request.exclude);
	return result;
}

int cmd_topo_dot(int argc, char **argv)
{
	struct request request = {.name = "topo dot", .format = &format_dot};
	int result = cmd_topo_arguments(argc, argv, &request.in, NULL);

	return result == EXIT_DONE ? export(&request) : result;
}
