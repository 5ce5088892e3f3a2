/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "output_file.h"

#include <fcntl.h>
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

static void output_remove(const struct output_file *output)
{
	if (output->fresh[0] != '\0' && !output->nameless)
		unlink(output->fresh);
}

/* A file without a name in the target's folder: whatever ends the program, nothing is left of it.
 * -1 where the file system has no such thing, or it could get no name (link_fresh()). */
static int open_nameless(const struct output_file *output)
{
	char folder[PATH_MAX];
	char *slash;

	if (access("/proc/self/fd", X_OK) < 0)
		return -1;
	strcpy(folder, output->target);
	slash = strrchr(folder, '/');
	if (slash == NULL)
		strcpy(folder, ".");
	else
		slash[slash == folder ? 1 : 0] = '\0';
	return open(folder, O_TMPFILE | O_WRONLY, 0600);
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
	fd = open_nameless(output);
	output->nameless = fd >= 0;
	if (fd < 0)
		fd = mkstemp(output->fresh);
	if (fd < 0)
		return NULL;
	file = fchmod(fd, mode) == 0 ? fdopen(fd, "w") : NULL;
	if (file == NULL) {
		close(fd);
		output_remove(output);
	}
	return file;
}

/* Gives the nameless file its name beside the target. */
static int link_fresh(struct output_file *output)
{
	char path[32];

	if (!output->nameless)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(output->file));
	snprintf(output->fresh + strlen(output->target), 8, ".%06ld", (long)getpid() % 1000000);
	if (linkat(AT_FDCWD, path, AT_FDCWD, output->fresh, AT_SYMLINK_FOLLOW) < 0)
		return -1;
	output->nameless = false;
	return 0;
}

int output_file_open(struct output_file *output)
{
	output->file = to_file(output) ? open_fresh(output) : stdout;
	if (output->file != NULL)
		return EXIT_DONE;
	output->fresh[0] = '\0';
	output->nameless = false;
	output->file = fopen(output->path, "w");
	if (output->file != NULL)
		return EXIT_DONE;
	return command_fail(output->command, errno == ENOMEM ? EXIT_NOT_ABLE : EXIT_BAD_REQUEST,
		"%s: %s", output->path, strerror(errno));
}

int output_file_close(struct output_file *output)
{
	bool bad = fflush(output->file) != 0 || ferror(output->file) || link_fresh(output) < 0;
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
	output_remove(output);
	return command_fail(output->command, EXIT_NOT_ABLE, "%s: cannot be written: %s",
		to_file(output) ? output->path : "standard output", strerror(code));
}

void output_file_discard(struct output_file *output)
{
	if (!to_file(output))
		return;
	fclose(output->file);
	output_remove(output);
}
