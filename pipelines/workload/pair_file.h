/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads a file of two words a line. '#' starts a comment; empty lines are skipped. */

#include "fault.h"

/* 0, or a negative code and fault. */
typedef int (*pair_file_take_fn)(void *ctx, char *first, char *second);

struct pair_file {
	const char *path;
	const char *words; /* names of the two, for messages: "RANK HOST" */
	pair_file_take_fn take;
	void *ctx;
	struct fault *fault;
	unsigned line; /* number of the present one */
};

/* 0, or a negative code and fault. */
int pair_file_read(struct pair_file *file);
