/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Loaded into a program with LD_PRELOAD, it kills that program before its n-th call that changes
 * something outside it, n being WEFT_KILL_AT. Between two such calls every instant is the same for
 * what remains, so n = 1, 2, 3, … covers them all. Child processes are left alone. */

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t victim;
static atomic_long left;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("WEFT_KILL_AT");

	if (at != NULL)
		left = atol(at);
	victim = getpid();
	unsetenv("WEFT_KILL_AT");
	unsetenv("LD_PRELOAD");
}

static void step(void)
{
	if (getpid() == victim && atomic_fetch_sub(&left, 1) == 1)
		kill(victim, SIGKILL);
}

#define STEP_IF(condition, type, name, parameters, ...)           \
	type name parameters                                      \
	{                                                         \
		type(*next) parameters = dlsym(RTLD_NEXT, #name); \
                                                                  \
		if (condition)                                    \
			step();                                   \
		return next(__VA_ARGS__);                         \
	}
#define STEP(type, name, parameters, ...) STEP_IF(true, type, name, parameters, __VA_ARGS__)

STEP(int, mkdir, (const char *path, mode_t mode), path, mode)
STEP(int, rmdir, (const char *path), path)
STEP(int, unlink, (const char *path), path)
STEP(int, unlinkat, (int folder, const char *path, int flags), folder, path, flags)
STEP(int, rename, (const char *from, const char *to), from, to)
STEP(int, linkat, (int a, const char *from, int b, const char *to, int flags), a, from, b, to,
	flags)
STEP(int, symlink, (const char *to, const char *path), to, path)
STEP(int, mount,
	(const char *source, const char *target, const char *type, unsigned long flags,
		const void *data),
	source, target, type, flags, data)
STEP(int, umount2, (const char *path, int flags), path, flags)
STEP(int, unshare, (int flags), flags)
STEP(pid_t, fork, (void), )
STEP(ssize_t, write, (int fd, const void *bytes, size_t count), fd, bytes, count)
STEP(FILE *, popen, (const char *command, const char *mode), command, mode)
STEP(int, pclose, (FILE * stream), stream)
STEP(int, ftruncate64, (int fd, off_t length), fd, length)
/* Reading changes nothing. */
STEP_IF(mode[0] != 'r', FILE *, fopen64, (const char *path, const char *mode), path, mode)
STEP_IF(__fwritable(stream), int, fclose, (FILE * stream), stream)
