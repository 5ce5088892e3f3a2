/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft route import: reads the routes in use in an InfiniBand network, and writes a route file. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "common/output_file.h"
#include "route/formats/opensm_lanes.h"
#include "route/formats/route_binary.h"
#include "route_subject.h"

#define NAME      "route import"
#define INPUT_MAX ((size_t)1 << 30)

struct request {
	const char *topology, *routes, *subnet, *map, *records, *output;
	bool strict;
};

static int take_argument(struct request *request, int *i, int argc, char **argv)
{
	const char **option = strcmp(argv[*i], "--subnet") == 0         ? &request->subnet
			      : strcmp(argv[*i], "--sl2vl") == 0        ? &request->map
			      : strcmp(argv[*i], "--path-records") == 0 ? &request->records
			      : strcmp(argv[*i], "-o") == 0             ? &request->output
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
			"unexpected '%s', expected TOPO DUMP [--subnet FILE] [--sl2vl FILE "
			"[--path-records FILE]] [--strict] -o ROUTES",
			argv[*i]);
	*(request->topology == NULL ? &request->topology : &request->routes) = argv[*i];
	return EXIT_DONE;
}

static void print_note(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "weft " NAME ": %s\n", text);
}

static int write_routes(const struct request *request, const struct topology *topology,
	const struct route_file *file)
{
	struct output_file output = {.command = NAME,
		.path = request->output,
		.inputs = {request->topology, request->routes, request->subnet, request->map,
			request->records}};
	struct error error;
	int result = output_file_open(&output);

	if (result != EXIT_DONE)
		return result;
	result = route_binary_write(topology, file, output.file, &error);
	if (result == 0)
		return output_file_close(&output);
	output_file_discard(&output);
	return command_error(NAME, result, &error);
}

/* The file's text, or NULL if no file is given; '*result' < 0: it cannot be read. */
static char *read_file(const char *path, size_t *length, int *result, struct error *error)
{
	char *text = path != NULL && *result == 0 ? file_text_read(path, INPUT_MAX, length, error)
						  : NULL;

	if (path != NULL && *result == 0 && text == NULL)
		*result = -errno;
	return text;
}

/* Replaces the table with routes that have lanes. */
static int read_lanes(const struct request *request, const struct topology *topology,
	struct topology_import *notes, struct route_file *file, struct error *error)
{
	struct opensm_lanes_input input = {
		.map_origin = request->map, .records_origin = request->records};
	int result = 0;
	char *map = read_file(request->map, &input.map_length, &result, error);
	char *records = read_file(request->records, &input.records_length, &result, error);

	input.map = map;
	input.records = records;
	if (result == 0)
		file->set = opensm_lanes_read(topology, file->table, &input, notes, error);
	if (result == 0 && file->set == NULL)
		result = -errno;
	free(map);
	free(records);
	return result;
}

static int import(const struct request *request, const struct topology *topology)
{
	struct topology_import notes = {.strict = request->strict, .note = print_note};
	struct opensm_tables_input input = {
		.origin = request->routes, .subnet_origin = request->subnet};
	struct route_file file = {.table = NULL};
	struct error error;
	int result = 0;
	char *text = read_file(request->routes, &input.length, &result, &error);
	char *subnet = read_file(request->subnet, &input.subnet_length, &result, &error);

	input.text = text;
	input.subnet = subnet;
	if (result == 0)
		file.table = opensm_tables_read(topology, &input, &notes, &error);
	if (result == 0 && file.table == NULL)
		result = -errno;
	if (result == 0 && request->map != NULL)
		result = read_lanes(request, topology, &notes, &file, &error);
	result = result == 0 ? write_routes(request, topology, &file)
			     : (int)command_error(NAME, result, &error);
	route_file_close(&file);
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
	if (request.records != NULL && request.map == NULL)
		return command_fail(NAME, EXIT_BAD_REQUEST, "--path-records requires --sl2vl");
	topology = topology_open(request.topology, &error);
	if (topology == NULL)
		return command_error(NAME, -errno, &error);
	result = import(&request, topology);
	topology_destroy(topology);
	return result;
}
