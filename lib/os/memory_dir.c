/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "memory_dir.h"

#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "private_dir.h"

#define SHARED_MEMORY "/dev/shm"

static bool is_in_memory(const char *path)
{
	struct statfs status;

	return statfs(path, &status) == 0 && status.f_type == TMPFS_MAGIC &&
	       access(path, W_OK) == 0;
}

/* The target of the symbolic link; false: it is not a link. */
static bool read_link(const char *path, char target[PATH_MAX])
{
	ssize_t length = readlink(path, target, PATH_MAX - 1);

	target[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* The link comes before the folder: a process that is killed in between leaves no folder without a
 * link. A file next to the link gives the random name. Another process may have made a link
 * meanwhile. */
static int link_fresh(const char *path, struct error *error)
{
	char target[PATH_MAX], name[PATH_MAX];
	int fd, result = 0;

	snprintf(name, sizeof(name), "%s-XXXXXX", path);
	fd = mkstemp(name);
	if (fd < 0)
		return error_set(error, errno, "%s: cannot be made: %s", name, strerror(errno));
	close(fd);
	snprintf(target, sizeof(target), SHARED_MEMORY "/weft-%u-%s", (unsigned)geteuid(),
		name + strlen(path) + 1);
	if (symlink(target, path) != 0 && errno != EEXIST)
		result = error_set(error, errno, "%s: %s", path, strerror(errno));
	unlink(name);
	return result;
}

int memory_dir_make(const char *run_dir, struct error *error)
{
	char path[PATH_MAX], target[PATH_MAX];
	int result = 0;

	snprintf(path, sizeof(path), "%s/" MEMORY_DIR, run_dir);
	if (is_in_memory(run_dir) || !is_in_memory(SHARED_MEMORY))
		return private_dir_make(path, error);
	if (!read_link(path, target))
		result = link_fresh(path, error);
	if (result < 0)
		return result;
	return read_link(path, target) ? private_dir_make(target, error)
				       : private_dir_make(path, error);
}

int memory_dir_remove(const char *run_dir, const char *const *patterns, struct error *error)
{
	char path[PATH_MAX], target[PATH_MAX];
	int result;

	snprintf(path, sizeof(path), "%s/" MEMORY_DIR, run_dir);
	if (!read_link(path, target))
		return private_dir_remove(path, patterns, error);
	result = private_dir_remove(target, patterns, error);
	if (result == 0)
		unlink(path);
	return result;
}
