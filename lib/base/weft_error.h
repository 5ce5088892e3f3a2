/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A one-line error for users: "FILE:LINE: what is wrong, what was expected". A function that can
 * fail on untrusted input takes a struct error, fills it once and returns a negative errno. The top
 * level prints the text. Never used per packet. */

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define ERROR_TEXT 512

/* Exit codes of all commands (scripts rely on 0 to 3). 130 is for commands that leave work undone:
 * an interrupted run reports what it measured, and ends with 130 unless that is already bad. */
enum weft_exit {
	EXIT_DONE = 0,          /* the work was done */
	EXIT_BAD_ANSWER = 1,    /* the work was done, but its result is bad */
	EXIT_BAD_REQUEST = 2,   /* wrong usage or a bad file */
	EXIT_NOT_ABLE = 3,      /* a resource is missing: memory, port, privilege */
	EXIT_INTERRUPTED = 130, /* Ctrl-C or SIGTERM ended it early, as in shells */
};

struct error {
	char text[ERROR_TEXT];
};

/* Fills 'error' (may be NULL) and returns -code. 'code' is a positive errno: EINVAL for a bad
 * request; ENODEV, EPERM, ENOMEM and the like for a problem in the environment. */
int error_set(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets "ORIGIN:LINE:COLUMN: TEXT" and returns -EINVAL. A line or column of 0 is omitted. */
int error_at(struct error *error, const char *origin, uint32_t line, uint32_t column,
	const char *format, ...) __attribute__((format(printf, 5, 6)));
int error_at_va(struct error *error, const char *origin, uint32_t line, uint32_t column,
	const char *format, va_list args);

/* Prepends the context and ": " to the message. 'error' may be NULL. */
void error_prefix(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns the exit code for a negative result: EINVAL, ENOENT, ERANGE, EISDIR, ENOTDIR and
 * ENAMETOOLONG mean a bad request (2), EINTR a signal (130), and all others a problem in the
 * environment (3). Returns 0 for 0. */
enum weft_exit error_exit_code(int result);

/* Control characters in text from files, arguments or other programs are escaped, because a
 * terminal would execute them. */

/* Returns the length in bytes of the control character at 'at', or 0 if there is none. 'left': the
 * remaining bytes. Line feed and tab do not count as control characters. 'before': the preceding
 * byte, or 0 at the start. C1 characters take two bytes in UTF-8, or one invalid byte. */
unsigned text_control(const char *at, size_t left, unsigned char before);

/* Replaces each byte of a control character with "\xNN". Text that no longer fits is cut off. */
void text_escape(char *text, size_t size);
