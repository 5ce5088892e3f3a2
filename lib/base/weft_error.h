/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A user-facing error, in one line: "FILE:LINE: what is wrong, what was expected". A function that
 * can fail on untrusted input takes a struct error, fills it once and returns a negative errno; the
 * top of the program prints the text. Never used per packet. */

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define ERROR_TEXT 512

/* Exit codes of every command (scripts rely on 0 to 3). An interrupted run reports the part that it
 * completed and ends with one of these; 130 is for commands that leave their work undone: sweep,
 * reproduce, lab up. */
enum weft_exit {
	EXIT_DONE = 0,          /* the work was done */
	EXIT_BAD_ANSWER = 1,    /* the work was done, but its result is bad */
	EXIT_BAD_REQUEST = 2,   /* usage or a bad file */
	EXIT_NOT_ABLE = 3,      /* the environment lacks something: memory, port, privilege */
	EXIT_INTERRUPTED = 130, /* Ctrl-C or SIGTERM ended it early, as in shells */
};

struct error {
	char text[ERROR_TEXT];
};

/* Fills 'error' (may be NULL) and returns -code. 'code' is a positive errno: EINVAL for a bad
 * request, ENODEV, EPERM, ENOMEM and the like for a bad environment. */
int error_set(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns -EINVAL with "ORIGIN:LINE:COLUMN: " before the text; a line or column of 0 is left
 * out. */
int error_at(struct error *error, const char *origin, uint32_t line, uint32_t column,
	const char *format, ...) __attribute__((format(printf, 5, 6)));
int error_at_va(struct error *error, const char *origin, uint32_t line, uint32_t column,
	const char *format, va_list args);

/* Prepends the context and ": " to the message. 'error' may be NULL. */
void error_prefix(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The exit code for a negative return value: EINVAL, ENOENT, ERANGE, EISDIR, ENOTDIR and
 * ENAMETOOLONG are bad requests (2), EINTR is a signal (130), everything else is the environment
 * (3). 0 gives 0. */
enum weft_exit error_exit_code(int result);

/* Escapes control characters in text from files, arguments or other programs, which a terminal
 * would execute. */

/* Length in bytes of the control character at 'at', where the text has 'left' bytes left; 0 if
 * there is none. Line feed and tab do not count as control characters. 'before': the preceding
 * byte, 0 at the start. C1 characters are two bytes in UTF-8, or one byte that is invalid in UTF-8
 * at that place. */
unsigned text_control(const char *at, size_t left, unsigned char before);

/* Replaces each byte of a control character by "\xNN"; what does not fit is cut off. */
void text_escape(char *text, size_t size);
