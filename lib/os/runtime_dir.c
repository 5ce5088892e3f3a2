/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "runtime_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The order of eal_create_runtime_dir() of DPDK 22.11. */
static const char *base_dir(void)
{
	const char *dir = getenv("RUNTIME_DIRECTORY");

	if (dir != NULL)
		return dir;
	if (getuid() == 0)
		return "/var/run";
	dir = getenv("XDG_RUNTIME_DIR");
	return dir != NULL ? dir : "/tmp";
}

void runtime_dir_path(const char *prefix, char path[RUNTIME_DIR_MAX])
{
	snprintf(path, RUNTIME_DIR_MAX, "%s/dpdk/%s", base_dir(), prefix);
}

int runtime_dir_remove(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (dir == NULL)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	return rmdir(path) == 0 ? 0 : -errno;
}
