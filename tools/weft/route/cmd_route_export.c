/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft route export: writes destination tables as files for another program (opensm_tables.h). */

#include <string.h>

#include "common/output_file.h"
#include "route/formats/opensm_tables.h"
#include "route_subject.h"

#define NAME          "route export"
#define FILE_NAME_MAX 4096

struct request {
	struct subject_request subject;
	const char *format, *output;
};

/* Returns the value of an option; NULL after printing an error. */
static const char *value_of(int *i, int argc, char **argv)
{
	if (*i + 1 < argc)
		return argv[++*i];
	command_fail(NAME, EXIT_BAD_REQUEST, "%s: expected a value", argv[*i]);
	return NULL;
}

static int take_argument(struct request *request, int *i, int argc, char **argv)
{
	const char **value = strcmp(argv[*i], "--format") == 0 ? &request->format
			     : strcmp(argv[*i], "-o") == 0     ? &request->output
							       : NULL;

	if (value == NULL)
		return subject_argument(&request->subject, i, argc, argv);
	*value = value_of(i, argc, argv);
	return *value != NULL ? EXIT_DONE : EXIT_BAD_REQUEST;
}

static int check(const struct request *request)
{
	if (request->subject.files != 1)
		return command_fail(NAME, EXIT_BAD_REQUEST,
			"%u arguments; expected TOPO ROUTES --format opensm -o NAME",
			request->subject.files + (request->subject.topology != NULL));
	if (request->format == NULL || strcmp(request->format, "opensm") != 0)
		return command_fail(NAME, EXIT_BAD_REQUEST, "--format %s; expected opensm",
			request->format == NULL ? "is missing" : request->format);
	if (request->output == NULL)
		return command_fail(NAME, EXIT_BAD_REQUEST, "-o NAME is missing");
	return EXIT_DONE;
}

/* Writes 'table', or the cabling if 'table' is NULL, to a file named NAME plus the suffix. */
static int write_file(const struct request *request, const struct topology *topology,
	const struct route_table *table, const char *ending)
{
	char path[FILE_NAME_MAX];
	struct output_file output = {.command = NAME,
		.path = path,
		.inputs = {request->subject.topology, request->subject.name[0]}};
	struct error error;
	int result;

	snprintf(path, sizeof(path), "%s%s", request->output, ending);
	result = output_file_open(&output);
	if (result != EXIT_DONE)
		return result;
	result = table != NULL ? opensm_dump_tables(topology, table, output.file, &error)
			       : opensm_dump_subnet(topology, output.file, &error);
	if (result == 0)
		return output_file_close(&output);
	output_file_discard(&output);
	return command_error(NAME, result, &error);
}

int cmd_route_export(int argc, char **argv)
{
	struct request request = {.subject = {.command = NAME, .files_max = 1}};
	struct subject subject;
	int result = EXIT_DONE;

	for (int i = 1; i < argc && result == EXIT_DONE; i++)
		result = take_argument(&request, &i, argc, argv);
	if (result == EXIT_DONE)
		result = check(&request);
	if (result == EXIT_DONE)
		result = subject_open(&subject, &request.subject);
	if (result != EXIT_DONE)
		return result;
	if (subject.file[0].table == NULL)
		result = command_fail(NAME, EXIT_BAD_REQUEST,
			"%s contains routes; expected destination tables from 'route compute --tables'",
			request.subject.name[0]);
	if (result == EXIT_DONE)
		result = write_file(&request, subject.topology, subject.file[0].table, ".fdbs");
	if (result == EXIT_DONE)
		result = write_file(&request, subject.topology, NULL, ".lst");
	subject_close(&subject);
	return result;
}
