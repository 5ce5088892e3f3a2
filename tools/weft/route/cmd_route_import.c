/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft route import: converts the routes in use on an InfiniBand network into a route file. */

#include <stdlib.h>

#include "common/output_file.h"
#include "route/formats/route_binary.h"
#include "route_subject.h"
#include "topo/cmd_topo.h"

#define NAME "route import"

struct request {
	struct opensm_files files;
	const char *topology, *output;
	bool strict;
};

static int write_routes(const struct request *request, const struct topology *topology,
	const struct route_file *file)
{
	struct output_file output = {.command = NAME,
		.path = request->output,
		.inputs = {request->topology, request->files.routes, request->files.subnet,
			request->files.map, request->files.records}};
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

static int import(const struct request *request, const struct topology *topology,
	struct ib_addresses *addresses)
{
	struct topology_import notes = {.strict = request->strict,
		.note = command_note,
		.context = (void *)(uintptr_t)NAME};
	struct route_file file;
	struct error error;
	int result = opensm_files_read(&request->files, topology, addresses, &notes, &file, &error);

	if (result < 0)
		return command_error(NAME, result, &error);
	result = write_routes(request, topology, &file);
	route_file_close(&file);
	return result;
}

int cmd_route_import(int argc, char **argv)
{
	static const struct command_option options[] = {
		OPENSM_FILES_OPTIONS(struct request, files),
		{"strict", 0, OPTION_SET(struct request, strict)},
		COMMAND_OUTPUT(struct request, output),
		{NULL},
	};
	struct request request = {.topology = NULL};
	struct ib_addresses addresses = {0};
	struct topology *topology;
	int result = command_options(NAME, options, &request, &argc, &argv);

	if (result != EXIT_DONE)
		return result;
	if (argc != 2 || request.output == NULL)
		return command_fail(NAME, EXIT_BAD_REQUEST,
			"too %s arguments; expected TOPO DUMP [--subnet FILE] -o ROUTES",
			argc > 2 ? "many" : "few");
	request.topology = argv[0];
	request.files.routes = argv[1];
	topology = cmd_topo_read_listing(NAME, request.topology, &addresses, &result);
	if (topology != NULL)
		result = import(&request, topology, &addresses);
	topology_destroy(topology);
	free(addresses.at);
	return result;
}
