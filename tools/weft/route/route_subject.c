/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_subject.h"

#include <string.h>

#include "topo/topology.h"

int topology_cut_add(struct topology_cut *cut, const char *command, const char *failed)
{
	if (cut->count == TOPOLOGY_CUT_MAX)
		return command_fail(command, EXIT_BAD_REQUEST,
			"--without '%s': expected this option at most %u times", failed,
			TOPOLOGY_CUT_MAX);
	cut->failed[cut->count++] = failed;
	return EXIT_DONE;
}

struct topology *topology_cut_open(
	const struct topology_cut *cut, const char *command, const char *spec, int *code)
{
	struct error error;
	struct topology *topology = topology_open(spec, &error);

	if (topology != NULL && cut->count > 0) {
		struct topology *whole = topology;

		topology = topology_without(whole, cut->failed, cut->count, &error);
		topology_destroy(whole);
	}
	*code = topology != NULL ? EXIT_DONE : (int)command_error(command, -errno, &error);
	return topology;
}

static int take_name(struct subject_request *request, const char *name)
{
	if (request->topology == NULL) {
		request->topology = name;
		return EXIT_DONE;
	}
	if (request->files == request->files_max)
		return command_fail(request->command, EXIT_BAD_REQUEST,
			"'%s': expected at most %u route files", name, request->files_max);
	request->name[request->files++] = name;
	return EXIT_DONE;
}

int subject_argument(struct subject_request *request, int *i, int argc, char **argv)
{
	const char *argument = argv[*i];

	if (argument[0] != '-' || argument[1] == '\0')
		return take_name(request, argument);
	if (strncmp(argument, "--without=", 10) == 0)
		return topology_cut_add(&request->cut, request->command, argument + 10);
	if (strcmp(argument, "--without") != 0)
		return command_fail(request->command, EXIT_BAD_REQUEST,
			"unknown option '%s'; 'weft route --help' lists the options", argument);
	if (*i + 1 == argc)
		return command_fail(request->command, EXIT_BAD_REQUEST,
			"--without: expected a link such as s0:3, or a switch");
	return topology_cut_add(&request->cut, request->command, argv[++*i]);
}

int subject_open(struct subject *subject, const struct subject_request *request)
{
	struct error error;
	int code;

	*subject = (struct subject){.topology = topology_cut_open(&request->cut, request->command,
					    request->topology, &code)};
	if (subject->topology == NULL)
		return code;
	for (; subject->files < request->files; subject->files++) {
		code = route_file_load(subject->topology, request->name[subject->files],
			&subject->file[subject->files], &error);
		if (code == 0)
			continue;
		subject_close(subject);
		return command_error(request->command, code, &error);
	}
	return EXIT_DONE;
}

void subject_close(struct subject *subject)
{
	for (unsigned i = 0; i < subject->files; i++)
		route_file_close(&subject->file[i]);
	topology_destroy(subject->topology);
}
