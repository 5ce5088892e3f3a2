/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands.h"
#include "kernel_view.h"

bool kernel_line(char *line, size_t size, const char *format, ...)
{
	char path[PATH_MAX], name[PATH_MAX];
	bool good;
	FILE *file;
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	if (snprintf(path, sizeof(path), "%s%s", command_root(), name) >= (int)sizeof(path))
		return false;
	file = fopen(path, "re");
	good = file != NULL && fgets(line, (int)size, file) != NULL;
	if (file != NULL)
		fclose(file);
	if (good)
		line[strcspn(line, "\n")] = '\0';
	return good;
}

bool kernel_cpu_times(pid_t process, long thread, struct cpu_times *cpu)
{
	char line[80];

	return kernel_line(
		       line, sizeof(line), "/proc/%ld/task/%ld/schedstat", (long)process, thread) &&
	       sscanf(line, "%" SCNu64 " %" SCNu64, &cpu->run_ns, &cpu->wait_ns) == 2;
}

bool cpu_times_are_short(const struct cpu_times *cpu, unsigned dilation)
{
	return (double)cpu->run_ns * dilation < 0.9 * (double)(cpu->run_ns + cpu->wait_ns);
}

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
	return error_set(error, -result, "cannot duplicate the TAP descriptors of the process: %s",
		strerror(-result));
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
