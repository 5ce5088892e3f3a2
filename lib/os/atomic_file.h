/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A file that keeps its contents until the new ones are complete. The new contents are written to a
 * file in the same folder, which replaces the old one on close. Devices, pipes, files that do not
 * have exactly one hard link, and files in a folder where no file can be created are written in
 * place and never removed. */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/weft_error.h"

struct atomic_file {
	const char *path; /* set by the caller */
	FILE *file;
	char target[PATH_MAX]; /* file to replace, with links resolved; "": none */
	char fresh[PATH_MAX];  /* temporary name, or the one that it will get; "": none */
	bool nameless;         /* the temporary file has no name yet */
};

/* Opens the file. Returns 0, or -errno with 'error' set. 'path' must outlive the open file. */
int atomic_file_open(struct atomic_file *file, struct error *error);
/* Replaces the file. On failure, the old contents remain unless they were overwritten in place. */
int atomic_file_close(struct atomic_file *file, struct error *error);
/* Call instead of close if the work failed: the old contents remain. */
void atomic_file_discard(struct atomic_file *file);

/* Prevents commands from overwriting a file that they read. */

/* Returns whether both names refer to the same existing regular file. */
bool same_file(const char *a, const char *b);

/* Returns -EINVAL with 'error' set if output and input are the same file. Each may be NULL or "-",
 * or may not exist. */
int same_file_refuse(const char *output, const char *input, struct error *error);
