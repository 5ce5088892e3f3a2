/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "output_file.h"

#include <string.h>

#include "commands.h"

static bool to_file(const struct output_file *output)
{
	return output->path != NULL && strcmp(output->path, "-") != 0;
}

int output_file_open(struct output_file *output)
{
	struct fault fault;
	int result;

	if (!to_file(output)) {
		output->file = stdout;
		return EXIT_DONE;
	}
	output->to.path = output->path;
	result = atomic_file_open(&output->to, &fault);
	output->file = output->to.file;
	if (result == 0)
		return EXIT_DONE;
	return command_fail(output->command, result == -ENOMEM ? EXIT_NOT_ABLE : EXIT_BAD_REQUEST,
		"%s", fault.text);
}

int output_file_close(struct output_file *output)
{
	struct fault fault;

	if (!to_file(output)) {
		if (fflush(stdout) == 0 && !ferror(stdout))
			return EXIT_DONE;
		return command_fail(output->command, EXIT_NOT_ABLE,
			"standard output: cannot be written: %s", strerror(errno));
	}
	if (atomic_file_close(&output->to, &fault) == 0)
		return EXIT_DONE;
	return command_fail(output->command, EXIT_NOT_ABLE, "%s", fault.text);
}

void output_file_discard(struct output_file *output)
{
	if (to_file(output))
		atomic_file_discard(&output->to);
}
