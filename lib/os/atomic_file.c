/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "atomic_file.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Returns true if the target can be replaced or created. A target that is not writable, not a
 * regular file, or does not have exactly one hard link is written in place. */
static bool find_target(struct atomic_file *file, mode_t *mode)
{
	struct stat status;

	if (file->path[0] != '\0' && lstat(file->path, &status) < 0 && errno == ENOENT) {
		*mode = usual_mode();
		snprintf(file->target, sizeof(file->target), "%s", file->path);
		return true;
	}
	if (stat(file->path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1)
		return false;
	*mode = status.st_mode & 07777;
	return access(file->path, W_OK) == 0 && realpath(file->path, file->target) != NULL;
}

static void remove_fresh(const struct atomic_file *file)
{
	if (file->fresh[0] != '\0' && !file->nameless)
		unlink(file->fresh);
}

/* Opens an unnamed file in the target's folder, so that nothing is left behind, however the program
 * ends. Returns -1 if this is not supported or link_fresh() could not name the file later. */
static int open_nameless(const struct atomic_file *file)
{
	char folder[PATH_MAX];
	char *slash;

	if (access("/proc/self/fd", X_OK) < 0)
		return -1;
	strcpy(folder, file->target);
	slash = strrchr(folder, '/');
	if (slash == NULL)
		strcpy(folder, ".");
	else
		slash[slash == folder ? 1 : 0] = '\0';
	return open(folder, O_TMPFILE | O_WRONLY, 0600);
}

/* Opens a temporary file in the target's folder. Returns NULL if this is impossible. */
static FILE *open_fresh(struct atomic_file *file)
{
	mode_t mode;
	FILE *stream;
	int length, fd;

	if (!find_target(file, &mode))
		return NULL;
	length = snprintf(file->fresh, sizeof(file->fresh), "%s.XXXXXX", file->target);
	if (length >= (int)sizeof(file->fresh))
		return NULL;
	fd = open_nameless(file);
	file->nameless = fd >= 0;
	if (fd < 0)
		fd = mkstemp(file->fresh);
	if (fd < 0)
		return NULL;
	stream = fchmod(fd, mode) == 0 ? fdopen(fd, "w") : NULL;
	if (stream == NULL) {
		close(fd);
		remove_fresh(file);
	}
	return stream;
}

static int link_fresh(struct atomic_file *file)
{
	char path[32];

	if (!file->nameless)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file->file));
	snprintf(file->fresh + strlen(file->target), 8, ".%06ld", (long)getpid() % 1000000);
	if (linkat(AT_FDCWD, path, AT_FDCWD, file->fresh, AT_SYMLINK_FOLLOW) < 0)
		return -1;
	file->nameless = false;
	return 0;
}

int atomic_file_open(struct atomic_file *file, struct error *error)
{
	file->target[0] = file->fresh[0] = '\0';
	file->nameless = false;
	file->file = open_fresh(file);
	if (file->file != NULL)
		return 0;
	file->fresh[0] = '\0';
	file->nameless = false;
	file->file = fopen(file->path, "w");
	if (file->file != NULL)
		return 0;
	return error_set(error, errno, "%s: %s", file->path, strerror(errno));
}

int atomic_file_close(struct atomic_file *file, struct error *error)
{
	bool bad = fflush(file->file) != 0 || ferror(file->file) || link_fresh(file) < 0;
	int code = errno;

	if (fclose(file->file) != 0 && !bad) {
		bad = true;
		code = errno;
	}
	if (!bad && file->fresh[0] != '\0' && rename(file->fresh, file->target) < 0) {
		bad = true;
		code = errno;
	}
	if (!bad)
		return 0;
	remove_fresh(file);
	return error_set(error, code != 0 ? code : EIO, "%s: cannot be written: %s", file->path,
		strerror(code != 0 ? code : EIO));
}

void atomic_file_discard(struct atomic_file *file)
{
	fclose(file->file);
	remove_fresh(file);
}

/* --- same file --- */

bool same_file(const char *a, const char *b)
{
	struct stat first, second;

	return stat(a, &first) == 0 && stat(b, &second) == 0 && S_ISREG(first.st_mode) &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

int same_file_refuse(const char *output, const char *input, struct error *error)
{
	if (output == NULL || input == NULL || !same_file(output, input))
		return 0;
	return error_set(error, EINVAL, "%s: is also the input %s; choose a different output file",
		output, input);
}
