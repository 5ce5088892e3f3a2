/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What a command writes with -o: a file (atomic_file.h), or standard output. */

#include <stdio.h>

#include "atomic_file.h"

struct output_file {
	const char *command; /* for messages: "topo gen" */
	const char *path;    /* NULL or "-": standard output */
	FILE *file;
	struct atomic_file to; /* where it is a file */
};

/* Each EXIT_DONE, or what was complained about. 'command' and 'path' are set before. */
int output_file_open(struct output_file *output);
/* If that fails, nothing has changed. */
int output_file_close(struct output_file *output);
/* Instead of closing: the work failed, nothing has changed. */
void output_file_discard(struct output_file *output);
