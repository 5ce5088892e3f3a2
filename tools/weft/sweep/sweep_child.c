/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_child.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_process.h"
#include "sweep_table.h"

#define PROGRAM       "weft-fabric"
#define ARGUMENTS_MAX (8 + 2 * (SWEEP_SETS_MAX + SWEEP_KEYS_MAX + 1))

int sweep_child_start(
	struct sweep_child *child, const struct sweep *sweep, unsigned point, struct fault *fault)
{
	char part[PATH_MAX], log[PATH_MAX];
	const char *argv[ARGUMENTS_MAX] = {PROGRAM, sweep->run_file, "--quiet", "--json", part};
	struct sweep_sets sets;
	unsigned count = 5;
	int result = sweep_sets_init(&sets, sweep, point);

	sweep_point_path(sweep, point, ".part", part);
	sweep_point_path(sweep, point, ".log", log);
	for (unsigned i = 0; i < sets.count && result == 0; i++) {
		argv[count++] = "--set";
		argv[count++] = sets.set[i];
	}
	*child = (struct sweep_child){.point = point, .started = child_clock()};
	if (result == 0)
		result = child_start(&child->pid, (char *const *)argv, log, fault);
	else
		fault_set(fault, ENOMEM, "sweep: no memory");
	sweep_sets_fini(&sets);
	return result;
}

void sweep_child_kill(const struct sweep_child *child, int signal)
{
	child_signal(child->pid, signal);
}

json_t *sweep_child_result(const struct sweep_child *child, const struct sweep *sweep, int status,
	bool told_to_end, struct fault *fault)
{
	char part[PATH_MAX], path[PATH_MAX], log[PATH_MAX];
	json_t *result = NULL;

	sweep_point_path(sweep, child->point, ".part", part);
	sweep_point_path(sweep, child->point, ".json", path);
	sweep_point_path(sweep, child->point, ".log", log);
	if (WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_BAD_ANSWER)
		result = sweep_result_load(part, told_to_end);
	if (result == NULL) {
		child_describe_failure(status, log, fault);
		unlink(part);
		return NULL;
	}
	if (rename(part, path) != 0) {
		fault_set(fault, errno, "%s: %s", path, strerror(errno));
		json_decref(result);
		return NULL;
	}
	unlink(log);
	return result;
}

void sweep_child_forget(const struct sweep_child *child, const struct sweep *sweep)
{
	char path[PATH_MAX];

	sweep_point_path(sweep, child->point, ".part", path);
	unlink(path);
	sweep_point_path(sweep, child->point, ".log", path);
	unlink(path);
}
