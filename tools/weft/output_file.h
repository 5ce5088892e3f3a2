/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What a command writes with -o: a file, or standard output. A file that is there keeps its
 * contents until the new ones are complete: they are written beside it and take its place when the
 * output is closed. Devices, pipes and the like are written as they are and never removed.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct output_file {
	const char *command; /* for messages: "topo gen" */
	const char *path;    /* NULL or "-": standard output */
	FILE *file;
	char target[PATH_MAX]; /* the file that is replaced, links followed; "" if none is */
	char fresh[PATH_MAX];  /* what is written until then, or will be its name */
	bool nameless;         /* it has none yet */
};

/* Each EXIT_DONE, or what was complained about. 'command' and 'path' are set before. */
int output_file_open(struct output_file *output);
/* If that fails, nothing has changed. */
int output_file_close(struct output_file *output);
/* Instead of closing: the work failed, nothing has changed. */
void output_file_discard(struct output_file *output);
