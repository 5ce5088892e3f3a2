/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Commands that 'weft lab part' starts for a console. They end early when its standard input ends,
 * because the console has gone or wants them to stop. */

#include <jansson.h>

#include "base/weft_error.h"
#include "lab/lab_lock.h"

/* The words of both lists, the second of which has JSON texts; the caller frees the list, but not
 * the words. Returns NULL if out of memory. */
const char **part_child_words(const char *const *first, const json_t *more);

/* Runs 'weft WORD…'; NULL ends the list. Returns {"code": exit code, "out": TEXT, "err": TEXT}, the
 * caller's reference; NULL with error set if there is no process. 'lock' is passed on to the child,
 * or NULL. */
json_t *part_child_run(const char *const *words, const struct lab_lock *lock, struct error *error);

/* The same, but with this program's own standard output and standard error. Returns the exit
 * code. */
int part_child_pass(const char *const *words);
