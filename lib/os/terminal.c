/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "terminal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/weft_error.h"

/* Weft's other control sequences do not pass through here: 'weft lab top', which uses them, writes
 * to the terminal directly. */
#define ERASE_LINE "\033[K"

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

/* Returns the length of a progress line's control sequence at 'text', or 0. */
static unsigned of_progress(const struct guarded_stream *guarded, const char *text, size_t bytes)
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
	struct guarded_stream *guarded = cookie;
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

static void guard_stream(FILE **stream, struct guarded_stream *guarded, int buffering)
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

void tty_escape(struct tty_escape *guard)
{
	*guard = (struct tty_escape){
		.out = {.fd = STDOUT_FILENO}, .err = {.fd = STDERR_FILENO, .returns = true}};
	guard_stream(&stdout, &guard->out, _IOLBF);
	guard_stream(&stderr, &guard->err, _IONBF); /* progress lines have no newline */
}

struct stoppable_output {
	int fd;
	const atomic_bool *stop;
};

/* Waits for room. Returns 0, or -1 with errno (EINTR if '*stop' is set). Signals are blocked except
 * during the wait, so that none arrives between the check of '*stop' and the wait. */
static int wait_for_room(const struct stoppable_output *output)
{
	struct pollfd room = {.fd = output->fd, .events = POLLOUT};
	sigset_t all, before;
	int ready = -1;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (ready < 0 && !atomic_load(output->stop)) {
		ready = ppoll(&room, 1, NULL, &before);
		if (ready < 0 && errno != EINTR)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (atomic_load(output->stop))
		errno = EINTR;
	return ready < 0 || atomic_load(output->stop) ? -1 : 0;
}

/* A cookie_write_function_t that writes everything, or returns 0 with errno set. A pipe that polls
 * as writable has room for PIPE_BUF bytes. */
static ssize_t write_all(void *cookie, const char *bytes, size_t count)
{
	const struct stoppable_output *output = cookie;

	for (size_t done = 0; done < count;) {
		size_t left = count - done;
		ssize_t written;

		if (wait_for_room(output) < 0)
			return 0;
		written = write(output->fd, bytes + done, left < PIPE_BUF ? left : PIPE_BUF);
		if (written < 0 && errno != EINTR && errno != EAGAIN)
			return 0;
		done += written > 0 ? (size_t)written : 0;
	}
	return (ssize_t)count;
}

static int release(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *stoppable_output_open(int fd, const atomic_bool *stop)
{
	struct stoppable_output *output = malloc(sizeof(*output));
	FILE *stream;

	if (output == NULL)
		return NULL;
	*output = (struct stoppable_output){.fd = fd, .stop = stop};
	stream = fopencookie(
		output, "w", (cookie_io_functions_t){.write = write_all, .close = release});
	if (stream == NULL)
		free(output);
	return stream;
}

void text_output_begin(struct text_output *output, int fd, char *text)
{
	*output = (struct text_output){.fd = fd, .text = text, .bytes = strlen(text)};
}

void text_output_end(struct text_output *output)
{
	free(output->text);
	*output = (struct text_output){.fd = -1};
}

/* A writable pipe accepts PIPE_BUF bytes without waiting. O_NONBLOCK is not possible, because the
 * descriptor is shared with other processes. */
static ssize_t write_some(struct text_output *output)
{
	struct pollfd ready = {.fd = output->fd, .events = POLLOUT};
	size_t left = output->bytes - output->written;

	if (poll(&ready, 1, 0) <= 0 || (ready.revents & POLLOUT) == 0) {
		errno = (ready.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? EPIPE : EAGAIN;
		return -1;
	}
	return write(output->fd, output->text + output->written, left < PIPE_BUF ? left : PIPE_BUF);
}

bool text_output_write(struct text_output *output)
{
	while (output->text != NULL && output->written < output->bytes) {
		ssize_t count = write_some(output);

		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (count < 0)
			break;
		output->written += (size_t)count;
	}
	text_output_end(output);
	return true;
}

#define COLUMNS 78

bool progress_line_visible(const struct progress_line *line)
{
	return !line->silent && isatty(STDERR_FILENO);
}

void progress_line_print(struct progress_line *line, const char *format, ...)
{
	va_list args;

	if (!progress_line_visible(line))
		return;
	line->shown = true;
	fputc('\r', line->out);
	va_start(args, format);
	vfprintf(line->out, format, args);
	va_end(args);
	/* Overwrites the end of a longer text. */
	fputs("   ", line->out);
}

static double seconds(weft_time time)
{
	return (double)time / (double)PS_PER_S;
}

void progress_line_show(struct progress_line *line, weft_time done, weft_time whole)
{
	if (done > whole)
		done = whole;
	if (whole == WEFT_TIME_NEVER)
		progress_line_print(line, "%.1f s", seconds(done));
	else
		progress_line_print(line, "%5.1f %%  %.1f of %.1f s, %.0f s left",
			whole > 0 ? 100 * (double)done / (double)whole : 100, seconds(done),
			seconds(whole), seconds(whole - done));
}

void progress_line_wait(struct progress_line *line, const char *what)
{
	progress_line_print(line, "waiting for %s", what);
}

void progress_line_wipe(struct progress_line *line)
{
	if (line->shown)
		fprintf(line->out, "\r%*s\r", COLUMNS, "");
	line->shown = false;
}
