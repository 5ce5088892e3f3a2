/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A file that keeps its contents until the new ones are complete: they are written to a file in the
 * same folder, which replaces it when it is closed. Devices, pipes, files that do not have exactly
 * one name, and files in a folder where no other file can be created are written in place and never
 * removed. */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/weft_error.h"

struct atomic_file {
	const char *path; /* set by the caller */
	FILE *file;
	char target[PATH_MAX]; /* the file to replace, links followed; "" if none */
	char fresh[PATH_MAX];  /* the temporary name, or the one that it will get; "" if none */
	bool nameless;         /* it has no name yet */
};

/* Returns 0, or -errno with error set. The path must stay valid until close or discard. */
int atomic_file_open(struct atomic_file *file, struct error *error);
/* On failure nothing has changed. */
int atomic_file_close(struct atomic_file *file, struct error *error);
/* Called instead of close if the work failed: the old contents stay. */
void atomic_file_discard(struct atomic_file *file);

/* Prevents commands from overwriting a file that they read. */

/* True if both names refer to the same existing regular file. */
bool same_file(const char *a, const char *b);

/* Returns -EINVAL with error set if the output is the same file as the input. Either may be NULL or
 * "-", or may not exist. */
int same_file_refuse(const char *output, const char *input, struct error *error);
