/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "output_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"

static bool to_file(const struct output_file *output)
{
	return output->path != NULL && strcmp(output->path, "-") != 0;
}

/* What a new file gets. */
static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Whether there is a file to replace, or a new one to make. Not what may not be written, has other
 * names too, or is no regular file: that is opened as it is. */
static bool find_target(struct output_file *output, mode_t *mode)
{
	struct stat status;

	if (output->path[0] != '\0' && lstat(output->path, &status) < 0 && errno == ENOENT) {
		*mode = usual_mode();
		snprintf(output->target, sizeof(output->target), "%s", output->path);
		return true;
	}
	if (stat(output->path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1)
		return false;
	*mode = status.st_mode & 07777;
	return access(output->path, W_OK) == 0 && realpath(output->path, output->target) != NULL;
}

/* A file beside the target, NULL if there can be none. */
static FILE *open_fresh(struct output_file *output)
{
	mode_t mode;
	FILE *file;
	int length, fd;

	if (!find_target(output, &mode))
		return NULL;
	length = snprintf(output->fresh, sizeof(output->fresh), "%s.XXXXXX", output->target);
	if (length >= (int)sizeof(output->fresh))
		return NULL;
	fd = mkstemp(output->fresh);
	if (fd < 0)
		return NULL;
	file = fchmod(fd, mode) == 0 ? fdopen(fd, "w") : NULL;
	if (file == NULL) {
		close(fd);
		unlink(output->fresh);
	}
	return file;
}

int output_file_open(struct output_file *output)
{
	output->file = to_file(output) ? open_fresh(output) : stdout;
	if (output->file != NULL)
		return EXIT_DONE;
	output->fresh[0] = '\0';
	output->file = fopen(output->path, "w");
	if (output->file != NULL)
		return EXIT_DONE;
	return command_fail(output->command, errno == ENOMEM ? EXIT_NOT_ABLE : EXIT_BAD_REQUEST,
		"%s: %s", output->path, strerror(errno));
}

int output_file_close(struct output_file *output)
{
	bool bad = fflush(output->file) != 0 || ferror(output->file);
	int code = errno;

	if (to_file(output) && fclose(output->file) != 0 && !bad) {
		bad = true;
		code = errno;
	}
	if (!bad && output->fresh[0] != '\0' && rename(output->fresh, output->target) < 0) {
		bad = true;
		code = errno;
	}
	if (!bad)
		return EXIT_DONE;
	if (output->fresh[0] != '\0')
		unlink(output->fresh);
	return command_fail(output->command, EXIT_NOT_ABLE, "%s: cannot be written: %s",
		to_file(output) ? output->path : "standard output", strerror(code));
}

void output_file_discard(struct output_file *output)
{
	if (!to_file(output))
		return;
	fclose(output->file);
	if (output->fresh[0] != '\0')
		unlink(output->fresh);
}
