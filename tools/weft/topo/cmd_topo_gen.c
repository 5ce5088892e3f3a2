/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft topo gen: a generator's options as command line options. */

#include "cmd_topo.h"

#include <stdio.h>
#include <string.h>

#include "common/output_file.h"

#define NAME     "topo gen"
#define SPEC_MAX 512

struct request {
	char spec[SPEC_MAX]; /* KIND:key=value,… */
	size_t length;
	const char *out; /* NULL or "-": standard output */
};

static int append(struct request *request, const char *before, const char *text)
{
	int added = snprintf(
		request->spec + request->length, SPEC_MAX - request->length, "%s%s", before, text);

	request->length += (size_t)added;
	if (request->length < SPEC_MAX)
		return EXIT_DONE;
	return command_fail(NAME, EXIT_BAD_REQUEST, "the options are too long");
}

/* "--key value" or "--key=value". Returns the arguments used, or 0 after an error was printed. */
static int take_option(struct request *request, char **argv)
{
	const char *key = argv[0] + 2, *equals = strchr(key, '=');
	const char *before = strchr(request->spec, ':') == NULL ? ":" : ",";

	if (equals == NULL && argv[1] == NULL)
		return command_fail(NAME, 0, "%s: expected a value after it", argv[0]);
	if (append(request, before, key) != EXIT_DONE)
		return 0;
	if (equals != NULL)
		return 1;
	return append(request, "=", argv[1]) == EXIT_DONE ? 2 : 0;
}

/* The same for any argument. */
static int take_argument(struct request *request, char **argv)
{
	if (strcmp(argv[0], "-o") == 0) {
		if (argv[1] == NULL)
			return command_fail(NAME, 0, "-o: expected a file after it");
		request->out = argv[1];
		return 2;
	}
	if (strncmp(argv[0], "--", 2) == 0)
		return take_option(request, argv);
	return command_fail(NAME, 0, "unexpected '%s'; options are --OPTION VALUE", argv[0]);
}

int cmd_topo_write(
	const char *command, const struct topology *topology, const char *input, const char *path)
{
	struct output_file output = {.command = command, .path = path, .inputs = {input}};
	int result = output_file_open(&output);

	if (result != EXIT_DONE)
		return result;
	topology_write(topology, output.file);
	return output_file_close(&output);
}

int cmd_topo_gen(int argc, char **argv)
{
	struct request request = {.length = 0};
	struct topology *topology;
	struct error error;
	int used, result;

	if (argc < 2 || argv[1][0] == '-')
		return command_fail(
			NAME, EXIT_BAD_REQUEST, "which kind? 'weft topo gen --help' lists them");
	if (append(&request, "", argv[1]) != EXIT_DONE)
		return EXIT_BAD_REQUEST;
	for (int i = 2; i < argc; i += used) {
		used = take_argument(&request, &argv[i]);
		if (used == 0)
			return EXIT_BAD_REQUEST;
	}
	topology = topology_generate(request.spec, &error);
	if (topology == NULL)
		return command_error(NAME, -errno, &error);
	result = cmd_topo_write(NAME, topology, NULL, request.out);
	topology_destroy(topology);
	return result;
}
