/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_collect.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lab/lab_remotes.h"

/* 0 and 0: there is none. */
static void identify(const struct lab_watch *watch, uint64_t *inode, uint64_t *ns)
{
	char path[PATH_MAX];
	struct stat status = {.st_ino = 0};

	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, watch->lab.plan->run_dir);
	if (stat(path, &status) < 0)
		status = (struct stat){.st_ino = 0};
	*inode = status.st_ino;
	*ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
}

enum weft_exit lab_watch_open(
	struct lab_watch *watch, const struct lab_arguments *arguments, const char *command)
{
	enum weft_exit code = lab_open_running(arguments, command, &watch->lab, &watch->state);

	if (code == EXIT_DONE)
		identify(watch, &watch->kept_inode, &watch->kept_ns);
	return code;
}

void lab_watch_close(struct lab_watch *watch)
{
	lab_state_free(&watch->state);
	lab_close(&watch->lab);
}

json_t *lab_watch_ask(struct lab_watch *watch, int *result, struct error *error)
{
	struct lab_state state;

	*result = 0;
	if (watch->state.remotes > 0) {
		lab_remotes_refresh(&watch->state);
		return lab_collect(&watch->lab, &watch->state, false);
	}
	*result = lab_watch_is_up(watch) ? lab_state_load(&state, watch->lab.plan->run_dir, error)
					 : -ENOENT;
	if (*result == -ENOENT)
		error_set(error, ENOENT, "lab %s is not up any more", watch->lab.plan->lab);
	if (*result < 0)
		return NULL;
	lab_state_free(&watch->state);
	watch->state = state;
	return lab_collect(&watch->lab, &watch->state, false);
}

bool lab_watch_is_up(const struct lab_watch *watch)
{
	uint64_t inode, ns;

	if (watch->state.remotes > 0)
		return true;
	identify(watch, &inode, &ns);
	return access(watch->lab.plan->run_dir, F_OK) == 0 && inode == watch->kept_inode &&
	       ns == watch->kept_ns;
}

uint64_t lab_watch_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
