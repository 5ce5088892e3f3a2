/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The log of a process of this machine. */

#include <stdbool.h>

#include "base/weft_error.h"
#include "lab_state.h"

#define LAB_LOG_MAX (1u << 20) /* bytes; only the end of a longer log is printed */

/* The caller frees the text; bytes that are not ASCII are '?'. NULL and error. */
char *lab_log_read(
	const struct lab_state *state, const struct lab_record *record, struct error *error);

/* The last error in a log, a line "PROGRAM: TEXT" that is not a warning: the text goes to 'error',
 * and the line is cut out of the log. False: there is none. */
bool lab_log_take_error(char *log, const char *program, char error[ERROR_TEXT]);
