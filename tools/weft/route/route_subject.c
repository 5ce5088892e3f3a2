/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_subject.h"

bool topology_cut_take(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	struct topology_cut *cut = member;

	snprintf(expected, COMMAND_EXPECTED_MAX, "this option at most %u times", TOPOLOGY_CUT_MAX);
	if (cut->count == TOPOLOGY_CUT_MAX)
		return false;
	cut->failed[cut->count++] = value;
	return true;
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

int subject_arguments(struct subject_request *request, const struct command_option *options,
	void *whole, int argc, char **argv)
{
	int result = command_options(request->command, options, whole, &argc, &argv);

	if (result != EXIT_DONE)
		return result;
	if (argc > 0 && (unsigned)argc - 1 > request->files_max)
		return command_fail(request->command, EXIT_BAD_REQUEST,
			"'%s': at most %u route files are allowed", argv[request->files_max + 1],
			request->files_max);
	request->topology = argc > 0 ? argv[0] : NULL;
	for (int i = 1; i < argc; i++)
		request->name[request->files++] = argv[i];
	return EXIT_DONE;
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
