/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/weft_error.h"
#include "child_process.h"

double child_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Continues *hash with a file's bytes. Returns 0, or -errno and *hash unchanged. */
static int content_hash_file(uint64_t *hash, const char *path)
{
	FILE *in = fopen(path, "re");
	uint64_t sum = *hash;
	uint8_t bytes[4096];
	size_t length;
	int result;

	if (in == NULL)
		return -errno;
	while ((length = fread(bytes, 1, sizeof(bytes), in)) > 0)
		sum = content_hash(sum, bytes, length);
	result = ferror(in) ? -EIO : 0;
	fclose(in);
	if (result == 0)
		*hash = sum;
	return result;
}

uint64_t child_program_mark(const char *name)
{
	uint64_t mark = content_hash(CONTENT_HASH_START, WEFT_VERSION, sizeof(WEFT_VERSION));
	char path[PATH_MAX];

	program_path_find(name, path, sizeof(path));
	content_hash_file(&mark, path);
	return mark;
}

void child_signal(pid_t pid, int number)
{
	/* The group exists once the child has called setpgid(). */
	if (pid > 0 && kill(-pid, number) < 0)
		kill(pid, number);
}

void child_signals_block(sigset_t *signals, sigset_t *before)
{
	struct sigaction hangup;

	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	/* A blocked signal stays pending for a later wait, even if it is ignored. */
	if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler != SIG_IGN)
		sigaddset(signals, SIGHUP);
	sigprocmask(SIG_BLOCK, signals, before);
	/* Some callers ignore SIGCHLD. If it stayed ignored, the exit status of a child would be
	 * lost. */
	signal(SIGCHLD, SIG_DFL);
}

void child_become(pid_t parent, const sigset_t *mask)
{
	setpgid(0, 0);
	/* On a terminal with 'stty tostop', writers of other process groups are stopped. */
	signal(SIGTTOU, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* The parent may have ended before prctl(). */
	if (getppid() != parent)
		_exit(EXIT_NOT_ABLE);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Writes the folder of this executable; "." if unknown. */
static void own_folder(char out[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
	char *slash;

	out[length > 0 ? length : 0] = '\0';
	slash = strrchr(out, '/');
	if (slash == NULL)
		strcpy(out, ".");
	else
		*slash = '\0';
}

void program_path_find(const char *name, char *out, size_t size)
{
	const char *wanted = getenv("WEFT_PROGRAMS");
	char here[PATH_MAX];

	if (wanted != NULL) {
		snprintf(out, size, "%s/%s", wanted, name);
		if (access(out, X_OK) == 0)
			return;
	}
	own_folder(here);
	snprintf(out, size, "%s/%s", here, name);
	if (access(out, X_OK) == 0)
		return;
	snprintf(out, size, "%s/../../apps/%s/%s", here, name + strlen("weft-"), name);
	if (access(out, X_OK) == 0)
		return;
	snprintf(out, size, "%s", name);
}

bool program_path_exists(const char *path)
{
	const char *at = getenv("PATH");
	char file[PATH_MAX];

	if (strchr(path, '/') != NULL)
		return access(path, X_OK) == 0;
	while (at != NULL) {
		size_t length = strcspn(at, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)length, at, path);
		if (access(file, X_OK) == 0)
			return true;
		at = at[length] == ':' ? at + length + 1 : NULL;
	}
	return false;
}

void program_path_exec(const char *name, char *const argv[])
{
	char path[PATH_MAX];

	program_path_find(name, path, sizeof(path));
	execvp(path, argv);
}

#define PRIME 0x100000001b3u

uint64_t content_hash(uint64_t hash, const void *bytes, size_t length)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ byte[i]) * PRIME;
	return hash;
}
