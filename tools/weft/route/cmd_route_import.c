/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft route import: the routes in force in an InfiniBand network, as a route file. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "common/output_file.h"
#include "route/formats/opensm_tables.h"
#include "route/formats/route_binary.h"
#include "route_subject.h"

#define NAME      "route import"
#define INPUT_MAX ((size_t)1 << 30)

struct request {
	const char *topology, *routes, *subnet, *output;
	bool strict;
};

static int take_argument(struct request *request, int *i, int argc, char **argv)
{
	const char **option = strcmp(argv[*i], "--subnet") == 0 ? &request->subnet
			      : strcmp(argv[*i], "-o") == 0     ? &request->output
								: NULL;

	if (option != NULL) {
		if (*i + 1 == argc)
			return command_fail(
				NAME, EXIT_BAD_REQUEST, "%s, expected a file after it", argv[*i]);
		*option = argv[++*i];
		return EXIT_DONE;
	}
	if (strcmp(argv[*i], "--strict") == 0) {
		request->strict = true;
		return EXIT_DONE;
	}
	if ((argv[*i][0] == '-' && argv[*i][1] != '\0') || request->routes != NULL)
		return command_fail(NAME, EXIT_BAD_REQUEST,
			"unexpected '%s', expected TOPO DUMP [--subnet FILE] [--strict] -o ROUTES",
			argv[*i]);
	*(request->topology == NULL ? &request->topology : &request->routes) = argv[*i];
	return EXIT_DONE;
}

static void print_note(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "weft " NAME ": %s\n", text);
}

static int write_table(
	const struct request *request, const struct topology *topology, struct route_table *table)
{
	struct output_file output = {.command = NAME,
		.path = request->output,
		.inputs = {request->topology, request->routes, request->subnet}};
	const struct route_file file = {.table = table};
	struct error error;
	int result = output_file_open(&output);

	if (result != EXIT_DONE)
		return result;
	result = route_binary_write(topology, &file, output.file, &error);
	if (result == 0)
		return output_file_close(&output);
	output_file_discard(&output);
	return command_error(NAME, result, &error);
}

static int import(const struct request *request, const struct topology *topology)
{
	struct topology_import notes = {.strict = request->strict, .note = print_note};
	struct opensm_tables_input input = {
		.origin = request->routes, .subnet_origin = request->subnet};
	struct route_table *table = NULL;
	char *text, *subnet = NULL;
	struct error error;
	int result;

	text = file_text_read(request->routes, INPUT_MAX, &input.length, &error);
	if (text != NULL && request->subnet != NULL)
		subnet = file_text_read(request->subnet, INPUT_MAX, &input.subnet_length, &error);
	input.text = text;
	input.subnet = subnet;
	if (text != NULL && (subnet != NULL || request->subnet == NULL))
		table = opensm_tables_read(topology, &input, &notes, &error);
	result = table != NULL ? write_table(request, topology, table)
			       : (int)command_error(NAME, -errno, &error);
	route_table_destroy(table);
	free(text);
	free(subnet);
	return result;
}

int cmd_route_import(int argc, char **argv)
{
	struct request request = {.topology = NULL};
	struct topology *topology;
	struct error error;
	int result = EXIT_DONE;

	for (int i = 1; i < argc && result == EXIT_DONE; i++)
		result = take_argument(&request, &i, argc, argv);
	if (result != EXIT_DONE)
		return result;
	if (request.routes == NULL || request.output == NULL)
		return command_fail(NAME, EXIT_BAD_REQUEST,
			"too few arguments, expected TOPO DUMP [--subnet FILE] -o ROUTES");
	topology = topology_open(request.topology, &error);
	if (topology == NULL)
		return command_error(NAME, -errno, &error);
	result = import(&request, topology);
	topology_destroy(topology);
	return result;
}
