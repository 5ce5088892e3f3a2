/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The output of a command with -o: a file (atomic_file.h), or standard output. */

#include <stdatomic.h>
#include <stdio.h>

#include "os/atomic_file.h"

struct output_file {
	const char *command; /* name for messages: "topo gen" */
	const char *path;    /* NULL or "-": standard output */
	/* Files that the command reads, or NULL. The output must not overwrite them. */
	const char *inputs[7];
	FILE *file;
	struct atomic_file to; /* temporary file, if the output is a file */
};

/* Both functions return EXIT_DONE, or the exit code after printing an error. The caller sets
 * 'command' and 'path' first. */
int output_file_open(struct output_file *output);
/* Makes later writes to standard output fail with EINTR once *stop is true, even if the reader of a
 * pipe does not read. Returns 0 or -ENOMEM. */
int output_file_heed(struct output_file *output, const atomic_bool *stop);
/* On failure, an existing file is unchanged. */
int output_file_close(struct output_file *output);
/* Call instead of output_file_close() after a failure. An existing file is unchanged. */
void output_file_discard(struct output_file *output);
