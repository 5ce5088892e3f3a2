/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "program_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of this executable; "." if the kernel does not say. */
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

void program_path_find(const char *name, const char *folder, char *out, size_t size)
{
	const char *folder_asked_for = getenv("WEFT_PROGRAMS");
	char here[PATH_MAX];

	if (folder_asked_for != NULL) {
		snprintf(out, size, "%s/%s", folder_asked_for, name);
		if (access(out, X_OK) == 0)
			return;
	}
	own_folder(here);
	snprintf(out, size, "%s/%s", here, name);
	if (access(out, X_OK) == 0)
		return;
	snprintf(out, size, "%s/../../apps/%s/%s", here, folder, name);
	if (access(out, X_OK) == 0)
		return;
	snprintf(out, size, "%s", name);
}

void program_path_exec(const char *name, const char *folder, char *const argv[])
{
	char path[PATH_MAX];

	program_path_find(name, folder, path, sizeof(path));
	execvp(path, argv);
}
