/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The list of the processes that run on this machine. */

#include <string.h>

#include "atomic_file.h"
#include "lab_plan.h"

#define PATH_BYTES 160

static void file_path(const struct lab_plan *plan, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/machine", plan->run_dir);
}

int lab_machine_write(const struct lab_plan *plan, const bool *here, struct fault *fault)
{
	char path[PATH_BYTES];
	struct atomic_file out = {.path = path};
	int result;

	file_path(plan, path);
	result = atomic_file_open(&out, fault);
	if (result < 0)
		return result;
	for (unsigned i = 0; i < plan->processes; i++)
		if (here[i])
			fprintf(out.file, "%s\n", plan->process[i].name);
	return atomic_file_close(&out, fault);
}

static int read_line(const struct lab_plan *plan, const char *path, const char *line, bool *here,
	struct fault *fault)
{
	int process = lab_plan_find(plan, line);

	if (process < 0)
		return fault_set(fault, EINVAL, "%s: '%s', expected a process of lab %s", path,
			line, plan->lab);
	here[process] = true;
	return 0;
}

int lab_machine_read(const struct lab_plan *plan, bool *here, struct fault *fault)
{
	char path[PATH_BYTES], line[TOPOLOGY_NAME_MAX + 2];
	int result = 0;
	FILE *file;

	file_path(plan, path);
	file = fopen(path, "re");
	if (file == NULL && errno != ENOENT)
		return fault_set(fault, errno, "%s: %s", path, strerror(errno));
	memset(here, file == NULL, plan->processes * sizeof(*here));
	if (file == NULL)
		return 0;
	while (result == 0 && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		result = read_line(plan, path, line, here, fault);
	}
	fclose(file);
	return result;
}
