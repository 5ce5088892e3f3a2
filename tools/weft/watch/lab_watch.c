/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_watch.h"

#include <time.h>
#include <unistd.h>

#include "lab_collect.h"
#include "lab_remotes.h"

enum weft_exit lab_watch_open(
	struct lab_watch *watch, const struct lab_arguments *arguments, const char *command)
{
	return lab_open_running(arguments, command, &watch->lab, &watch->state);
}

void lab_watch_close(struct lab_watch *watch)
{
	lab_state_free(&watch->state);
	lab_close(&watch->lab);
}

json_t *lab_watch_ask(struct lab_watch *watch, int *result, struct fault *fault)
{
	struct lab_state state;

	*result = 0;
	if (watch->state.remotes > 0) {
		lab_remotes_refresh(&watch->state);
		return lab_collect(&watch->lab, &watch->state);
	}
	*result = lab_state_load(&state, watch->lab.plan->run_dir, fault);
	if (*result == -ENOENT)
		fault_set(fault, ENOENT, "lab %s is not up any more", watch->lab.plan->lab);
	if (*result < 0)
		return NULL;
	lab_state_free(&watch->state);
	watch->state = state;
	return lab_collect(&watch->lab, &watch->state);
}

bool lab_watch_is_up(const struct lab_watch *watch)
{
	return watch->state.remotes > 0 || access(watch->lab.plan->run_dir, F_OK) == 0;
}

uint64_t lab_watch_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
