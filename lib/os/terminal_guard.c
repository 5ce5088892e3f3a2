/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "terminal_guard.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text_escape.h"

#define ERASE_LINE "\033[K"

/* Our other sequences do not pass here: 'weft lab top', which has some, writes to the terminal
 * itself. */
struct guarded {
	int fd;
	bool returns;         /* a carriage return passes, and ERASE_LINE after it */
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

/* The bytes at 'text' that are our own progress line's; 0: none. */
static unsigned of_progress(const struct guarded *guarded, const char *text, size_t bytes)
{
	const size_t erase = strlen(ERASE_LINE);

	if (!guarded->returns)
		return 0;
	if (text[0] == '\r')
		return 1;
	return guarded->before == '\r' && bytes >= erase && memcmp(text, ERASE_LINE, erase) == 0
		       ? (unsigned)erase
		       : 0;
}

static ssize_t write_guarded(void *cookie, const char *text, size_t bytes)
{
	struct guarded *guarded = cookie;
	size_t plain = 0;

	for (size_t at = 0; at < bytes;) {
		unsigned own = of_progress(guarded, text + at, bytes - at);
		unsigned control =
			own > 0 ? 0 : text_control(text + at, bytes - at, guarded->before);

		guarded->before = (unsigned char)text[at];
		if (control == 0) {
			at += own > 0 ? own : 1;
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

static int end_guarded(void *cookie)
{
	free(cookie);
	return 0;
}

static void guard(FILE **stream, int fd, bool returns, int buffering)
{
	const cookie_io_functions_t functions = {.write = write_guarded, .close = end_guarded};
	struct guarded *guarded;
	FILE *replacement;

	if (!isatty(fd))
		return;
	guarded = malloc(sizeof(*guarded));
	if (guarded == NULL)
		return;
	*guarded = (struct guarded){.fd = fd, .returns = returns};
	replacement = fopencookie(guarded, "w", functions);
	if (replacement == NULL) {
		free(guarded);
		return;
	}
	setvbuf(replacement, NULL, buffering, BUFSIZ);
	*stream = replacement;
}

void terminal_guard(void)
{
	guard(&stdout, STDOUT_FILENO, false, _IOLBF);
	guard(&stderr, STDERR_FILENO, true, _IONBF); /* progress has no line ends */
}
