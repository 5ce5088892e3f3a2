/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_machine.h"

#include <string.h>
#include <unistd.h>

#define PATH_BYTES 160

static void file_path(const struct lab_plan *plan, const char *suffix, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/machine%s", plan->run_dir, suffix);
}

int lab_machine_write(const struct lab_plan *plan, const bool *here, struct fault *fault)
{
	char path[PATH_BYTES], fresh[PATH_BYTES];
	FILE *file;
	bool good;

	file_path(plan, "", path);
	file_path(plan, ".new", fresh);
	file = fopen(fresh, "we");
	if (file == NULL)
		return fault_set(fault, errno, "%s: %s", fresh, strerror(errno));
	for (unsigned i = 0; i < plan->processes; i++)
		if (here[i])
			fprintf(file, "%s\n", plan->process[i].name);
	good = ferror(file) == 0;
	good = fclose(file) == 0 && good;
	if (!good || rename(fresh, path) != 0)
		return fault_set(fault, EIO, "%s: cannot be written: %s", path, strerror(errno));
	return 0;
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

	file_path(plan, "", path);
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
