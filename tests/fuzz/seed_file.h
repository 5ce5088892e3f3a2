/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Where what writes seeds puts them. */

#include <stdio.h>

/* Opens a new file FOLDER/NAME, which the caller closes; NULL after printing an error. */
static inline FILE *seed_open(const char *folder, const char *name)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "wb");
	if (out == NULL)
		perror(path);
	return out;
}
