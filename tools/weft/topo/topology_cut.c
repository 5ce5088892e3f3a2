/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_cut.h"

#include "commands.h"
#include "topology_without.h"

int topology_cut_add(struct topology_cut *cut, const char *command, const char *failed)
{
	if (cut->count == TOPOLOGY_CUT_MAX)
		return command_fail(command, EXIT_BAD_REQUEST,
			"--without '%s', expected at most %u of them", failed, TOPOLOGY_CUT_MAX);
	cut->failed[cut->count++] = failed;
	return EXIT_DONE;
}

struct topology *topology_cut_open(
	const struct topology_cut *cut, const char *command, const char *spec, int *code)
{
	struct fault fault;
	struct topology *topology = topology_open(spec, &fault);

	if (topology != NULL && cut->count > 0) {
		struct topology *whole = topology;

		topology = topology_without(whole, cut->failed, cut->count, &fault);
		topology_destroy(whole);
	}
	*code = topology != NULL ? EXIT_DONE : fault_exit_code(-errno);
	if (topology == NULL)
		command_fail(command, *code, "%s", fault.text);
	return topology;
}
