/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "terminal_guard.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "text_escape.h"

/* Our own sequences are none: nothing of Weft colours or moves. */
struct guarded {
	int fd;
	bool returns;         /* a carriage return passes */
	unsigned char before; /* the last byte of the piece before */
};

static bool put(int fd, const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t written = write(fd, text, bytes);

		if (written < 0 && errno != EINTR)
			return false;
		text += written > 0 ? written : 0;
		bytes -= written > 0 ? (size_t)written : 0;
	}
	return true;
}

static bool put_escaped(int fd, const char *text, unsigned bytes)
{
	char digits[8];
	bool good = true;

	for (unsigned i = 0; i < bytes; i++) {
		snprintf(digits, sizeof(digits), "\\x%02x", (unsigned char)text[i]);
		good = good && put(fd, digits, 4);
	}
	return good;
}

static ssize_t write_guarded(void *cookie, const char *text, size_t bytes)
{
	struct guarded *guarded = cookie;
	size_t plain = 0;

	for (size_t at = 0; at < bytes;) {
		unsigned control = text_control(text + at, bytes - at, guarded->before);

		guarded->before = (unsigned char)text[at];
		if (control == 0 || (text[at] == '\r' && guarded->returns)) {
			at++;
			continue;
		}
		if (!put(guarded->fd, text + plain, at - plain) ||
			!put_escaped(guarded->fd, text + at, control))
			return -1;
		at += control;
		plain = at;
	}
	return put(guarded->fd, text + plain, bytes - plain) ? (ssize_t)bytes : -1;
}

static void guard(FILE **stream, struct guarded *guarded, int buffering)
{
	const cookie_io_functions_t functions = {.write = write_guarded};
	FILE *replacement;

	if (!isatty(guarded->fd))
		return;
	replacement = fopencookie(guarded, "w", functions);
	if (replacement == NULL)
		return;
	setvbuf(replacement, NULL, buffering, BUFSIZ);
	*stream = replacement;
}

void terminal_guard(void)
{
	/* For the life of the process, as the streams. */
	static struct guarded out = {.fd = STDOUT_FILENO};
	static struct guarded errors = {.fd = STDERR_FILENO, .returns = true};

	guard(&stdout, &out, _IOLBF);
	guard(&stderr, &errors, _IONBF); /* progress has no line ends */
}
