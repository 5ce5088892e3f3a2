/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A file that keeps its contents until the new ones are complete: they are written beside it and
 * take its place when it is closed. Devices, pipes, files with several names, and those in a folder
 * that takes no other file are written as they are and never removed.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "fault.h"

struct atomic_file {
	const char *path; /* set before */
	FILE *file;
	char target[PATH_MAX]; /* the file that is replaced, links followed; "" if none is */
	char fresh[PATH_MAX];  /* what is written until then, or will be its name; "" if none is */
	bool nameless;         /* it has none yet */
};

/* 0; -errno and fault. The path lasts until the file is closed or discarded. */
int atomic_file_open(struct atomic_file *file, struct fault *fault);
/* If it fails, nothing has changed. */
int atomic_file_close(struct atomic_file *file, struct fault *fault);
/* Instead of closing: the work failed, nothing has changed. */
void atomic_file_discard(struct atomic_file *file);
