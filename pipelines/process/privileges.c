/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "privileges.h"

#include <dirent.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/thread_signal.h"

#define STEP_MS 1
#define WAIT_MS 5000 /* a thread runs its handler as soon as a CPU is free for it */

/* Applies to this thread. Makes only system calls, because it also runs in a signal handler. */
static void keep_here(uint64_t capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	int code = errno;

	/* First: other threads that see the capabilities gone assume that all of this is done. */
	syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) == 0) {
		for (unsigned i = 0; i < 2; i++) {
			data[i].permitted &= (uint32_t)(capabilities >> 32 * i);
			data[i].effective = data[i].permitted;
			data[i].inheritable = 0;
		}
		syscall(SYS_capset, &header, data);
	}
	errno = code;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (info->si_code == SI_QUEUE && info->si_pid == getpid())
		keep_here((uintptr_t)info->si_value.sival_ptr);
}

/* UINT64_MAX if unknown; 0 if the thread has ended. */
static uint64_t permitted_of(const char *thread)
{
	char path[64], line[128];
	uint64_t permitted = UINT64_MAX;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", thread);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "CapPrm: %" SCNx64, &permitted) == 1)
			break;
	fclose(file);
	return permitted;
}

static void ask(long thread, uint64_t capabilities)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)(uintptr_t)capabilities; /* the number itself */
	syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, THREAD_SIGNAL, &info);
}

/* Asks the threads that kept more; returns their number, or -1: unknown. */
static int ask_all(uint64_t capabilities, bool again)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	int asked = 0;

	if (tasks == NULL)
		return -1;
	while ((entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] == '.' || (permitted_of(entry->d_name) & ~capabilities) == 0)
			continue;
		if (again)
			ask(strtol(entry->d_name, NULL, 10), capabilities);
		asked++;
	}
	closedir(tasks);
	return asked;
}

int privileges_keep(uint64_t capabilities, struct error *error)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
	int left;

	keep_here(capabilities);
	sigaction(THREAD_SIGNAL, &action, NULL);
	left = ask_all(capabilities, true);
	for (int waited = 0; left != 0 && waited < WAIT_MS; waited += STEP_MS) {
		nanosleep(&step, NULL);
		/* A thread that was started meanwhile was not asked. */
		left = ask_all(capabilities, waited % 100 == 99);
	}
	signal(THREAD_SIGNAL, SIG_IGN);
	if (left == 0)
		return 0;
	return error_set(error, left < 0 ? EPERM : ETIMEDOUT, "capabilities cannot be given up: %s",
		left < 0 ? "there is no /proc" : "a thread does not answer");
}
