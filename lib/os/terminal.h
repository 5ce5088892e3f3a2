/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Guards standard output and standard error if they are terminals: control characters in names and
 * messages are printed as "\xNN" (weft_error.h). On standard error, a carriage return and an "erase
 * the line" directly after it pass unchanged, because Weft's progress lines use them. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/weft_time.h"

struct guarded_stream {
	int fd;
	bool returns;         /* passes a carriage return, and "erase the line" after it */
	unsigned char before; /* last byte of the previous write */
};

struct tty_escape {
	struct guarded_stream out, err;
};

/* Call first in main(), with memory that lasts as long as the program, because exit() flushes the
 * streams. Output to pipes and files is unchanged. */
void tty_escape(struct tty_escape *guard);

/* Output that a signal can end even if its reader does not read. A write() that is interrupted
 * half-way returns the bytes written so far, and stdio then waits forever to write the rest. A
 * signal just before write() interrupts nothing. This stream therefore first waits for room, with
 * signals enabled only during the wait, and then writes no more than fits. */

/* Opens a stream that writes to a descriptor, which stays open when the stream is closed. Writing
 * fails with EINTR once '*stop', which a signal handler sets, is true. Returns NULL if out of
 * memory. */
FILE *stoppable_output_open(int fd, const atomic_bool *stop);

/* Writes text to a descriptor that may block for a long time, such as the pipe to a pager. Each
 * call writes as much as possible without waiting. Not thread-safe. */

struct text_output {
	int fd;
	char *text; /* text being written; NULL: none */
	size_t bytes, written;
};

/* Takes ownership of a malloc()ed text. Call only if nothing is being written. */
void text_output_begin(struct text_output *output, int fd, char *text);
/* Returns true when nothing is left. On a permanent error, the rest is dropped. */
bool text_output_write(struct text_output *output);
/* Drops the rest of the text. */
void text_output_end(struct text_output *output);

/* Shows a run's progress on a single line, overwriting it on each update. Prints nothing if
 * standard error is not a terminal. */

struct progress_line {
	FILE *out;   /* set by the caller: stderr, which may be a guard without a descriptor */
	bool silent; /* set by the caller: print nothing */
	bool shown;
};

/* Returns whether the line is printed at all. */
bool progress_line_visible(const struct progress_line *line);

/* Prints " 45 % 0.9 of 2.0 s, 1.1 s left", or "0.9 s" if 'whole' is WEFT_TIME_NEVER. Call it a few
 * times per second. */
void progress_line_show(struct progress_line *line, weft_time done, weft_time whole);
/* Prints "waiting for WHAT". */
void progress_line_wait(struct progress_line *line, const char *what);
/* Prints any other text, of less than 78 columns. */
void progress_line_print(struct progress_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Clears the progress line, if one was printed. */
void progress_line_wipe(struct progress_line *line);
