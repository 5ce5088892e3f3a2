/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Commands that 'weft lab part' starts for a console. They are terminated when its standard input
 * ends, because the console has exited or requests a stop. */

#include <jansson.h>

#include "base/weft_error.h"
#include "lab/lab_lock.h"

/* Returns the concatenation of both lists; 'more' contains JSON strings. The caller frees the list,
 * but not the words. Returns NULL if out of memory. */
const char **part_child_words(const char *const *first, const json_t *more);

/* Runs 'weft WORD…'; the list ends with NULL. Returns {"code": exit code, "out": TEXT, "err":
 * TEXT}, the caller's reference, or NULL with error set if no process could be started. If not
 * NULL, 'lock' is passed on to the child. */
json_t *part_child_run(const char *const *words, const struct lab_lock *lock, struct error *error);

/* Like part_child_run(), but the child uses this program's standard output and standard error.
 * Returns the exit code. */
int part_child_pass(const char *const *words);
