/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "become.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int become(const char *name, char **argv, struct error *error)
{
	static const char *const folder[] = {"", PROGRAM_FOLDER "/"};
	char own[PATH_MAX], path[PATH_MAX + NAME_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length < 0)
		return error_set(error, errno, "/proc/self/exe: %s", strerror(errno));
	while (length > 0 && own[length - 1] != '/')
		length--;
	for (unsigned i = 0; i < sizeof(folder) / sizeof(folder[0]); i++) {
		snprintf(path, sizeof(path), "%.*s%s%s", folder[i][0] == '/' ? 0 : (int)length, own,
			folder[i], name);
		execv(path, argv);
		if (errno != ENOENT)
			return error_set(error, errno, "%s: %s", path, strerror(errno));
	}
	return error_set(error, ENOENT, "%s: not installed", name);
}
