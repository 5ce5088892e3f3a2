/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "hugepages.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#define FOLDER "/sys/kernel/mm/hugepages"

static uint64_t free_pages(const char *folder, const char *size)
{
	unsigned long long pages = 0;
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/free_hugepages", folder, size);
	file = fopen(path, "r");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages;
}

uint64_t hugepages_free_bytes(const char *root)
{
	char path[PATH_MAX];
	uint64_t bytes = 0;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "%s" FOLDER, root);
	folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		unsigned long long kib;

		if (sscanf(entry->d_name, "hugepages-%llukB", &kib) == 1)
			bytes += kib * 1024 * free_pages(path, entry->d_name);
	}
	if (folder != NULL)
		closedir(folder);
	return bytes;
}

/* The directory itself is the lock: it exists for every user, and nothing needs to be created. */
int hugepages_lock(void)
{
	int fd = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void hugepages_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}
