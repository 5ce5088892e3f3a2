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
	static const struct command_option options[] = {
		TOPOLOGY_CUT_OPTION(struct request, subject.cut),
		{"format", 0, OPTION_TEXT(struct request, format)},
		COMMAND_OUTPUT(struct request, output),
		{NULL},
	};
	struct request request = {.subject = {.command = NAME, .files_max = 1}};
	struct subject subject;
	int result = subject_arguments(&request.subject, options, &request, argc, argv);

	if (result == EXIT_DONE)
		result = check(&request);
	if (result == EXIT_DONE)
		result = subject_open(&subject, &request.subject);
	if (result != EXIT_DONE)
		return result;
	if (subject.file[0].table == NULL)
		result = command_fail(NAME, EXIT_BAD_REQUEST,
			"%s contains routes; use destination tables from 'route compute "
			"--tables'",
			request.subject.name[0]);
	if (result == EXIT_DONE)
		result = write_file(&request, subject.topology, subject.file[0].table, ".fdbs");
	if (result == EXIT_DONE)
		result = write_file(&request, subject.topology, NULL, ".lst");
	subject_close(&subject);
	return result;
}
