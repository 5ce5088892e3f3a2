/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Guards a program's standard output and standard error where they are a terminal: control
 * characters in names and messages are printed as "\xNN" (weft_error.h). On standard error a
 * carriage return, and "erase the line" directly after one, pass unchanged, because Weft's progress
 * lines use them. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/weft_time.h"

struct guarded_stream {
	int fd;
	bool returns;         /* a carriage return passes, and "erase the line" after it */
	unsigned char before; /* the last byte of the previous write */
};

struct tty_escape {
	struct guarded_stream out, err;
};

/* Call it first in main(), with memory that lasts as long as the program: exit() flushes the rest.
 * Pipes and files get all bytes as they are. */
void tty_escape(struct tty_escape *guard);

/* Output that a signal can end even if its reader does not read. A write() that is interrupted
 * half-way returns the bytes written so far; stdio then writes the rest and waits forever. A signal
 * just before write() interrupts nothing. So this stream first waits for room, with signals enabled
 * only during the wait, and then writes no more than fits. */

/* A stream that writes to a descriptor, which stays open when the stream is closed. It fails with
 * EINTR once '*stop', which a signal handler sets, is true. Returns NULL if out of memory. */
FILE *stoppable_output_open(int fd, const atomic_bool *stop);

/* Writes text to a descriptor that may block for long, such as the pipe to a pager: each call
 * writes as much as is possible without waiting. For one thread. */

struct text_output {
	int fd;
	char *text; /* the text being written; NULL: none */
	size_t bytes, written;
};

/* Takes ownership of the text, from malloc(). Call only if nothing is being written. */
void text_output_begin(struct text_output *output, int fd, char *text);
/* True when nothing is left. On a permanent error the rest is dropped. */
bool text_output_write(struct text_output *output);
/* Drops the rest. */
void text_output_end(struct text_output *output);

/* Shows a run's progress in one line that is overwritten on the terminal; prints nothing if
 * standard error is not a terminal. */

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
