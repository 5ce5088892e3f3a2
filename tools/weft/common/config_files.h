/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Names of results after what they are made from, and the settings of a run. */

#include <stddef.h>
#include <stdint.h>

#include "run_files.h"

/* FNV-1a with 64 bits, to name results after their inputs. Not for secrets. */

#define CONTENT_HASH_START 0xcbf29ce484222325u

/* Continues 'hash' with the bytes. */
uint64_t content_hash(uint64_t hash, const void *bytes, size_t length);
/* Continues *hash with a file's bytes. 0, or -errno and *hash unchanged. */
int content_hash_file(uint64_t *hash, const char *path);

#define RUN_SETS_MAX 64u /* of weft-fabric */

/* "KEY=VALUE" of everything that a point changes in the run file. */
struct run_sets {
	const char *set[RUN_SETS_MAX];
	unsigned count;
	char *own[RUN_SETS_MAX];
	unsigned owned;
};

/* Adds a text, which is released with the list; NULL: no memory. 0 or -ENOMEM. */
int run_sets_own(struct run_sets *sets, char *text);
int run_sets_add(struct run_sets *sets, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void run_sets_fini(struct run_sets *sets);
