/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shows a run's progress in one line that is overwritten on the terminal; prints nothing if
 * standard error is not a terminal. */

#include <stdbool.h>
#include <stdio.h>

#include "base/weft_time.h"

struct progress_line {
	FILE *out;   /* the caller's: stderr, which may be a guard that has no descriptor */
	bool silent; /* set by the caller: print nothing */
	bool shown;
};

/* Returns whether the line is printed at all. */
bool progress_line_visible(const struct progress_line *line);

/* " 45 % 0.9 of 2.0 s, 1.1 s left"; 'whole' WEFT_TIME_NEVER: "0.9 s". Call it a few times per
 * second. */
void progress_line_show(struct progress_line *line, weft_time done, weft_time whole);
/* "waiting for …" */
void progress_line_wait(struct progress_line *line, const char *what);
/* Any other text, below 78 columns. */
void progress_line_print(struct progress_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Clears the progress line, if one was printed. */
void progress_line_wipe(struct progress_line *line);
