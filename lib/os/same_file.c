/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "same_file.h"

#include <stddef.h>
#include <sys/stat.h>

bool same_file(const char *a, const char *b)
{
	struct stat first, second;

	return stat(a, &first) == 0 && stat(b, &second) == 0 && S_ISREG(first.st_mode) &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

int same_file_refuse(const char *output, const char *input, struct fault *fault)
{
	if (output == NULL || input == NULL || !same_file(output, input))
		return 0;
	return fault_set(fault, EINVAL, "%s: is read as %s, expected another file to write to",
		output, input);
}
