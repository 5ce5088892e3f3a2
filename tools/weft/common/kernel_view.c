/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "kernel_view.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"

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
