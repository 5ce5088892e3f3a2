/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "held_taps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TUN_DEVICE "/dev/net/tun"

static bool is_tap(int folder, const char *name)
{
	char target[sizeof(TUN_DEVICE)];
	ssize_t length = readlinkat(folder, name, target, sizeof(target));

	return length == (ssize_t)strlen(TUN_DEVICE) && memcmp(target, TUN_DEVICE, length) == 0;
}

static int take(struct held_taps *taps, unsigned process, int pidfd, DIR *folder)
{
	const struct dirent *entry;

	while ((entry = readdir(folder)) != NULL) {
		int fd;

		if (!is_tap(dirfd(folder), entry->d_name))
			continue;
		if (taps->count == HELD_TAPS_MAX)
			return -EMFILE;
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, atoi(entry->d_name), 0); /* O_CLOEXEC */
		if (fd < 0)
			return -errno;
		taps->fd[taps->count] = fd;
		taps->process[taps->count++] = process;
	}
	return 0;
}

int held_taps_take(struct held_taps *taps, unsigned process, pid_t pid, struct error *error)
{
	unsigned before = taps->count;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), result = pidfd < 0 ? -errno : 0;
	char path[32];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	folder = opendir(path);
	if (result == 0)
		result = folder != NULL ? take(taps, process, pidfd, folder) : -errno;
	if (folder != NULL)
		closedir(folder);
	if (pidfd >= 0)
		close(pidfd);
	if (result == 0)
		return (int)(taps->count - before);
	while (taps->count > before)
		close(taps->fd[--taps->count]);
	return error_set(error, -result, "its TAPs cannot be kept: %s", strerror(-result));
}

void held_taps_pass(const struct held_taps *taps, unsigned process, bool pass)
{
	for (unsigned i = 0; i < taps->count; i++)
		if (taps->process[i] == process)
			fcntl(taps->fd[i], F_SETFD, pass ? 0 : FD_CLOEXEC);
}

void held_taps_close(struct held_taps *taps)
{
	while (taps->count > 0)
		close(taps->fd[--taps->count]);
}
