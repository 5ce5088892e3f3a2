/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The output of a command with -o: a file (atomic_file.h), or standard output. */

#include <stdatomic.h>
#include <stdio.h>

#include "os/atomic_file.h"

struct output_file {
	const char *command; /* for messages: "topo gen" */
	const char *path;    /* NULL or "-": standard output */
	/* Files that the command reads, or NULL: they must not be overwritten. */
	const char *inputs[7];
	FILE *file;
	struct atomic_file to; /* where it is a file */
};

/* Both return EXIT_DONE, or the code of the error that was printed. The caller sets 'command' and
 * 'path' first. */
int output_file_open(struct output_file *output);
/* From now on, writes to standard output fail with EINTR once '*stop', even if its reader does not
 * read. Returns 0 or -ENOMEM. */
int output_file_heed(struct output_file *output, const atomic_bool *stop);
/* If that fails, nothing has changed. */
int output_file_close(struct output_file *output);
/* Called instead of closing after a failure: the file stays unchanged. */
void output_file_discard(struct output_file *output);
