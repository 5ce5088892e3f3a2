/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Commands that 'weft lab part' starts for a console. They end early when its standard input ends:
 * then the console has gone, or wants them to stop. */

#include <jansson.h>

#include "fault.h"

/* Runs 'weft WORD…'; the list ends with NULL. {"code": exit code, "out": TEXT, "err": TEXT}, the
 * caller's reference; NULL and fault: no process. */
json_t *part_child_run(const char *const *words, struct fault *fault);

/* The same with this program's own standard output and standard error. Its exit code. */
int part_child_pass(const char *const *words);
