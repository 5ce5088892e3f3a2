/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "output_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "os/terminal.h"

static bool to_file(const struct output_file *output)
{
	return output->path != NULL && strcmp(output->path, "-") != 0;
}

int output_file_open(struct output_file *output)
{
	struct error error;
	int result;

	if (!to_file(output)) {
		output->file = stdout;
		return EXIT_DONE;
	}
	for (unsigned i = 0; i < sizeof(output->inputs) / sizeof(output->inputs[0]); i++)
		if (output->inputs[i] != NULL &&
			same_file_refuse(output->path, output->inputs[i], &error) < 0)
			return command_fail(output->command, EXIT_BAD_REQUEST, "%s", error.text);
	output->to.path = output->path;
	result = atomic_file_open(&output->to, &error);
	output->file = output->to.file;
	if (result == 0)
		return EXIT_DONE;
	return command_fail(output->command, result == -ENOMEM ? EXIT_NOT_ABLE : EXIT_BAD_REQUEST,
		"%s", error.text);
}

int output_file_heed(struct output_file *output, const atomic_bool *stop)
{
	FILE *stream;

	if (to_file(output))
		return 0;
	fflush(stdout);
	stream = stoppable_output_open(STDOUT_FILENO, stop);
	if (stream == NULL)
		return -ENOMEM;
	output->file = stream;
	return 0;
}

int output_file_close(struct output_file *output)
{
	struct error error;

	if (!to_file(output)) {
		bool good = !ferror(output->file);

		/* Standard output itself is not closed. */
		if ((output->file == stdout ? fflush(stdout) : fclose(output->file)) == 0 && good)
			return EXIT_DONE;
		return command_fail(output->command, EXIT_NOT_ABLE,
			"standard output: cannot be written: %s", strerror(errno));
	}
	if (atomic_file_close(&output->to, &error) == 0)
		return EXIT_DONE;
	return command_fail(output->command, EXIT_NOT_ABLE, "%s", error.text);
}

void output_file_discard(struct output_file *output)
{
	if (to_file(output))
		atomic_file_discard(&output->to);
	else if (output->file != NULL && output->file != stdout)
		fclose(output->file);
}
